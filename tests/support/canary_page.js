// The behaviour of the page of canary_site.py. The server prepends DATA: code points, each plus 1000.
const C = (name) => String.fromCodePoint(...DATA.numbers[name].map((code) => code - 1000));
const has = (name) => name in DATA.numbers;
const failures = [];
const bytes = (text) => new TextEncoder().encode(text);
const binary = (text) => String.fromCharCode(...bytes(text));

// The bytes of UTF-16LE, each as one character.
const wide = (text) => text.split('').map((unit) => {
  const code = unit.charCodeAt(0);
  return String.fromCharCode(code & 255, code >> 8);
}).join('');

// --- echoes of entered values, by form -----------------------------------------------------------------------------
const FORMS = {
  plain: (text) => text,
  url: (text) => encodeURIComponent(text),
  plus: (text) => String(new URLSearchParams({ q: text })),
  lower: (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  base64: (text) => btoa(binary(text)),
  base64_1: (text) => btoa(binary('a' + text)),
  base64_2: (text) => btoa(binary('ab' + text)),
  base64url: (text) => btoa(binary(text)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, ''),
  json: (text) => JSON.stringify({ value: text }),
  json_twice: (text) => JSON.stringify(JSON.stringify({ value: text })),
  html: (text) => { const node = document.createElement('i'); node.textContent = text; return node.outerHTML; },
  hex: (text) => [...bytes(text)].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
  utf16: (text) => wide(text),
  utf16_base64: (text) => btoa(wide(text)),
};

// Called after all input: the page shows its data again.
function echo() {
  for (const field of document.querySelectorAll('#fields [data-echo]')) {
    const value = field.value ?? field.textContent;
    if (!value) continue;
    const form = FORMS[field.dataset.echo](value);
    console.log(form);
    document.title = form;
    const line = document.createElement('p');
    line.textContent = form;
    document.getElementById('echo').append(line);
  }
}

// While the user types, the page requests suggestions.
document.addEventListener('input', (event) => {
  if (event.target.dataset?.live === undefined) return;
  const value = event.target.value;
  console.log(value);
  document.title = value;
  fetch('/suggest?q=' + encodeURIComponent(value)).catch(() => {});
});

// --- activity of the page -------------------------------------------------------------------------------------------
const post = (path, body, headers = {}) => fetch(path, { method: 'POST', body, headers });

function submit(name, method, enctype, action) {
  const form = document.createElement('form');
  Object.assign(form, { method, enctype, action, target: 'into' });
  const field = document.createElement('input');
  field.name = 'password';
  field.value = C(name);
  form.append(field);
  document.body.append(form);
  return new Promise((resolve) => {
    document.querySelector('iframe[name=into]').onload = resolve;
    form.submit();
    form.remove();
  });
}

function load(url) {
  const frame = document.createElement('iframe');
  document.body.append(frame);
  return new Promise((resolve) => { frame.onload = resolve; frame.src = url; });
}

function converse(query, send, receive) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(DATA.websocket + query);
    socket.binaryType = 'arraybuffer';
    let expected = receive;
    socket.onopen = () => send.forEach((message) => socket.send(message));
    socket.onerror = () => reject(new Error('no websocket'));
    socket.onmessage = () => { expected -= 1; if (expected === 0) socket.close(); };
    socket.onclose = resolve;
  });
}

const DOES = {
  fetch_json: (name) => post('/post', JSON.stringify({ password: C(name) }), { 'Content-Type': 'application/json' }),
  fetch_urlencoded: (name) => post('/post', new URLSearchParams({ password: C(name) })),
  fetch_multipart: (name) => {
    const data = new FormData();
    data.append('password', C(name));
    return post('/post', data);
  },
  xhr_body: (name) => new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/post');
    request.onloadend = resolve;
    request.send(JSON.stringify({ pin: { password: C(name) } }));
  }),
  form_post: (name) => submit(name, 'post', 'application/x-www-form-urlencoded', '/form'),
  form_multipart: (name) => submit(name, 'post', 'multipart/form-data', '/form'),
  form_get: (name) => submit(name, 'get', '', '/form'),
  fetch_header: (name) => fetch('/asked', { headers: { 'X-Api-Key': C(name) } }),
  fetch_bearer: (name) => fetch('/asked', { headers: { Authorization: `Bearer ${C(name)}` } }),
  fetch_query: (name) => fetch('/asked?access_token=' + encodeURIComponent(C(name))),
  document_cookie: (name) => { document.cookie = `own=${C(name)}; path=/`; return fetch('/asked'); },
  local_storage_page: (name) => { localStorage.setItem('own', C(name)); },
  session_storage_page: (name) => { sessionStorage.setItem('own', C(name)); },
  indexed_db_page: (name) => new Promise((resolve, reject) => {
    const open = indexedDB.open('canaries', 1);
    open.onupgradeneeded = () => open.result.createObjectStore('kept');
    open.onerror = () => reject(open.error);
    open.onsuccess = () => {
      const write = open.result.transaction('kept', 'readwrite');
      write.objectStore('kept').put({ password: C(name) }, 'key');
      write.oncomplete = () => { open.result.close(); resolve(); };
    };
  }),
  websocket_sent: (name) => converse('', [JSON.stringify({ password: C(name) })], 2),
  websocket_sent_binary: (name) => converse('', [bytes(JSON.stringify({ password: C(name) }))], 2),
  websocket_url: (name) => converse(`?access_token=${C(name)}`, [], 2),
  console_object: (name) => console.log('logged in with', { password: C(name) }),
  console_text: (name) => console.log(`access_token=${encodeURIComponent(C(name))}`),
  thrown_by_page: (name) => {
    setTimeout(() => { throw new Error(`refused: password=${encodeURIComponent(C(name))}`); });
  },
  url_hash: (name) => { location.hash = `access_token=${encodeURIComponent(C(name))}`; },
  url_pushed: (name) => {
    history.pushState({}, '', `/?token=${encodeURIComponent(C(name))}`);
    history.pushState({}, '', '/');
  },
  iframe_url: (name) => load(`${DATA.elsewhere}framed?token=${encodeURIComponent(C(name))}`),
  worker_fetch: (name) => new Promise((resolve, reject) => {
    const source = 'onmessage = async (event) => { await fetch(event.data); postMessage(1); close(); }';
    const worker = new Worker(URL.createObjectURL(new Blob([source])));
    worker.onmessage = resolve;
    worker.onerror = reject;
    worker.postMessage(`${location.origin}/asked?access_token=${encodeURIComponent(C(name))}`);
  }),
};

const ASKS = {
  response_json: async () => { window.reply = await (await fetch('/json')).json(); },
  response_chunks: async () => { window.chunks = await (await fetch('/chunks')).json(); },
  response_header: async () => (await fetch('/headers')).text(),
  redirect: async () => (await fetch('/redirect')).text(),
  eventsource: () => new Promise((resolve) => {
    const source = new EventSource('/events');
    source.onmessage = () => { source.close(); resolve(); };
  }),
};

async function run() {
  for (const field of document.querySelectorAll('[data-way]')) field.value = C(field.dataset.way);
  const all = [
    ...Object.entries(DOES).filter(([name]) => has(name)).map(([name, does]) => [name, () => does(name)]),
    ...Object.entries(ASKS),
  ];
  // Frames share one target and run in sequence. The rest runs concurrently.
  const inOrder = ['form_post', 'form_multipart', 'form_get'];
  const attempt = async ([name, does]) => {
    try { await does(); } catch (error) { failures.push(`${name}: ${error}`); }
  };
  await Promise.all([
    ...all.filter(([name]) => !inOrder.includes(name)).map(attempt),
    (async () => { for (const each of all.filter(([name]) => inOrder.includes(name))) await attempt(each); })(),
  ]);
  document.title = 'done';
}
run();
