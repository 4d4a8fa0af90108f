// Ways in which a page can post a body to "/up/NAME". Each resolves when the page is done with it.
const FORM = (name, enctype, fields) => {
  const form = document.createElement("form");
  Object.assign(form, {method: "post", enctype, action: "/up/" + name, target: "sink"});
  for (const [field, value] of Object.entries(fields)) {
    let input = document.createElement("input");
    if (value === DISK) input = document.querySelector("#disk").cloneNode();
    else if (value instanceof File || value === null) input.type = "file";
    else input.value = value;
    input.name = field;
    if (value === DISK) input.files = DISK.files;
    else if (value) {
      const transfer = new DataTransfer();
      if (value instanceof File) { transfer.items.add(value); input.files = transfer.files; }
    }
    form.append(input);
  }
  document.body.append(form);
  return new Promise(done => {
    document.querySelector("iframe").onload = () => done();
    form.submit();
  });
};
const POST = (name, body, more) =>
  fetch("/up/" + name, {method: "POST", body, ...more}).then(reply => reply.text()).catch(String);
const XHR = (name, body) => new Promise(done => {
  const request = new XMLHttpRequest();
  request.open("POST", "/up/" + name);
  request.onloadend = () => done();
  request.send(body);
});
const BEACON = (name, body) => { navigator.sendBeacon("/up/" + name, body); };
const BYTES = (size) => Uint8Array.from({length: size}, (_, index) => index);
const DATA = (fields) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value === DISK ? DISK.files[0] : value);
  return data;
};
const ZIPPED = async () => {
  const stream = new Blob(["hello hello hello"]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
};
const STREAM = () => new ReadableStream({start(control) { control.enqueue(BYTES(10)); control.close(); }});
const DISK = document.querySelector("#disk");
const MULTIPART = "multipart/form-data";
const UPLOADS = {
  "form": name => FORM(name, "application/x-www-form-urlencoded", {a: "1 2", b: "é"}),
  "form as text": name => FORM(name, "text/plain", {a: "1 2", b: "é"}),
  "multipart": name => FORM(name, MULTIPART, {a: "1 2", b: "é"}),
  "multipart, no file chosen": name => FORM(name, MULTIPART, {f: null, b: "q"}),
  "multipart, text file": name => FORM(name, MULTIPART, {a: "1", f: new File(["x".repeat(400)], "n.txt")}),
  "multipart, binary file": name => FORM(name, MULTIPART, {f: new File([BYTES(300)], "n.bin")}),
  "multipart, two files": name => FORM(name, MULTIPART, {f: new File(["1"], "n"), g: new File(["2"], "m"), z: "end"}),
  "multipart, large file": name => FORM(name, MULTIPART, {f: new File([new Uint8Array(2 ** 21)], "l.bin")}),
  "multipart, empty file": name => FORM(name, MULTIPART, {f: new File([], "e.txt")}),
  "multipart, file on disk": name => FORM(name, MULTIPART, {a: "1", f: DISK}),
  "text": name => POST(name, "hello é"),
  "no text": name => POST(name, ""),
  "nothing": name => POST(name, undefined),
  "nothing to put": name => POST(name, undefined, {method: "PUT"}),
  "nothing to patch": name => POST(name, undefined, {method: "PATCH"}),
  "buffer": name => POST(name, BYTES(256).buffer),
  "typed array": name => POST(name, BYTES(256).subarray(3, 250)),
  "blob": name => POST(name, new Blob(["blob", BYTES(200)])),
  "empty blob": name => POST(name, new Blob([])),
  "file": name => POST(name, new File(["file é"], "x.txt", {type: "text/plain"})),
  "file on disk": name => POST(name, DISK.files[0]),
  "part of a file on disk": name => POST(name, DISK.files[0].slice(5, 50)),
  "form data": name => POST(name, DATA({a: "1"})),
  "form data, file": name => POST(name, DATA({a: "1", f: new File(["zz"], "q")})),
  "form data, file on disk": name => POST(name, DATA({a: "1", f: DISK})),
  "parameters": name => POST(name, new URLSearchParams({a: "é", b: "2"})),
  "large text": name => POST(name, "y".repeat(3 * 2 ** 20)),
  "UTF-16": name => POST(name, new Uint8Array([0xff, 0xfe, 0x61, 0, 0x62, 0])),
  "half a surrogate pair": name => POST(name, "a\ud83db"),
  "null bytes": name => POST(name, "a\0b\0"),
  "line breaks": name => POST(name, "a\nb\r\nc"),
  "Latin-1": name => POST(name, new Uint8Array([0x63, 0x61, 0x66, 0xe9])),
  "gzip": async name => POST(name, await ZIPPED(), {headers: {"Content-Encoding": "gzip"}}),
  "kept alive": name => POST(name, "stayed", {keepalive: true}),
  "kept alive, blob": name => POST(name, new Blob(["stayed"]), {keepalive: true}),
  "beacon": name => BEACON(name, "signal"),
  "beacon, blob": name => BEACON(name, new Blob(["signal"])),
  "beacon, form data": name => BEACON(name, DATA({f: new File(["zz"], "q")})),
  "XHR": name => XHR(name, "written"),
  "XHR, document": name => XHR(name, new DOMParser().parseFromString("<p>é", "text/html")),
  "XHR, blob": name => XHR(name, new Blob(["xb"])),
  "XHR, typed array": name => XHR(name, BYTES(256)),
  "XHR, file on disk": name => XHR(name, DISK.files[0]),
  "stream": name => POST(name, STREAM(), {duplex: "half"}),
};
