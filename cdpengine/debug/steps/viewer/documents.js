// The versions of documents, and documents built from them. Nothing of a traced page runs: its documents are built in frames
// whose sandbox allows no scripts, without handlers, and the policy of this page lets them load nothing.

const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";
const HTML = "http://www.w3.org/1999/xhtml";
const DROPPED = new Set(["srcset", "integrity", "nonce", "ping", "autofocus", "autoplay", "srcdoc", "sandbox", "target", "http-equiv"]);
const LOADED = new Set(["src", "poster", "data", "background"]);

class Tree {
  constructor(versions) {
    this.versions = versions;
    this.version = -1;
    this.nodes = new Map();
  }

  // Bring the tree to a version, from the nearest complete one before it.
  show(version) {
    let from = this.version + 1;
    if (version < this.version) from = 0;
    for (let at = version; at >= from; at--) if (this.versions[at]?.whole) from = Math.max(from, at);
    for (let at = from; at <= version; at++) if (this.versions[at]) this.apply(this.versions[at]);
    this.version = version;
    return this;
  }

  apply({ whole, ops, facts }) {
    this.facts = facts;
    if (whole) {
      this.nodes.clear();
      this.adopted = new Map();
      this.root = this.take(whole);
    }
    for (const [kind, number, ...rest] of ops ?? []) {
      const node = this.nodes.get(number);
      if (kind === "d") this.adopted.set(number, rest);
      if (node === undefined) continue;
      if (kind === "t") node.text = rest[0];
      else if (kind === "a") node.attributes = rest[0];
      else if (kind === "h") node.shadow = this.takeRoot(rest[0]);
      else if (kind === "s") node.state = "x" in rest[0] ? { ...node.state, x: rest[0].x } : { x: node.state.x, ...rest[0] };
      else if (kind === "k") node.children.splice(rest[0], rest[1], ...rest.slice(2).map((each) => this.take(each)));
    }
  }

  take([number, tag, attributes, state, ...children]) {
    const node = { number, tag, attributes: attributes || [], state: state || {}, children: [], shadow: null, text: "" };
    this.nodes.set(number, node);
    if (tag === "#") node.text = attributes;
    else node.children = children.map((each) => this.take(each));
    if (tag !== "#" && node.state.s) node.shadow = this.takeRoot(node.state.s);
    return node;
  }

  takeRoot([number, mode, ...children]) {
    const root = { number, mode, tag: "#root", children: children.map((each) => this.take(each)) };
    this.nodes.set(number, root);
    return root;
  }
}

const trees = new Map();

async function treeOf(number, version) {
  if (!trees.has(number)) {
    const list = (await pack(`document-${number}`)) ?? [];
    const versions = [];
    for (const each of list) versions[each.v] = each;
    trees.set(number, new Tree(versions));
  }
  return trees.get(number).show(version);
}

// --- resources ---------------------------------------------------------------------------------------------------

function absolute(url, base) {
  try {
    return new URL(url, base).href;
  } catch {
    return url;
  }
}

function resourceUrl(url, base) {
  if (url.startsWith("data:")) return url;
  const name = index.resources[absolute(url, base)];
  return name ? dataUrl(name) : "";
}

function withResources(css, base) {
  return css
    .replace(/@import\s+(?:url\(\s*)?(["']?)([^"')]+)\1\s*\)?[^;]*;/g, (_all, _quote, url) => sheetText(absolute(url, base)))
    .replace(/url\(\s*(["']?)(.*?)\1\s*\)/g, (_all, _quote, url) => (url.startsWith("#") ? `url(${url})` : `url("${resourceUrl(url, base)}")`));
}

let depth = 0;
function sheetText(url) {
  const name = index.resources[url];
  if (!name || depth > 5) return "";
  depth++;
  try {
    return withResources(textOf(name), url);
  } finally {
    depth--;
  }
}

// --- building ----------------------------------------------------------------------------------------------------

// Builds a version of a document in a frame. `elements` maps numbers to the nodes built, `numbers` the other way.
class Built {
  // `id` is the frame's id in the trace, `frames` all documents of the page, and `all` the list of built ones.
  constructor(tree, number, frame, { id, frames, all }) {
    this.tree = tree;
    this.number = number;
    this.frame = frame;
    this.id = id;
    this.frames = frames;
    this.all = all;
    all.push(this);
    this.elements = new Map();
    this.numbers = new WeakMap();
    this.inner = []; // frames: [element, index]
    this.scrolled = [];
  }

  async build() {
    const { tree, frame } = this;
    const to = frame.contentDocument;
    this.document = to;
    this.base = tree.facts.base;
    const html = tree.root.children.find((node) => node.tag !== "#");
    to.documentElement?.remove();
    if (html) {
      const element = this.make(html, HTML);
      to.append(element);
      this.adopt(to, tree.root.number, to.head ?? element);
    }
    for (const [element, at] of this.inner) await this.buildInner(element, at);
    const [left, top] = tree.facts.scroll;
    frame.contentWindow.scrollTo(left, top);
    for (const [element, [x, y]] of this.scrolled) [element.scrollLeft, element.scrollTop] = [x, y];
  }

  async buildInner(element, at) {
    for (const [id, number, version, above] of this.frames) {
      if (above !== this.id) continue;
      const tree = await treeOf(number, version);
      if (tree.facts.index !== at || !element.contentDocument) continue;
      await new Built(tree, number, element, { id, frames: this.frames, all: this.all }).build();
      return;
    }
  }

  adopt(root, number, place) {
    for (const css of this.tree.adopted.get(number) ?? []) place.append(this.style(css));
  }

  style(css) {
    const element = this.document.createElement("style");
    element.textContent = withResources(css, this.base);
    return element;
  }

  make(node, above) {
    if (node.tag === "#") return this.keep(node, this.document.createTextNode(node.text));
    const namespace = node.tag === "svg" ? SVG : node.tag === "math" ? MATHML : above;
    const element = this.keep(node, this.create(node, namespace));
    this.setAttributes(node, element);
    if (node.state.x !== undefined) element.textContent = withResources(node.state.x, this.base);
    else if (node.tag === "style") element.textContent = withResources(node.children.map((each) => each.text).join(""), this.base);
    else for (const child of node.children) element.append(this.make(child, node.tag === "foreignObject" ? HTML : namespace));
    if (node.shadow) this.attach(node.shadow, element);
    this.setState(node, element);
    return element;
  }

  create(node, namespace) {
    const attribute = (name) => node.attributes[node.attributes.indexOf(name) + 1] ?? "";
    if (node.tag === "link" && /\bstylesheet\b/.test(attribute("rel"))) {
      const url = absolute(attribute("href"), this.base);
      const element = this.style(node.attributes.includes("disabled") ? "" : sheetText(url));
      if (node.attributes.includes("media")) element.media = attribute("media");
      return element;
    }
    try {
      return this.document.createElementNS(namespace, node.tag === "script" ? "no-script" : node.tag);
    } catch {
      return this.document.createElement("span");
    }
  }

  keep(node, made) {
    this.elements.set(node.number, made);
    this.numbers.set(made, node.number);
    return made;
  }

  setAttributes(node, element) {
    const list = node.attributes;
    for (let at = 0; at < list.length; at += 2) {
      const [name, value] = [list[at], list[at + 1]];
      const low = name.toLowerCase();
      if (low.startsWith("on") || DROPPED.has(low) || (node.tag === "link" && low === "href") || node.tag === "meta") continue;
      let given = value;
      if (LOADED.has(low)) given = node.tag === "img" || node.tag === "input" || low !== "src" ? resourceUrl(value, this.base) : "";
      else if (low === "style") given = withResources(value, this.base);
      else if (low === "href" && node.tag !== "a" && node.tag !== "area") given = value.startsWith("#") ? value : resourceUrl(value, this.base);
      else if (low === "href") given = "#";
      if (given === "" && LOADED.has(low)) continue;
      try {
        if (name.startsWith("xlink:")) element.setAttributeNS("http://www.w3.org/1999/xlink", name, given);
        else element.setAttribute(name, given);
      } catch {
        // a name that only a parser accepts
      }
    }
  }

  attach(root, element) {
    try {
      const made = element.attachShadow({ mode: "open" });
      this.keep(root, made);
      for (const child of root.children) made.append(this.make(child, HTML));
      this.adopt(made, root.number, made);
    } catch {
      // not a host in this browser
    }
  }

  setState(node, element) {
    const { state, tag } = node;
    if (state.v !== undefined) {
      if (tag === "input" && /^(file|image|submit|button|reset)$/.test(element.type)) element.setAttribute("value", state.v);
      else element.value = state.v;
    }
    if (tag === "input" && /^(checkbox|radio)$/.test(element.type)) {
      element.checked = state.c === 1;
      element.indeterminate = state.i === 1;
    }
    if (state.o) for (const [at, option] of [...element.options].entries()) option.selected = state.o.includes(at);
    if (state.u) {
      const url = resourceUrl(state.u, this.base);
      if (url) element.src = url;
    }
    if (state.w && tag !== "video") element.style.cssText += `;display:inline-block;width:${state.w[0]}px;height:${state.w[1]}px;background:repeating-linear-gradient(45deg,#8882 0 8px,#8884 8px 16px)`;
    if (state.p >= 0) this.inner.push([element, state.p]);
    if (state.y) this.scrolled.push([element, state.y]);
    if (tag === "iframe" || tag === "frame") element.setAttribute("sandbox", "allow-same-origin");
  }
}
