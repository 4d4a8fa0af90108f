// Calls a function of the other end that binding.js left in a document under `key`. Called in the main world; does
// nothing in a document without it. Values for the page follow this source as arguments.
(key, name, number, value, more) => globalThis[key]?.[name](number, value, more)
