// A seeded mutator of documents: it knows JSON, and what the readers of a strict format could disagree about.

/** Text that is put where a document has something else. Objects and lists keep the order and the repetitions of their parts. */
class Raw {
  constructor(text) {
    this.text = text;
  }
}

/** A parsed document in which an object is a list of its fields, so that fields can be repeated and reordered. */
class Fields {
  constructor(entries) {
    this.entries = entries;
  }
}

export function parseTree(text) {
  const tree = (value) => {
    if (Array.isArray(value)) return value.map(tree);
    if (value !== null && typeof value === "object") return new Fields(Object.entries(value).map(([name, part]) => [name, tree(part)]));
    return value;
  };
  return tree(JSON.parse(text));
}

function write(value, style) {
  const space = () => style.space();
  if (value instanceof Raw) return value.text;
  if (value instanceof Fields) return `{${space()}${value.entries.map(([name, part]) => `${style.text(name)}${space()}:${space()}${write(part, style)}${space()}`).join(`,${space()}`)}}`;
  if (Array.isArray(value)) return `[${space()}${value.map((part) => `${write(part, style)}${space()}`).join(`,${space()}`)}]`;
  return typeof value === "string" ? style.text(value) : JSON.stringify(value);
}

const PLAIN = { space: () => "", text: JSON.stringify };

/** Every place of a tree: what holds it, where, and a way to put something else there. */
function places(tree) {
  const found = [];
  const walk = (value, put) => {
    found.push({ value, put });
    if (value instanceof Fields) value.entries.forEach((entry) => walk(entry[1], (next) => (entry[1] = next)));
    else if (Array.isArray(value)) value.forEach((part, at) => walk(part, (next) => (value[at] = next)));
  };
  const root = [tree];
  walk(tree, (next) => (root[0] = next));
  return { found, root };
}

const NUMBERS = ["0", "1", "2", "-0", "-1", "1.0", "0.5", "1e0", "1E2", "2.5e-3", "1e999", "-1e999", "4294967295", "4294967296", "4294967297", "281474976710655", "281474976710656", "281474976710657", "1099511627776", "1099511627777", "9007199254740991", "9007199254740992", "9007199254740993", "18446744073709551615", "18446744073709551616", "100000000000000000000000000000000", "01", "+1", "1.", ".5", "0x10", "1_000", "NaN", "Infinity", "16777216", "16777217"];
const SCALARS = ["null", "true", "false", '""', '"input"', '"0"', "[]", "{}", "[[]]", '{"":null}', '{"input":null}'];
const NAMES = ["undertone", "id", "claims", "context", "provenance", "inputs", "outputs", "channel", "notion", "about", "epsilon", "lower", "upper", "delta", "nats", "odds", "kind", "weights", "list", "name", "rows", "shape", "masses", "keep", "base", "symbols", "own", "other", "indices", "names", "points", "edges", "values", "source", "n", "date", "confidence", "rounding", "policy", "token", "bits", "__proto__", "constructor", "toString", ""];
const TEXTS = ["policy/1", "policy/2", "report/1", "ldp", "lip", "alip", "di", "input", "secret", "unknown", "prior", "priors", "box", "table", "keep", "bits", "0", "-0", "00", "1", "1.0", "-1.5", ".5", "5.", "1e1", "0.0000000000000000001", "999999999999999999", "1000000000000000000", "1.0986122887", "2026-02-28", "2026-2-28", "２０２６-02-28", "é", "e\u0301", "\u0000", "\u2028", "\ufeff", "𝄞", "x".repeat(201), "é".repeat(251), " 1", "1 ", "+1", "٣"];

export class Mutator {
  constructor(random) {
    this.random = random;
  }
  pick(list) {
    return list[Math.floor(this.random() * list.length)];
  }
  chance(p) {
    return this.random() < p;
  }

  /** One text made from an accepted one by a few changes. */
  text(source) {
    const { found, root } = places(parseTree(source));
    for (let changes = Math.floor(this.random() ** 2 * 3); changes >= 0; changes -= 1) this.#change(found);
    const plain = this.chance(0.7);
    const style = {
      space: () => (plain || this.chance(0.7) ? "" : this.pick([" ", "\n", "\t", "\r\n", "  "])),
      text: (value) => (plain ? JSON.stringify(value) : this.#escaped(value)),
    };
    let text = write(root[0], style);
    if (this.chance(0.12)) text = this.#damage(text);
    // What is not a text in one language is none in the other.
    return text.toWellFormed?.() ?? text;
  }

  /** Bytes made from accepted ones. */
  bytes(source) {
    const bytes = Buffer.from(source);
    for (let changes = Math.floor(this.random() ** 2 * 4); changes >= 0; changes -= 1) {
      const at = Math.floor(this.random() * bytes.length);
      if (this.chance(0.4)) bytes[at] ^= 1 << Math.floor(this.random() * 8);
      else if (this.chance(0.5)) bytes[at] = this.pick([0, 1, 2, 3, 4, 5, 0x7f, 0x80, 0xff]);
      else if (at + 8 <= bytes.length) bytes.writeBigUInt64BE(this.pick([0n, 1n, 1n << 32n, (1n << 32n) + 1n, 1n << 48n, 1n << 53n, (1n << 53n) + 1n, (1n << 64n) - 1n, 10n ** 18n]), at);
    }
    if (this.chance(0.1)) return bytes.subarray(0, Math.floor(this.random() * bytes.length));
    if (this.chance(0.05)) return Buffer.concat([bytes, Buffer.from([this.pick([0, 1, 255])])]);
    if (this.chance(0.05)) {
      const [at, count] = [Math.floor(this.random() * bytes.length), Math.floor(this.random() * 12)];
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + count)]);
    }
    return bytes;
  }

  #change(found) {
    const { value, put } = this.pick(found);
    const objects = found.map((place) => place.value).filter((one) => one instanceof Fields);
    const lists = found.map((place) => place.value).filter(Array.isArray);
    const changes = [
      () => put(this.#other(value)),
      () => put(this.#other(value)),
      () => put(this.#other(value)),
      // Objects as lists of their values, and lists as objects.
      () => this.#swap(this.pick(found.filter((place) => typeof place.value === "object" && place.value !== null))),
      () => this.#fields(this.pick(objects)),
      () => this.#fields(this.pick(objects)),
      () => this.#items(this.pick(lists)),
      // Something from elsewhere in the same document.
      () => put(new Raw(write(this.pick(found).value, PLAIN))),
      () => put(new Raw(`${"[".repeat(this.pick([3, 99, 101, 127, 129, 3000]))}`)),
    ];
    this.pick(changes)();
  }

  /** A value in the place of another, often of the same type. */
  #other(value) {
    if (this.chance(0.25)) return new Raw(this.pick(this.chance(0.5) ? SCALARS : NUMBERS));
    if (typeof value === "number") {
      if (this.chance(0.4)) return new Raw(this.pick(NUMBERS));
      if (this.chance(0.2)) return String(value);
      if (this.chance(0.2)) return new Raw(`${value}.0`);
      return Math.max(0, value + this.pick([-1, 1, 2, -1000, 1000, value]));
    }
    if (typeof value === "string") {
      if (this.chance(0.5)) return this.pick(TEXTS);
      const at = Math.floor(this.random() * (value.length + 1));
      return this.pick([value.toUpperCase(), ` ${value}`, value.slice(0, at), `${value.slice(0, at)}0${value.slice(at)}`, `${value.slice(0, at)}${value.slice(at + 1)}`, value + value]);
    }
    return new Raw(this.pick(SCALARS));
  }

  #swap(place) {
    if (place === undefined) return;
    const { value, put } = place;
    if (value instanceof Fields) put(value.entries.map((entry) => entry[1]));
    else if (Array.isArray(value)) put(new Fields(value.map((part, at) => [this.pick([String(at), ...NAMES]), part])));
  }

  #fields(object) {
    if (object === undefined) return;
    const { entries } = object;
    const at = Math.floor(this.random() * entries.length);
    const changes = [
      () => entries.splice(at, 1),
      () => entries.push([this.pick(NAMES), new Raw(this.pick([...SCALARS, ...NUMBERS]))]),
      () => entries.length > 0 && entries.splice(at, 0, entries[at]),
      () => entries.length > 0 && entries.push([entries[at][0], new Raw(this.pick(SCALARS))]),
      () => entries.length > 0 && (entries[at][0] = this.pick(NAMES)),
      () => entries.reverse(),
      () => entries.sort(() => this.random() - 0.5),
    ];
    this.pick(changes)();
  }

  #items(list) {
    if (list === undefined) return;
    const at = Math.floor(this.random() * list.length);
    const changes = [
      () => list.splice(at, 1),
      () => list.length > 0 && list.splice(at, 0, list[at]),
      () => list.push(new Raw(this.pick([...SCALARS, ...NUMBERS]))),
      () => list.reverse(),
      () => list.splice(0),
    ];
    this.pick(changes)();
  }

  /** A text with some of its letters escaped. */
  #escaped(value) {
    const unit = (letter) => Array.from({ length: letter.length }, (_, at) => `\\u${letter.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
    const letters = Array.from(value, (letter) => {
      if (this.chance(0.1)) return this.chance(0.5) ? unit(letter) : unit(letter).toUpperCase().replaceAll("\\U", "\\u");
      return letter === "/" && this.chance(0.3) ? "\\/" : JSON.stringify(letter).slice(1, -1);
    });
    return `"${letters.join("")}"`;
  }

  /** A text that is hardly JSON any more. */
  #damage(text) {
    const at = Math.floor(this.random() * (text.length + 1));
    const put = (what) => text.slice(0, at) + what + text.slice(at);
    return this.pick([
      () => text.slice(0, at),
      () => `\ufeff${text}`,
      () => `${text}${this.pick(["x", "{}", " ", "\u00a0", "\u0000", ",", "//"])}`,
      () => put(this.pick([",", ":", '"', "\\", "}", "]", "\u0000", "\u0001", "\u00a0", "\u2028", "/**/", "\\ud800", "\\u12", "\\x41", "'", "\ufeff", "\t", "\f", "\v"])),
      () => text.slice(0, at) + text.slice(at + 1),
      () => put(this.pick(['"\\ud800"', '"\\udc00\\ud800"', '"\\ud834\\udd1e"', "[".repeat(200) + "]".repeat(200)])),
    ])();
  }
}
