// Calls a function of what binding.js left in a document under `key`: of its other end. Called in the main world; where
// nothing is left there it does nothing. Values that go to the page stand after this source, as arguments.
(key, name, number, value, more) => globalThis[key]?.[name](number, value, more)
