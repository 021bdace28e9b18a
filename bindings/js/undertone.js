/**
 * Undertone for browsers and Node: verify a policy exactly, randomise, remember, send.
 *
 * One module, no dependencies. Every check is made in BigInt on the integers that are sampled; there are
 * no floats in it. The formats are those of `vectors/v1`, all of which this file is tested with.
 * What leaves the device is a report. The raw answer is neither stored nor sent.
 *
 * Parts, in this order: errors, strict JSON, bytes, decimals, nats and ratios, epsilon, alphabets, the
 * policy document, canonical bytes, verification, drawing, reports, the ledger, consent, devices, the client.
 */

// ---------------------------------------------------------------- errors

/** Bytes or a document that cannot be read; `reason` is a name from `vectors/v1/README.md`. */
export class DecodeError extends Error {
  constructor(reason, message) {
    super(message);
    this.name = "DecodeError";
    this.reason = reason;
  }
}

/** A claim that is false, where, and by how much. */
export class Refusal extends Error {
  constructor(claim, side, attained, allowed, cell) {
    super(`claim ${claim} is false (${side}): ${ratioText(attained)} is attained and ${ratioText(allowed)} is allowed`);
    this.name = "Refusal";
    Object.assign(this, { claim, side, attained: ratioText(attained), allowed: ratioText(allowed), cell });
  }
}

/** Why the ledger releases nothing: `budget`, `not_composable` or `not_composable_checked`. */
export class Exhausted extends Error {
  constructor(outcome, message) {
    super(message);
    this.name = "Exhausted";
    this.outcome = outcome;
  }
}

/** A policy that leaks more than the person agreed to: `number` is `ldp`, `lip` or `secret`. */
export class AboveConsent extends Error {
  constructor(number, attained, allowed, of = "") {
    const level = attained === null ? "no finite level" : `${natsText(attained)} nats`;
    const notion = number === "lip" ? "a LIP" : "an LDP";
    super(`this policy attains ${notion} of ${level}${of}, and you agreed to ${natsText(allowed)} nats`);
    this.name = "AboveConsent";
    this.number = number;
    this.attained = attained === null ? null : natsText(attained);
    this.allowed = natsText(allowed);
  }
}

/** A report that a policy cannot have released: `policy` or `token`. */
export class Foreign extends Error {
  constructor(reason, message) {
    super(message);
    this.name = "Foreign";
    this.reason = reason;
  }
}

/** What a device cannot do: `code` is `damaged`, `missing`, `exists`, `in_use` or `io`. */
export class DeviceError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "DeviceError";
    this.code = code;
  }
}

/** What went wrong between this device and a curator; `code` is stable. */
export class ClientError extends Error {
  constructor(code, message, problem = null) {
    super(message);
    this.name = "ClientError";
    this.code = code;
    this.problem = problem;
  }
}

const refuse = (reason, message) => {
  throw new DecodeError(reason, message);
};

// ---------------------------------------------------------------- strict JSON

/**
 * Reads JSON as the kernel does: integers exactly (as BigInt), repeated fields refused. A number with a
 * fraction or an exponent stays a Number, and no integer field accepts one.
 */
export function parseJson(text) {
  const bad = (message) => refuse("json", `not a JSON document: ${message} at character ${at}`);
  let at = 0;
  const space = () => {
    while (at < text.length && " \t\n\r".includes(text[at])) at += 1;
  };
  const expect = (token) => {
    if (!text.startsWith(token, at)) bad(`${token} is missing`);
    at += token.length;
  };
  const word = (token, value) => {
    expect(token);
    return value;
  };
  const number = () => {
    const found = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
    found.lastIndex = at;
    const match = found.exec(text);
    if (!match) bad("unexpected character");
    at += match[0].length;
    return /^[0-9]+$/.test(match[0]) ? BigInt(match[0]) : Number(match[0]);
  };
  const string = () => {
    const found = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
    found.lastIndex = at;
    const match = found.exec(text);
    if (!match) bad("malformed text");
    const value = JSON.parse(match[0]);
    if (/\p{Surrogate}/u.test(value)) bad("half a surrogate pair");
    at += match[0].length;
    return value;
  };
  const list = (close, item) => {
    at += 1;
    space();
    if (text[at] === close) {
      at += 1;
      return;
    }
    for (;;) {
      item();
      space();
      if (text[at] === close) break;
      expect(",");
      space();
    }
    at += 1;
  };
  const value = (depth) => {
    if (depth > 100) bad("nested too deeply");
    space();
    switch (text[at]) {
      case "{": {
        const fields = Object.create(null);
        list("}", () => {
          const name = string();
          if (name in fields) bad(`the field ${name} is repeated`);
          space();
          expect(":");
          fields[name] = value(depth + 1);
        });
        return fields;
      }
      case "[": {
        const items = [];
        list("]", () => items.push(value(depth + 1)));
        return items;
      }
      case '"':
        return string();
      case "t":
        return word("true", true);
      case "f":
        return word("false", false);
      case "n":
        return word("null", null);
      default:
        return number();
    }
  };
  if (typeof text !== "string") bad("it is not text");
  const document = value(0);
  space();
  if (at < text.length) bad("something follows the end");
  return document;
}

const U32 = 0xffff_ffffn;
const U64 = 0xffff_ffff_ffff_ffffn;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** An object with no fields but `required` and `optional`. */
function record(value, what, required, optional = []) {
  if (!isObject(value)) refuse("json", `${what} must be an object`);
  for (const name of required) if (!(name in value)) refuse("json", `${what} has no field ${name}`);
  for (const name of Object.keys(value)) {
    if (!required.includes(name) && !optional.includes(name)) refuse("json", `${what} has an unknown field ${name}`);
  }
  return value;
}

function integer(value, what, largest = U64) {
  let exact = value;
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) refuse("json", `${what} must be an integer of at least 0`);
    exact = BigInt(value);
  }
  if (typeof exact !== "bigint" || exact < 0n || exact > largest) refuse("json", `${what} must be an integer from 0 to ${largest}`);
  return exact;
}

function listOf(value, what, read) {
  if (!Array.isArray(value)) refuse("json", `${what} must be a list`);
  return value.map((item, at) => read(item, `${what}[${at}]`));
}

function textOf(value, what) {
  if (typeof value !== "string") refuse("json", `${what} must be text`);
  if (/\p{Surrogate}/u.test(value)) refuse("json", `${what} holds half a surrogate pair`);
  return value;
}

const integers = (value, what) => listOf(value, what, (item, name) => integer(item, name));
const texts = (value, what) => listOf(value, what, textOf);
/** A field that may be missing or null. */
const optional = (value, read) => (value === undefined || value === null ? null : read(value));

// ---------------------------------------------------------------- bytes

const encoder = new TextEncoder();
const utf8Length = (text) => encoder.encode(text).length;

/** Lower-case hexadecimal digits. */
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Bytes from lower-case hexadecimal digits, or null. */
export function fromHex(text) {
  if (typeof text !== "string" || !/^([0-9a-f]{2})*$/.test(text)) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

const sameBytes = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** SHA-256 from the platform, as hexadecimal digits. */
async function sha256(bytes) {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) {
    throw new ClientError("insecure", "this page has no SHA-256: browsers offer it only over https or on localhost");
  }
  return toHex(new Uint8Array(await subtle.digest("SHA-256", bytes)));
}

// ---------------------------------------------------------------- decimals

const MAX_SCALE = 18;
const DIGITS_END = 10n ** 18n;

/** digits x 10^-scale without trailing zeros behind the point. */
function decimal(digits, scale) {
  let [d, s] = [digits, scale];
  if (s > MAX_SCALE) refuse("decimal", "a decimal has at most 18 places");
  while (s > 0 && d % 10n === 0n) [d, s] = [d / 10n, s - 1];
  if (d >= DIGITS_END || d <= -DIGITS_END) refuse("decimal", "a decimal has at most 18 digits");
  return { digits: d, scale: s };
}

function parseDecimal(text) {
  const match = /^(-?)([0-9]{0,18})(?:\.([0-9]{1,18}))?$/.exec(text);
  const digits = match ? match[2] + (match[3] ?? "") : "";
  if (digits === "") refuse("decimal", `${JSON.stringify(text)} is not a decimal number`);
  const value = BigInt(digits);
  if (value > 0x7fff_ffff_ffff_ffffn) refuse("decimal", `${JSON.stringify(text)} has too many digits`);
  return decimal(match[1] ? -value : value, (match[3] ?? "").length);
}

/** In units of 10^-18, for comparison. */
const decimalUnits = ({ digits, scale }) => digits * 10n ** BigInt(MAX_SCALE - scale);

function decimalText({ digits, scale }) {
  const size = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, "0");
  const whole = size.slice(0, size.length - scale);
  return `${digits < 0n ? "-" : ""}${whole}${scale ? `.${size.slice(size.length - scale)}` : ""}`;
}

// ---------------------------------------------------------------- nats and ratios

const FRACTION = 120n;
const ONE = 1n << FRACTION;
/** The floor of 2^120 ln 2. */
const LN_2_DOWN = 0x00b17217f7d1cf79abc9e3b39803f2f6n;
const UNIT = 10n ** 10n;

const ceilDiv = (a, b) => (a + b - 1n) / b;
const multiplyUp = (a, b) => (a * b + ONE - 1n) >> FRACTION;
const max = (a, b) => (a > b ? a : b);
const min = (a, b) => (a < b ? a : b);
const positive = (a) => (a > 0n ? a : 0n);
const bitLength = (a) => BigInt(a.toString(2).length);

/** ln(n/d) in units of 10^-10, rounded up; 0 for ratios up to one. */
function lnUp(n, d) {
  if (n <= d) return 0n;
  let doublings = bitLength(n) - bitLength(d);
  if (n < d << doublings) doublings -= 1n;
  const scaled = d << doublings;
  const z = ceilDiv((n - scaled) << FRACTION, n + scaled);
  const square = multiplyUp(z, z);
  let [sum, power] = [0n, z];
  for (let odd = 1n; odd < 80n; odd += 2n) {
    sum += ceilDiv(power, odd);
    power = multiplyUp(power, square);
  }
  const total = (sum << 1n) + (LN_2_DOWN + 1n) * doublings + 2n;
  return (total * UNIT + ONE - 1n) >> FRACTION;
}

/** e^nats rounded up, in units of 2^-120; null above 120 nats. */
function expUp(units) {
  if (units > 120n * UNIT) return null;
  const x = (units << FRACTION) / UNIT + 1n;
  const doublings = x / LN_2_DOWN;
  const rest = x - LN_2_DOWN * doublings;
  let [sum, term] = [ONE, ONE];
  for (let n = 1n; n <= 40n; n += 1n) {
    term = ceilDiv(multiplyUp(term, rest), n);
    sum += term;
  }
  return (sum + 2n) << doublings;
}

/** Units of 10^-10 nats as a decimal without trailing zeros. */
export function natsText(units) {
  const text = `${units / UNIT}.${(units % UNIT).toString().padStart(10, "0")}`;
  return text.replace(/0+$/, "").replace(/\.$/, "");
}

/** Units of 10^-10 nats from a plain decimal, cut after ten places. */
export function parseNats(text) {
  const match = /^([0-9]{0,9})(?:\.([0-9]*))?$/.exec(text);
  if (!match || match[1] + (match[2] ?? "") === "") {
    refuse("not_nats", "write a plain decimal such as 0.5, at least 0 and below 1000000000");
  }
  return BigInt(match[1] + (match[2] ?? "").slice(0, 10).padEnd(10, "0"));
}

// A ratio is { n, d }, never 0/0; d = 0 is "without bound" and above every other.
const ratioAbove = (a, b) => a.n * b.d > b.n * a.d;
const RATIO_ONE = { n: 1n, d: 1n };
const RATIO_ZERO = { n: 0n, d: 1n };

function gcd(a, b) {
  let [x, y] = [a, b];
  while (y) [x, y] = [y, x % y];
  return x;
}

function ratioText({ n, d }) {
  if (d === 0n) return "unbounded";
  const shared = gcd(n, d);
  return `${n / shared}/${d / shared}`;
}

/** The logarithm of a ratio, or null without bound. */
const ratioNats = ({ n, d }) => (d === 0n ? null : lnUp(n, d));

/** A ratio as `{ ratio, nats }` in text. */
function level(ratio) {
  const nats = ratioNats(ratio);
  return { ratio: ratioText(ratio), nats: nats === null ? "unbounded" : natsText(nats) };
}

// ---------------------------------------------------------------- epsilon

const LARGEST_NATS = lnUp(U32, 1n);

/** Odds n/d of at least one, as 32-bit integers. */
function odds(n, d) {
  if (d === 0n || n < d) refuse("epsilon", `odds ${n}/${d} are not at least one`);
  return { n, d };
}

/** The largest odds whose logarithm, rounded up as printed, is at most the decimal `text`. */
export function parseEpsilon(text) {
  return epsilonAtMost(parseNats(text));
}

/** The same for units of 10^-10 nats: a walk down the Stern-Brocot tree. */
export function epsilonAtMost(units) {
  if (units > LARGEST_NATS) refuse("too_large", `the largest epsilon is ${natsText(LARGEST_NATS)}`);
  const holds = ([n, d]) => lnUp(n, d) <= units;
  const fits = ([n, d]) => n <= U32 && d <= U32;
  const along = ([n, d], [a, b], k) => [n + k * a, d + k * b];
  let [low, high] = [[1n, 1n], [1n, 0n]];
  for (;;) {
    const up = mostSteps((k) => fits(along(low, high, k)) && holds(along(low, high, k)));
    low = along(low, high, up);
    const down = mostSteps((k) => fits(along(high, low, k)) && !holds(along(high, low, k)));
    high = along(high, low, down);
    if (up === 0n && down === 0n) return { n: low[0], d: low[1] };
  }
}

/** The largest k of at most 2^32 for which `possible` holds, given that it holds up to some point. */
function mostSteps(possible) {
  let reach = 1n;
  while (reach <= 1n << 32n && possible(reach)) reach *= 2n;
  let [good, bad] = [reach / 2n, reach];
  while (bad - good > 1n) {
    const middle = good + (bad - good) / 2n;
    if (possible(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** Odds from a pair of 32-bit integers. */
export const readOdds = (pair) => odds(...pair.map((part, at) => integer(part, `odds[${at}]`, U32)));

/** The nats printed for odds. */
export const epsilonNats = ({ n, d }) => natsText(lnUp(n, d));

// ---------------------------------------------------------------- alphabets

const MAX_SYMBOLS = 1 << 24;

function checkIncreasing(values) {
  const at = values.findIndex((value, i) => i > 0 && decimalUnits(values[i - 1]) >= decimalUnits(value));
  if (at > 0) refuse("alphabet", `entry ${at} is not above the one before it`);
}

function checkSize(size) {
  if (size < 1 || size > MAX_SYMBOLS) refuse("alphabet", `an alphabet has 1 to ${MAX_SYMBOLS} symbols, not ${size}`);
}

/** What an index stands for. */
export class Alphabet {
  constructor(kind, size, parts) {
    Object.assign(this, { kind, size, names: null, points: null, edges: null, values: null }, parts);
    Object.freeze(this);
  }

  static indices(size) {
    checkSize(size);
    return new Alphabet("indices", size, {});
  }

  static names(names) {
    checkSize(names.length);
    if (names.includes("")) refuse("alphabet", "a name is empty");
    if (new Set(names).size < names.length) refuse("alphabet", "a name occurs twice");
    return new Alphabet("names", names.length, { names });
  }

  static points(points) {
    checkSize(points.length);
    checkIncreasing(points);
    return new Alphabet("points", points.length, { points });
  }

  static bins(edges, values) {
    checkSize(Math.max(edges.length - 1, 0));
    checkIncreasing(edges);
    if (values.length + 1 !== edges.length) refuse("alphabet", "give one value per bin");
    values.forEach((value, at) => {
      const here = decimalUnits(value);
      if (here < decimalUnits(edges[at]) || here > decimalUnits(edges[at + 1])) refuse("alphabet", `the value of bin ${at} lies outside it`);
    });
    return new Alphabet("bins", values.length, { edges, values });
  }

  /** What a symbol is called, for people. */
  label(index) {
    const number = (this.points ?? this.values)?.[index];
    return this.names?.[index] ?? (number ? decimalText(number) : String(index));
  }

  /** The ends of a bin, or null. */
  range(index) {
    return this.edges ? [decimalText(this.edges[index]), decimalText(this.edges[index + 1])] : null;
  }

  /** The symbol of a name, an index in decimal, a point, or the bin a number falls in (clipped to the ends). */
  symbol(text) {
    // The text is a person's answer: it stays out of the message.
    const unknown = () => refuse("alphabet", "the value is not in the alphabet: map it to a known symbol or leave it out");
    if (this.kind === "names") {
      const at = this.names.indexOf(text);
      return at < 0 ? unknown() : at;
    }
    if (this.kind === "indices") return /^[0-9]{1,8}$/.test(text) && Number(text) < this.size ? Number(text) : unknown();
    const value = this.#units(text) ?? unknown();
    if (this.kind === "points") {
      const at = this.points.findIndex((point) => decimalUnits(point) === value);
      return at < 0 ? unknown() : at;
    }
    const above = this.edges.filter((edge) => decimalUnits(edge) <= value).length;
    return Math.min(Math.max(above, 1), this.size) - 1;
  }

  /** A number in units of 10^-18, or null: what is no number must not be repeated in a message. */
  #units(text) {
    try {
      return decimalUnits(parseDecimal(text));
    } catch {
      return null;
    }
  }

  /** The form it has in a policy document. */
  toJSON() {
    if (this.kind === "indices") return { indices: this.size };
    if (this.kind === "names") return { names: this.names };
    if (this.kind === "points") return { points: this.points.map(decimalText) };
    return { edges: this.edges.map(decimalText), values: this.values.map(decimalText) };
  }
}

function readAlphabetFields(value, what) {
  record(value, what, [], ["indices", "names", "points", "edges", "values"]);
  return {
    indices: optional(value.indices, (v) => integer(v, `${what}.indices`, U32)),
    names: optional(value.names, (v) => texts(v, `${what}.names`)),
    points: optional(value.points, (v) => texts(v, `${what}.points`)),
    edges: optional(value.edges, (v) => texts(v, `${what}.edges`)),
    values: optional(value.values, (v) => texts(v, `${what}.values`)),
  };
}

function makeAlphabet({ indices, names, points, edges, values }) {
  const given = [indices, names, points, edges, values].map((part) => (part === null ? "0" : "1")).join("");
  switch (given) {
    case "10000":
      return Alphabet.indices(Number(indices));
    case "01000":
      return Alphabet.names(names);
    case "00100":
      return Alphabet.points(points.map(parseDecimal));
    case "00011":
      return Alphabet.bins(edges.map(parseDecimal), values.map(parseDecimal));
    default:
      return refuse("json", "an alphabet has exactly one of: indices, names, points, or edges with values");
  }
}

/** An alphabet in the form it has in a policy document. */
export const readAlphabet = (value) => makeAlphabet(readAlphabetFields(value, "alphabet"));

// ---------------------------------------------------------------- the policy document

const MASS_ONE = 1n << 48n;
const WEIGHT_ONE = 1n << 32n;
const KEEP_ONE = 1n << 40n;
const MAX_CELLS = 1 << 26;
const MAX_CLAIMS = 16;

const sum = (values) => values.reduce((a, b) => a + b, 0n);

function checkParts(parts, one, reason, what) {
  if (parts.length === 0) refuse(reason, `${what} is empty`);
  if (parts.length > MAX_SYMBOLS) refuse(reason, `${what} has too many entries`);
  const found = sum(parts);
  if (found !== one) refuse(reason, `${what} sums to ${found} where exactly ${one} is needed`);
  return parts;
}

const makePrior = (weights) => checkParts(weights, WEIGHT_ONE, "prior", "the list of weights");

function makeTable(masses) {
  masses.forEach((row, at) => checkParts(row, MASS_ONE, "channel", `row ${at}`));
  if (masses.length === 0) refuse("channel", "the channel is empty");
  const outputs = masses[0].length;
  if (masses.some((row) => row.length !== outputs)) refuse("channel", "rows have different lengths");
  if (masses.length * outputs > MAX_CELLS) refuse("channel", "the table has too many cells");
  return { shape: "table", inputs: masses.length, outputs, masses };
}

function makeKeep(keep, base) {
  if (keep.length !== base.length) refuse("channel", "give one keep probability and one base mass per symbol");
  if (keep.some((k) => k > KEEP_ONE)) refuse("channel", "a probability of keeping is above one");
  checkParts(base, MASS_ONE, "channel", "the base");
  return { shape: "keep", inputs: keep.length, outputs: keep.length, keep, base };
}

function makeBits(symbols, own, other) {
  if (symbols === 0) refuse("channel", "the channel is empty");
  if (symbols > MAX_SYMBOLS) refuse("channel", "too many symbols");
  if (own > WEIGHT_ONE || other > WEIGHT_ONE) refuse("channel", "a probability is above one");
  return { shape: "bits", inputs: symbols, outputs: symbols, own, other };
}

function makePriors(list) {
  if (list.length === 0) refuse("context", "the list of priors is empty");
  if (list.some((prior) => prior.length !== list[0].length)) refuse("context", "priors have different lengths");
  return { kind: "priors", inputs: list[0].length, list };
}

function makeBox(lower, ends) {
  if (lower.length === 0) refuse("context", "the box is empty");
  if (lower.length !== ends.length) refuse("context", "the ends of the box have different lengths");
  const upper = ends.map((end) => min(end, WEIGHT_ONE));
  if (lower.some((low, x) => low > upper[x])) refuse("context", "the box is reversed");
  const [low, high] = [sum(lower), sum(upper)];
  if (low > WEIGHT_ONE || high < WEIGHT_ONE) refuse("context", "no prior lies in the box");
  return { kind: "box", inputs: lower.length, lower, upper, slack: WEIGHT_ONE - low, reach: high };
}

function makeSecret(name, weights, rows) {
  const size = utf8Length(name);
  if (size === 0 || size > 200) refuse("context", "the secret's name must have 1 to 200 bytes");
  if (rows.length !== weights.length) refuse("context", "give one row for each value of the secret");
  if (rows.some((row) => row.length !== rows[0].length)) refuse("context", "rows have different lengths");
  return { kind: "secret", inputs: rows[0].length, name, weights, rows };
}

function makeDelta(units) {
  if (units >= MASS_ONE) refuse("delta", "delta must be below one");
  return units;
}

const tagged = (value, tag, what) => {
  if (!isObject(value) || typeof value[tag] !== "string") refuse("json", `${what} needs a field ${tag}`);
  return value[tag];
};

/** First pass: types and fields only. */
const channelFields = {
  table: (v) => {
    record(v, "channel", ["shape", "masses"]);
    const masses = listOf(v.masses, "channel.masses", integers);
    return () => makeTable(masses);
  },
  keep: (v) => {
    record(v, "channel", ["shape", "keep", "base"]);
    const [keep, base] = [integers(v.keep, "channel.keep"), integers(v.base, "channel.base")];
    return () => makeKeep(keep, base);
  },
  bits: (v) => {
    record(v, "channel", ["shape", "symbols", "own", "other"]);
    const symbols = Number(integer(v.symbols, "channel.symbols", U32));
    const [own, other] = [integer(v.own, "channel.own"), integer(v.other, "channel.other")];
    return () => makeBits(symbols, own, other);
  },
};

const contextFields = {
  unknown: (v) => {
    record(v, "context", ["kind"]);
    return () => ({ kind: "unknown", inputs: null });
  },
  prior: (v) => {
    record(v, "context", ["kind", "weights"]);
    const weights = integers(v.weights, "context.weights");
    return () => ({ kind: "prior", inputs: makePrior(weights).length, weights });
  },
  priors: (v) => {
    record(v, "context", ["kind", "list"]);
    const list = listOf(v.list, "context.list", integers);
    return () => makePriors(list.map(makePrior));
  },
  box: (v) => {
    record(v, "context", ["kind", "lower", "upper"]);
    const [lower, upper] = [integers(v.lower, "context.lower"), integers(v.upper, "context.upper")];
    return () => makeBox(lower, upper);
  },
  secret: (v) => {
    record(v, "context", ["kind", "name", "weights", "rows"]);
    const name = textOf(v.name, "context.name");
    const [weights, rows] = [integers(v.weights, "context.weights"), listOf(v.rows, "context.rows", integers)];
    return () => makeSecret(name, makePrior(weights), rows.map(makePrior));
  },
};

function pick(table, tag, what) {
  if (!Object.hasOwn(table, tag)) refuse("json", `${what} ${JSON.stringify(tag)} is not known`);
  return table[tag];
}

function levelFields(value, what) {
  record(value, what, ["nats", "odds"]);
  const nats = textOf(value.nats, `${what}.nats`);
  const pair = listOf(value.odds, `${what}.odds`, (item, name) => integer(item, name, U32));
  if (pair.length !== 2) refuse("json", `${what}.odds must be a pair`);
  return () => {
    const epsilon = odds(pair[0], pair[1]);
    const actual = epsilonNats(epsilon);
    if (nats !== actual) refuse("nats", `${nats} nats are written beside odds that give ${actual}`);
    return epsilon;
  };
}

function claimFields(value, what) {
  const notion = tagged(value, "notion", what);
  const levels = { ldp: ["epsilon"], lip: ["epsilon"], di: ["epsilon"], alip: ["lower", "upper"] };
  const names = pick(levels, notion, `${what}.notion`);
  record(value, what, ["notion", "about", ...names], ["delta"]);
  const about = textOf(value.about, `${what}.about`);
  if (about !== "input" && about !== "secret") refuse("json", `${what}.about must be input or secret`);
  const read = names.map((name) => levelFields(value[name], `${what}.${name}`));
  const delta = value.delta === undefined ? 0n : integer(value.delta, `${what}.delta`);
  return () => {
    const epsilons = read.map((one) => one());
    const bound = notion === "ldp" || notion === "di" ? { notion, epsilon: epsilons[0] } : { notion: "lip", lower: epsilons[0], upper: epsilons.at(-1) };
    return { about, ...bound, delta: makeDelta(delta) };
  };
}

function provenanceFields(value) {
  const v = value === undefined ? {} : record(value, "provenance", [], ["source", "n", "date", "confidence", "rounding"]);
  const or = (field, fallback, read) => (v[field] === undefined ? fallback : read(v[field], `provenance.${field}`));
  const source = or("source", "", textOf);
  const n = or("n", 0n, (item, name) => integer(item, name));
  const date = or("date", "", textOf);
  const confidence = optional(v.confidence, (item) => textOf(item, "provenance.confidence"));
  const rounding = or("rounding", 0n, (item, name) => integer(item, name));
  return () => ({ source, n, date, confidence: confidence === null ? null : parseDecimal(confidence), rounding });
}

/** Checks that the parts fit together. */
function makeDraft({ inputs, outputs, channel, context, claims, provenance }) {
  const fits = (what, expected, found) => {
    if (expected !== found) refuse("draft", `${what} has ${found} symbols where ${expected} are needed`);
  };
  fits("the input alphabet", channel.inputs, inputs.size);
  if (outputs !== null && channel.shape !== "table") refuse("draft", "the shapes keep and bits release the inputs' own symbols");
  fits("the output alphabet", channel.outputs, (outputs ?? inputs).size);
  if (context.inputs !== null) fits("the prior", channel.inputs, context.inputs);
  if (claims.length === 0 || claims.length > MAX_CLAIMS) refuse("draft", `make 1 to ${MAX_CLAIMS} claims`);
  claims.forEach((claim, index) => {
    if (claim.notion === "lip" && context.kind === "unknown") refuse("draft", `claim ${index} is about belief but no prior is given`);
    if (claim.about === "secret" && context.kind !== "secret") refuse("draft", `claim ${index} is about a secret but the context has none`);
    if (claim.notion === "di") {
      const weighed = context.kind === "prior" || context.kind === "priors";
      if (!weighed || claim.about === "secret" || claim.delta > 0n) refuse("draft", `claim ${index} is di, which needs priors and no delta`);
    }
    if (claim.delta > 0n && channel.shape === "bits") refuse("draft", `claim ${index} has a delta, which bits does not support`);
  });
  const { source, n, date, confidence } = provenance;
  if (utf8Length(source) > 500) refuse("draft", "provenance.source has more than 500 bytes");
  if (n > 1n << 53n) refuse("draft", "provenance.n is above 2^53");
  if (date !== "" && !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(date)) refuse("draft", "provenance.date is not YYYY-MM-DD");
  if (confidence !== null && (confidence.digits < 0n || decimalUnits(confidence) > DIGITS_END)) {
    refuse("draft", "provenance.confidence is not between 0 and 1");
  }
  return Object.freeze({ inputs, outputs, channel, context, claims, provenance });
}

/** Reads a document without checking its stated id. */
function draftFromFields(document) {
  const required = ["undertone", "claims", "context", "inputs", "channel"];
  const v = record(document, "the policy", required, ["id", "provenance", "outputs"]);
  const version = textOf(v.undertone, "undertone");
  const id = optional(v.id, (value) => textOf(value, "id"));
  const claims = listOf(v.claims, "claims", claimFields);
  const context = pick(contextFields, tagged(v.context, "kind", "context"), "context.kind")(v.context);
  const provenance = provenanceFields(v.provenance);
  const inputs = readAlphabetFields(v.inputs, "inputs");
  const outputs = optional(v.outputs, (value) => readAlphabetFields(value, "outputs"));
  const channel = pick(channelFields, tagged(v.channel, "shape", "channel"), "channel.shape")(v.channel);
  if (version !== "policy/1") refuse("version", `version ${JSON.stringify(version)} is not known here`);
  const read = {
    claims: claims.map((claim) => claim()),
    outputs: outputs === null ? null : makeAlphabet(outputs),
    inputs: makeAlphabet(inputs),
    channel: channel(),
    context: context(),
    provenance: provenance(),
  };
  return { draft: makeDraft(read), id };
}

// ---------------------------------------------------------------- canonical bytes

class Writer {
  constructor() {
    this.parts = [];
  }
  bytes(bytes) {
    this.parts.push(bytes);
  }
  u8(value) {
    this.parts.push(Uint8Array.of(value));
  }
  u32(value) {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, Number(value));
    this.parts.push(bytes);
  }
  u64s(values) {
    const bytes = new Uint8Array(8 * values.length);
    const view = new DataView(bytes.buffer);
    values.forEach((value, i) => view.setBigUint64(8 * i, value));
    this.parts.push(bytes);
  }
  text(text) {
    const bytes = encoder.encode(text);
    this.u32(bytes.length);
    this.bytes(bytes);
  }
  decimal({ digits, scale }) {
    this.u64s([BigInt.asUintN(64, digits)]);
    this.u8(scale);
  }
  list(items, write) {
    this.u32(items.length);
    items.forEach(write, this);
  }
  decimals(values) {
    this.list(values, this.decimal);
  }
  prior(weights) {
    this.u32(weights.length);
    this.u64s(weights);
  }
  alphabet(alphabet) {
    switch (alphabet.kind) {
      case "indices":
        this.u8(0);
        return this.u32(alphabet.size);
      case "names":
        this.u8(1);
        return this.list(alphabet.names, this.text);
      case "points":
        this.u8(2);
        return this.decimals(alphabet.points);
      default:
        this.u8(3);
        this.decimals(alphabet.edges);
        return this.decimals(alphabet.values);
    }
  }
  channel(channel) {
    switch (channel.shape) {
      case "table":
        this.u8(0);
        this.u32(channel.inputs);
        this.u32(channel.outputs);
        return channel.masses.forEach((row) => this.u64s(row));
      case "keep":
        this.u8(1);
        this.u32(channel.inputs);
        this.u64s(channel.keep);
        return this.u64s(channel.base);
      default:
        this.u8(2);
        this.u32(channel.inputs);
        return this.u64s([channel.own, channel.other]);
    }
  }
  context(context) {
    switch (context.kind) {
      case "unknown":
        return this.u8(0);
      case "prior":
        this.u8(1);
        return this.prior(context.weights);
      case "priors":
        this.u8(2);
        return this.list(context.list, this.prior);
      case "box":
        this.u8(3);
        this.u32(context.inputs);
        this.u64s(context.lower);
        return this.u64s(context.upper);
      default:
        this.u8(4);
        this.text(context.name);
        this.prior(context.weights);
        return this.list(context.rows, this.prior);
    }
  }
  claim(claim) {
    this.u8(claim.about === "input" ? 0 : 1);
    this.u8({ ldp: 0, lip: 1, di: 2 }[claim.notion]);
    for (const { n, d } of claim.notion === "lip" ? [claim.lower, claim.upper] : [claim.epsilon]) {
      this.u32(n);
      this.u32(d);
    }
    this.u64s([claim.delta]);
  }
  finish() {
    const out = new Uint8Array(this.parts.reduce((size, part) => size + part.length, 0));
    let at = 0;
    for (const part of this.parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
}

const MAGIC = encoder.encode("undertone/policy");

function draftBytes(draft) {
  const out = new Writer();
  out.bytes(MAGIC);
  out.u8(1);
  out.alphabet(draft.inputs);
  out.u8(draft.outputs === null ? 0 : 1);
  if (draft.outputs !== null) out.alphabet(draft.outputs);
  out.channel(draft.channel);
  out.context(draft.context);
  out.u8(draft.claims.length);
  draft.claims.forEach((claim) => out.claim(claim));
  const { source, n, date, confidence, rounding } = draft.provenance;
  out.text(source);
  out.u64s([n]);
  out.text(date);
  out.u8(confidence === null ? 0 : 1);
  if (confidence !== null) out.decimal(confidence);
  out.u64s([rounding]);
  return out.finish();
}

/** Reads forward; nothing is allocated for a list before its bytes are known to be there. */
class Reader {
  constructor(bytes) {
    this.rest = bytes;
  }
  take(count) {
    if (count > this.rest.length) refuse("truncated", `the bytes end too early: ${count - this.rest.length} more are needed`);
    const head = this.rest.subarray(0, count);
    this.rest = this.rest.subarray(count);
    return head;
  }
  u8() {
    return this.take(1)[0];
  }
  u32() {
    const bytes = this.take(4);
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  }
  u64s(count) {
    const bytes = this.take(8 * count);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return Array.from({ length: count }, (_, i) => view.getBigUint64(8 * i));
  }
  u64() {
    return this.u64s(1)[0];
  }
  /** A count of items of at least `size` bytes each. */
  count(size) {
    const count = this.u32();
    if (count * size > this.rest.length) refuse("truncated", "the bytes end before the list does");
    return count;
  }
  list(size, read) {
    return Array.from({ length: this.count(size) }, () => read.call(this));
  }
  text() {
    const bytes = this.take(this.u32());
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return refuse("not_text", "a text is not UTF-8");
    }
  }
  decimal() {
    const digits = BigInt.asIntN(64, this.u64());
    return decimal(digits, this.u8());
  }
  decimals() {
    return this.list(9, this.decimal);
  }
  prior() {
    return makePrior(this.u64s(this.count(8)));
  }
  alphabet() {
    switch (this.u8()) {
      case 0:
        return Alphabet.indices(this.u32());
      case 1:
        return Alphabet.names(this.list(4, this.text));
      case 2:
        return Alphabet.points(this.decimals());
      case 3: {
        const edges = this.decimals();
        return Alphabet.bins(edges, this.decimals());
      }
      default:
        return refuse("tag", "alphabet: unknown kind");
    }
  }
  channel() {
    switch (this.u8()) {
      case 0: {
        const [inputs, outputs] = [this.u32(), this.u32()];
        if (outputs === 0 || inputs * outputs * 8 > this.rest.length) refuse("truncated", "the bytes end before the table does");
        return makeTable(Array.from({ length: inputs }, () => this.u64s(outputs)));
      }
      case 1: {
        const symbols = this.count(16);
        const keep = this.u64s(symbols);
        return makeKeep(keep, this.u64s(symbols));
      }
      case 2: {
        const symbols = this.u32();
        const own = this.u64();
        return makeBits(symbols, own, this.u64());
      }
      default:
        return refuse("tag", "shape: unknown kind");
    }
  }
  context() {
    switch (this.u8()) {
      case 0:
        return { kind: "unknown", inputs: null };
      case 1: {
        const weights = this.prior();
        return { kind: "prior", inputs: weights.length, weights };
      }
      case 2:
        return makePriors(this.list(4, this.prior));
      case 3: {
        const count = this.count(16);
        const lower = this.u64s(count);
        return makeBox(lower, this.u64s(count));
      }
      case 4: {
        const name = this.text();
        const weights = this.prior();
        return makeSecret(name, weights, this.list(4, this.prior));
      }
      default:
        return refuse("tag", "context: unknown kind");
    }
  }
  epsilon() {
    const n = BigInt(this.u32());
    return odds(n, BigInt(this.u32()));
  }
  claim() {
    const about = ["input", "secret"][this.u8()] ?? refuse("tag", "claim.about: unknown kind");
    const notion = ["ldp", "lip", "di"][this.u8()] ?? refuse("tag", "claim.notion: unknown kind");
    const first = this.epsilon();
    const bound = notion === "lip" ? { lower: first, upper: this.epsilon() } : { epsilon: first };
    return { about, notion, ...bound, delta: makeDelta(this.u64()) };
  }
  provenance() {
    const [source, n, date, flag] = [this.text(), this.u64(), this.text(), this.u8()];
    if (flag > 1) refuse("tag", "provenance.confidence: unknown kind");
    const confidence = flag ? this.decimal() : null;
    return { source, n, date, confidence, rounding: this.u64() };
  }
}

function draftFromBytes(bytes) {
  const reader = new Reader(bytes);
  if (!sameBytes(reader.take(MAGIC.length), MAGIC)) refuse("not_a_policy", "these bytes are not an undertone policy");
  const version = reader.u8();
  if (version !== 1) refuse("version", `version ${version} is not known here`);
  const inputs = reader.alphabet();
  const flag = reader.u8();
  if (flag > 1) refuse("tag", "outputs: unknown kind");
  const outputs = flag ? reader.alphabet() : null;
  const channel = reader.channel();
  const context = reader.context();
  const claims = Array.from({ length: reader.u8() }, () => reader.claim());
  const provenance = reader.provenance();
  if (reader.rest.length > 0) refuse("trailing", `${reader.rest.length} bytes follow the end`);
  const draft = makeDraft({ inputs, outputs, channel, context, claims, provenance });
  if (!sameBytes(draftBytes(draft), bytes)) refuse("not_canonical", "the bytes are not in canonical form");
  return draft;
}

// ---------------------------------------------------------------- verification

const CELL = { output: null, high: null, low: null, prior: null };
const NOTHING = { ratio: RATIO_ONE, cell: CELL };

/** Keeps the worse of two; 0/0 says nothing. */
function worse(worst, n, d, cell) {
  if (n === 0n && d === 0n) return worst;
  return ratioAbove({ n, d }, worst.ratio) ? { ratio: { n, d }, cell } : worst;
}

/** The largest and smallest of a list, the first of equals. */
function extremesOf(values) {
  let [high, low] = [0, 0];
  values.forEach((value, at) => {
    if (value > values[high]) high = at;
    if (value < values[low]) low = at;
  });
  return { high: [values[high], high], low: [values[low], low] };
}

/** How many leading items of a list satisfy a condition that holds up to some point. */
function partitionPoint(list, holds) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

const ascending = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** Rows of likelihoods in units of 2^-unit: a table, or two releases together. */
class Dense {
  constructor(unit, rows) {
    Object.assign(this, { unit, rows, inputs: rows.length, outputs: rows[0].length, keep: null });
  }
  at(x, y) {
    return this.rows[x][y];
  }
  column(y) {
    return this.rows.map((row) => row[y]);
  }
  extremes(y) {
    return extremesOf(this.column(y));
  }
  weightedExtremes(weights) {
    return Array.from({ length: this.outputs }, (_, y) => extremesOf(this.rows.map((row, x) => weights[x] * row[y])));
  }
  mixture(weights) {
    const sums = new Array(this.outputs).fill(0n);
    this.rows.forEach((row, x) => {
      if (weights[x] === 0n) return;
      row.forEach((w, y) => {
        sums[y] += weights[x] * w;
      });
    });
    return sums;
  }
  /** Linear in the prior, so the worst prior fills the box greedily, the cheapest inputs first. */
  boxRanges({ lower, upper, slack }) {
    return Array.from({ length: this.outputs }, (_, y) => {
      const column = this.column(y);
      const order = column.map((_w, x) => x).sort((a, b) => ascending(column[a], column[b]));
      const base = column.reduce((total, w, x) => total + lower[x] * w, 0n);
      const fill = (cheapest) => {
        let [left, total] = [slack, base];
        for (const x of cheapest) {
          const taken = min(left, upper[x] - lower[x]);
          total += taken * column[x];
          left -= taken;
        }
        return total;
      };
      const least = fill(order);
      return [least, fill(order.reverse())];
    });
  }
}

/** The shape keep, whose rows differ from a multiple of the base in one place only. */
class KeepView {
  constructor({ keep, base }) {
    const rest = keep.map((k) => KEEP_ONE - k);
    const own = keep.map((k, x) => k * MASS_ONE + rest[x] * base[x]);
    const byRest = keep.map((_, x) => x).sort((a, b) => ascending(rest[a], rest[b]) || a - b);
    Object.assign(this, { unit: 88n, inputs: keep.length, outputs: keep.length, keep, base, rest, own, byRest });
  }
  at(x, y) {
    return x === y ? this.own[x] : this.rest[x] * this.base[y];
  }
  /** The first input of a list that is not y, with its likelihood. */
  other(order, y) {
    const x = order[0] === y ? order[1] : order[0];
    return x === undefined ? null : [this.at(x, y), x];
  }
  extremes(y) {
    const own = [this.own[y], y];
    const least = this.other(this.byRest.slice(0, 2), y);
    const most = this.other(this.byRest.slice(-2).reverse(), y);
    return { low: least && least[0] < own[0] ? least : own, high: most && most[0] > own[0] ? most : own };
  }
  weightedExtremes(weights) {
    const weight = weights.map((w, x) => w * this.rest[x]);
    const order = weight.map((_, x) => x).sort((a, b) => ascending(weight[a], weight[b]));
    return this.base.map((base, y) => {
      const cells = [[weights[y] * this.own[y], y]];
      for (const ends of [order.slice(0, 2), order.slice(-2).reverse()]) {
        const x = ends[0] === y ? ends[1] : ends[0];
        if (x !== undefined) cells.push([weight[x] * base, x]);
      }
      const { high, low } = extremesOf(cells.map(([value]) => value));
      return { high: cells[high[1]], low: cells[low[1]] };
    });
  }
  mixture(weights) {
    const notKept = weights.reduce((total, weight, x) => total + weight * this.rest[x], 0n);
    return weights.map((weight, y) => weight * this.keep[y] * MASS_ONE + notKept * this.base[y]);
  }
  boxRanges(box) {
    const base = this.mixture(box.lower);
    const [least, greatest] = [this.boxFill(box, false), this.boxFill(box, true)];
    return base.map((mass, y) => [mass + least(y), mass + greatest(y)]);
  }
  /**
   * Fills a box greedily for every output at once: all inputs but y have likelihood rest(x) base(y), so
   * their order is the same for every output and prefix sums answer for it; y itself is met where its
   * own likelihood puts it. Returns the weight above the lower ends for an output.
   */
  boxFill({ lower, upper, slack }, most) {
    const order = most ? [...this.byRest].reverse() : this.byRest;
    const position = new Array(order.length);
    const [room, filled] = [[0n], [0n]];
    order.forEach((x, at) => {
      position[x] = at;
      const here = upper[x] - lower[x];
      room.push(room[at] + here);
      filled.push(filled[at] + here * this.rest[x]);
    });
    const fill = (amount) => {
      const full = partitionPoint(room, (r) => r <= amount) - 1;
      const next = full < order.length ? this.rest[order[full]] : 0n;
      return filled[full] + (amount - room[full]) * next;
    };
    return (y) => {
      const [own, base] = [this.own[y], this.base[y]];
      const before = partitionPoint(order, (x) => (most ? this.rest[x] * base > own : this.rest[x] * base < own));
      const at = position[y];
      const ownRoom = upper[y] - lower[y];
      const roomBefore = room[before] - (at < before ? ownRoom : 0n);
      const ownTaken = min(ownRoom, positive(slack - roomBefore));
      const others = slack - ownTaken;
      const sums = others <= room[at] ? fill(others) : fill(others + ownRoom) - ownRoom * this.rest[y];
      return ownTaken * own + sums * base;
    };
  }
}

const viewOf = (channel) => {
  if (channel.shape === "table") return new Dense(48n, channel.masses);
  return channel.shape === "keep" ? new KeepView(channel) : null;
};

const exactRange = (sums) => sums.map((m) => ({ least: m, leastAt: null, greatest: m, greatestAt: null }));

/** Least and greatest probability of each output over the context's priors. */
function marginalsOf(view, context, pushed) {
  switch (context.kind) {
    case "unknown":
      return null;
    case "prior":
      return { range: exactRange(view.mixture(context.weights)), scale: 32n };
    case "priors": {
      let range = null;
      context.list.forEach((weights, at) => {
        const sums = view.mixture(weights);
        if (range === null) {
          range = sums.map((m) => ({ least: m, leastAt: at, greatest: m, greatestAt: at }));
          return;
        }
        sums.forEach((m, y) => {
          if (m < range[y].least) Object.assign(range[y], { least: m, leastAt: at });
          else if (m > range[y].greatest) Object.assign(range[y], { greatest: m, greatestAt: at });
        });
      });
      return { range, scale: 32n };
    }
    case "box": {
      const range = view.boxRanges(context).map(([least, greatest]) => ({ least, leastAt: null, greatest, greatestAt: null }));
      return { range, scale: 32n };
    }
    default:
      return { range: pushed.marginals.range, scale: 64n };
  }
}

/** The channel from the secret: c(y|s), the sum over x of P(x|s) w(y|x). */
function push(view, { weights, rows: given }) {
  const rows = given.map((row) => view.mixture(row));
  const sums = rows[0].map((_, y) => weights.reduce((total, p, s) => total + p * rows[s][y], 0n));
  return { rows, unit: view.unit + 32n, marginals: { range: exactRange(sums), scale: 32n } };
}

/** The worst ratios over all outputs. */
function strengthOf(outputs, extremes, marginals) {
  let [ldp, upper, lower] = [NOTHING, NOTHING, NOTHING];
  for (let y = 0; y < outputs; y += 1) {
    const { high, low } = extremes(y);
    ldp = worse(ldp, high[0], low[0], { ...CELL, output: y, high: high[1], low: low[1] });
    if (marginals === null) continue;
    const { least, leastAt, greatest, greatestAt } = marginals.range[y];
    upper = worse(upper, high[0] << marginals.scale, least, { ...CELL, output: y, high: high[1], prior: leastAt });
    lower = worse(lower, greatest, low[0] << marginals.scale, { ...CELL, output: y, low: low[1], prior: greatestAt });
  }
  return marginals === null ? { ldp, upper: null, lower: null } : { ldp, upper, lower };
}

/** Up to a common factor, the likelihoods of an input whose own bit speaks for it and against it. */
function bitLikelihoods({ own, other }) {
  const [set, clear] = [own * (WEIGHT_ONE - other), (WEIGHT_ONE - own) * other];
  return set === clear ? [1n, 1n] : [max(set, clear), min(set, clear)];
}

const dataWeight = ({ weights, rows }, x) => weights.reduce((total, p, s) => total + p * rows[s][x], 0n);

/** The smallest weight of x over the context's priors, one in the same unit, and which prior. */
function leastWeight(context, x) {
  switch (context.kind) {
    case "prior":
      return [context.weights[x], WEIGHT_ONE, null];
    case "priors": {
      const { low } = extremesOf(context.list.map((weights) => weights[x]));
      return [low[0], WEIGHT_ONE, low[1]];
    }
    case "box": {
      const forced = positive(WEIGHT_ONE - (context.reach - context.upper[x]));
      return [max(context.lower[x], forced), WEIGHT_ONE, null];
    }
    default:
      return [dataWeight(context, x), WEIGHT_ONE * WEIGHT_ONE, null];
  }
}

/** What bits attain about the input: for x the worst pattern is {x} or its complement. */
function bitsStrength(bits, context) {
  const [high, low] = bitLikelihoods(bits);
  let [ldp, upper, lower] = [NOTHING, NOTHING, NOTHING];
  if (bits.inputs > 1) ldp = worse(ldp, high, low, { ...CELL, output: 0, high: 0, low: 1 });
  if (context.kind === "unknown") return { ldp, upper: null, lower: null };
  for (let x = 0; x < bits.inputs; x += 1) {
    const [weight, one, prior] = leastWeight(context, x);
    const rest = one - weight;
    upper = worse(upper, high * one, weight * high + rest * low, { ...CELL, output: x, high: x, prior });
    lower = worse(lower, weight * low + rest * high, low * one, { ...CELL, output: x, low: x, prior });
  }
  return { ldp, upper, lower };
}

/** What bits attain about the secret: the worst sets are prefixes of the order by the ratio of two rows. */
function bitsSecretStrength(bits, context) {
  const [high, low] = bitLikelihoods(bits);
  const gap = high - low;
  const floor = low * WEIGHT_ONE * WEIGHT_ONE;
  const data = Array.from({ length: bits.inputs }, (_, x) => dataWeight(context, x));
  const rows = context.rows.map((row) => row.map((w) => w * WEIGHT_ONE));
  const worstSet = (a, b, worst, cell) => {
    const empty = (x) => (a[x] === 0n && b[x] === 0n ? 1 : 0);
    const order = a.map((_, x) => x).sort((x, z) => empty(x) - empty(z) || ascending(a[z] * b[x], a[x] * b[z]));
    let [sumA, sumB, found] = [0n, 0n, worst];
    for (const x of order) {
      sumA += a[x];
      sumB += b[x];
      found = worse(found, floor + gap * sumA, floor + gap * sumB, cell);
    }
    return found;
  };
  let [ldp, upper, lower] = [NOTHING, NOTHING, NOTHING];
  rows.forEach((row, s) => {
    upper = worstSet(row, data, upper, { ...CELL, high: s });
    lower = worstSet(data, row, lower, { ...CELL, low: s });
    rows.forEach((other, t) => {
      if (t !== s) ldp = worstSet(row, other, ldp, { ...CELL, high: s, low: t });
    });
  });
  return { ldp, upper, lower };
}

/** Everything the claims are held against. */
function examine(view, channel, context) {
  if (view === null) {
    const secret = context.kind === "secret" ? bitsSecretStrength(channel, context) : null;
    return { input: bitsStrength(channel, context), secret, marginals: null, pushed: null };
  }
  const pushed = context.kind === "secret" ? push(view, context) : null;
  const marginals = marginalsOf(view, context, pushed);
  const input = strengthOf(view.outputs, (y) => view.extremes(y), marginals);
  const column = (y) => extremesOf(pushed.rows.map((row) => row[y]));
  const secret = pushed && strengthOf(view.outputs, column, pushed.marginals);
  return { input, secret, marginals, pushed };
}

/** The largest posterior odds between two inputs, over the context's priors. */
function identifiability(view, channel, context) {
  const priors = context.kind === "prior" ? [context.weights] : context.list;
  let worst = NOTHING;
  priors.forEach((weights, at) => {
    const columns = view === null ? bitsWeightedExtremes(channel, weights) : view.weightedExtremes(weights);
    columns.forEach(({ high, low }, y) => {
      const prior = priors.length > 1 ? at : null;
      worst = worse(worst, high[0], low[0], { output: y, high: high[1], low: low[1], prior });
    });
  });
  return worst;
}

function bitsWeightedExtremes(bits, weights) {
  if (bits.inputs === 1) return [];
  const [high, low] = bitLikelihoods(bits);
  const order = weights.map((_, x) => x).sort((a, b) => ascending(weights[a], weights[b]));
  const [lightest, heaviest] = [order[0], order.at(-1)];
  return [{ high: [weights[heaviest] * high, heaviest], low: [weights[lightest] * low, lightest] }];
}

/** Verifies claims; `view` is null for bits. */
function check(view, channel, context, claims) {
  const { input, secret, marginals, pushed } = examine(view, channel, context);
  const refuseAbove = (index, side, worst, allowed) => {
    if (worst !== null && ratioAbove(worst.ratio, allowed)) throw new Refusal(index, side, worst.ratio, allowed, worst.cell);
  };
  const deltas = claims.map((claim, index) => {
    if (claim.notion === "di") {
      refuseAbove(index, "di", identifiability(view, channel, context), claim.epsilon);
      return null;
    }
    if (claim.delta === 0n) {
      const strength = claim.about === "input" ? input : secret;
      if (claim.notion === "ldp") refuseAbove(index, "ldp", strength.ldp, claim.epsilon);
      else {
        refuseAbove(index, "upper", strength.upper, claim.upper);
        refuseAbove(index, "lower", strength.lower, claim.lower);
      }
      return null;
    }
    const least = claim.about === "secret" ? secretDelta(claim, pushed) : inputDelta(claim, view, context, marginals);
    const allowed = { n: claim.delta, d: MASS_ONE };
    if (ratioAbove(least.ratio, allowed)) throw new Refusal(index, "delta", least.ratio, allowed, least.cell);
    return least;
  });
  return { input, secret, deltas };
}

/** The largest excess over a fixed denominator. */
class Largest {
  constructor() {
    Object.assign(this, { excess: 0n, cell: CELL });
  }
  see(excess, cell) {
    if (excess > this.excess) Object.assign(this, { excess, cell: { ...CELL, ...cell } });
  }
  over(d) {
    return { ratio: { n: this.excess, d }, cell: this.cell, bound: false };
  }
}

const worseDelta = (a, b) => (ratioAbove(b.ratio, a.ratio) ? b : a);

/** The least delta of the input at a claim's odds. */
function inputDelta(claim, view, context, marginals) {
  if (claim.notion === "ldp") {
    return view.keep ? keepLdpDelta(claim.epsilon, view) : ldpDelta(claim.epsilon, view.inputs, view.outputs, view.unit, (x, y) => view.at(x, y));
  }
  const under = (m) => {
    if (view.keep) return keepLipDelta(claim, view, m);
    return lipDelta(claim, view.inputs, view.unit, m, (x, y) => view.at(x, y) << m.scale);
  };
  if (context.kind !== "priors") return { ...under(marginals), bound: context.kind === "box" };
  let worst = { ratio: RATIO_ZERO, cell: CELL, bound: false };
  context.list.forEach((weights, at) => {
    const least = under({ range: exactRange(view.mixture(weights)), scale: 32n });
    worst = worseDelta(worst, { ...least, cell: { ...least.cell, prior: at } });
  });
  return worst;
}

/** The least delta of the secret. */
function secretDelta(claim, { rows, unit, marginals }) {
  if (claim.notion === "ldp") return ldpDelta(claim.epsilon, rows.length, rows[0].length, unit, (s, y) => rows[s][y]);
  return lipDelta(claim, rows.length, unit, marginals, (s, y) => rows[s][y] << marginals.scale);
}

/** max over x of the sum of (w - E m)+ and of the sum of (m - E w)+. */
function lipDelta({ lower, upper }, inputs, unit, marginals, at) {
  const caps = marginals.range.map(({ least }) => least * upper.n);
  const needs = marginals.range.map(({ greatest }) => greatest * lower.d);
  const [rise, fall] = [new Largest(), new Largest()];
  for (let x = 0; x < inputs; x += 1) {
    let [above, below] = [0n, 0n];
    caps.forEach((cap, y) => {
      const w = at(x, y);
      above += positive(w * upper.d - cap);
      below += positive(needs[y] - w * lower.n);
    });
    rise.see(above, { high: x });
    fall.see(below, { low: x });
  }
  const one = unit + marginals.scale;
  return worseDelta(rise.over(upper.d << one), fall.over(lower.d << one));
}

/** max over pairs of the sum of (w(y|x) - E w(y|z))+. */
function ldpDelta({ n, d }, inputs, outputs, unit, at) {
  const largest = new Largest();
  for (let x = 0; x < inputs; x += 1) {
    for (let z = 0; z < inputs; z += 1) {
      if (z === x) continue;
      let excess = 0n;
      for (let y = 0; y < outputs; y += 1) excess += positive(at(x, y) * d - at(z, y) * n);
      largest.see(excess, { high: x, low: z });
    }
  }
  return largest.over(d << unit);
}

/** Outputs ordered by marginal over base, with prefix sums of both. */
function byLift(view, mass) {
  const empty = (y) => (view.base[y] === 0n ? 1 : 0);
  const order = mass
    .map((_, y) => y)
    .sort((a, b) => empty(a) - empty(b) || ascending(mass[a] * view.base[b], mass[b] * view.base[a]) || a - b);
  const [base, sums] = [[0n], [0n]];
  order.forEach((y, at) => {
    base.push(base[at] + view.base[y]);
    sums.push(sums[at] + mass[y]);
  });
  const below = (factor) => partitionPoint(order, (y) => mass[y] < factor * view.base[y]);
  return { base, mass: sums, below };
}

/** The same as `lipDelta` for keep: sums are read off prefix sums, and the term at x is exchanged for its own. */
function keepLipDelta({ lower, upper }, view, { range, scale }) {
  const caps = range.map(({ least }) => least * upper.n);
  const needs = range.map(({ greatest }) => greatest * lower.d);
  const [byCap, byNeed] = [byLift(view, caps), byLift(view, needs)];
  const [totalNeed, totalBase] = [byNeed.mass[needs.length], byNeed.base[needs.length]];
  const [rise, fall] = [new Largest(), new Largest()];
  for (let x = 0; x < view.inputs; x += 1) {
    const [rest, own, base] = [view.rest[x] << scale, view.own[x] << scale, view.base[x]];

    const up = rest * upper.d;
    const capped = byCap.below(up);
    const allAbove = positive(up * byCap.base[capped] - byCap.mass[capped]);
    const othersAbove = positive(allAbove - positive(up * base - caps[x]));
    rise.see(othersAbove + positive(own * upper.d - caps[x]), { high: x });

    const down = rest * lower.n;
    const count = byNeed.below(down);
    const allBelow = positive(positive(totalNeed - byNeed.mass[count]) - down * (totalBase - byNeed.base[count]));
    const othersBelow = positive(allBelow - positive(needs[x] - down * base));
    fall.see(othersBelow + positive(needs[x] - own * lower.n), { low: x });
  }
  const one = 88n + scale;
  return worseDelta(rise.over(upper.d << one), fall.over(lower.d << one));
}

/**
 * The same as `ldpDelta` for keep. With c = rest(x) - E rest(z), the excess is (keep(x) + c base(x))+ for
 * c <= 0, where the best z is the most kept, and keep(x) + c (1 - base(z)) for c > 0, where for a given z
 * the best x is the most kept with c > 0.
 */
function keepLdpDelta({ n, d }, view) {
  const largest = new Largest();
  const see = (excess, x, z) => largest.see(positive(excess), { high: x, low: z });
  for (let x = 0; x < view.inputs; x += 1) {
    const z = view.byRest[0] === x ? view.byRest[1] : view.byRest[0];
    if (z !== undefined) see(d * view.keep[x] * MASS_ONE + (d * view.rest[x] - n * view.rest[z]) * view.base[x], x, z);
    const first = partitionPoint(view.byRest, (other) => d * view.rest[other] <= n * view.rest[x]);
    if (first < view.inputs) {
      const top = view.byRest[first];
      const gap = d * view.rest[top] - n * view.rest[x];
      see(d * view.keep[top] * MASS_ONE + gap * (MASS_ONE - view.base[x]), top, x);
    }
  }
  return largest.over(d << 88n);
}

const shownStrength = (strength) =>
  strength && {
    ldp: level(strength.ldp.ratio),
    upper: strength.upper && level(strength.upper.ratio),
    lower: strength.lower && level(strength.lower.ratio),
  };

const lipRatio = ({ upper, lower }) => {
  if (upper === null) return null;
  return ratioAbove(lower.ratio, upper.ratio) ? lower.ratio : upper.ratio;
};

const made = Symbol("a policy is made by verifying");

/** A verified policy. There is no way to one but `fromJson` and `fromBytes`, which check every claim. */
export class Policy {
  constructor(key, draft, bytes, id, certificate) {
    if (key !== made) throw new TypeError("a policy is made by Policy.fromJson or Policy.fromBytes");
    Object.assign(this, { draft, bytes, id, certificate });
    Object.freeze(this);
  }

  /** From a document, as text (read strictly) or as parsed JSON. */
  static async fromJson(document) {
    const { draft, id } = draftFromFields(typeof document === "string" ? parseJson(document) : document);
    return Policy.#verified(draft, id);
  }

  /** From canonical bytes. */
  static async fromBytes(bytes) {
    return Policy.#verified(draftFromBytes(bytes), null);
  }

  static async #verified(draft, stated) {
    const bytes = draftBytes(draft);
    const id = await sha256(bytes);
    if (stated !== null && stated !== id) refuse("id", `the content was changed; its id is ${id}`);
    const certificate = check(viewOf(draft.channel), draft.channel, draft.context, draft.claims);
    return new Policy(made, draft, bytes, id, certificate);
  }

  get inputs() {
    return this.draft.inputs;
  }

  get outputs() {
    return this.draft.outputs ?? this.draft.inputs;
  }

  /** What the channel attains, whatever it claims, as text. */
  get attained() {
    const { input, secret, deltas } = this.certificate;
    const shown = (least) => least && { ratio: ratioText(least.ratio), bound: least.bound };
    return { input: shownStrength(input), secret: shownStrength(secret), deltas: deltas.map(shown) };
  }

  /** Attained LDP of the input in units of 10^-10 nats, or null without bound: what one answer costs. */
  get cost() {
    return ratioNats(this.certificate.input.ldp.ratio);
  }

  /** Attained two-sided LIP of the input, null without bound, undefined without a context. */
  get lip() {
    const ratio = lipRatio(this.certificate.input);
    return ratio === null ? undefined : ratioNats(ratio);
  }

  /** Attained LDP of the secret, null without bound, undefined without a secret. */
  get secretLdp() {
    return this.certificate.secret ? ratioNats(this.certificate.secret.ldp.ratio) : undefined;
  }

  /** The probabilities of each output for one input, as Numbers, for showing; null for bits. */
  row(symbol) {
    const view = viewOf(this.draft.channel);
    if (view === null) return null;
    const shift = view.unit - 48n;
    return Array.from({ length: view.outputs }, (_, y) => Number(view.at(symbol, y) >> shift) / 2 ** 48);
  }
}

// ---------------------------------------------------------------- drawing

/** Random bytes of the platform's cryptographic generator. */
export function systemRandom(count) {
  const bytes = new Uint8Array(count);
  // One call gives at most 65536 bytes.
  for (let at = 0; at < count; at += 65536) globalThis.crypto.getRandomValues(bytes.subarray(at, Math.min(at + 65536, count)));
  return bytes;
}

const bigEndian = (bytes) => bytes.reduce((value, byte) => 256 * value + byte, 0);

/** The number of cumulative sums that are <= u. All fit a Number exactly. */
function below(masses, u) {
  let [total, count] = [0, 0];
  for (const mass of masses) {
    total += Number(mass);
    count += total <= u ? 1 : 0;
  }
  return count;
}

/** Draws one output: `{ token }`, or `{ bits }` for the shape bits. `random(n)` gives n bytes. */
export function draw(policy, symbol, random = systemRandom) {
  const { channel } = policy.draft;
  if (!Number.isInteger(symbol) || symbol < 0 || symbol >= channel.inputs) {
    throw new RangeError("the symbol is not of this policy's input alphabet");
  }
  if (channel.shape === "table") return { token: below(channel.masses[symbol], bigEndian(random(6))) };
  if (channel.shape === "keep") {
    const coin = bigEndian(random(5));
    const drawn = below(channel.base, bigEndian(random(6)));
    return { token: coin < Number(channel.keep[symbol]) ? symbol : drawn };
  }
  const [own, other] = [Number(channel.own), Number(channel.other)];
  const bits = new Uint8Array(Math.ceil(channel.inputs / 8));
  const set = (i) => {
    bits[i >> 3] |= 0x80 >> (i & 7);
  };
  const undecided = [];
  random(channel.inputs).forEach((byte, i) => {
    const top = Math.floor((i === symbol ? own : other) / 2 ** 24);
    if (byte === top) undecided.push(i);
    else if (byte < top) set(i);
  });
  for (const i of undecided) if (bigEndian(random(3)) < (i === symbol ? own : other) % 2 ** 24) set(i);
  return { bits };
}

// ---------------------------------------------------------------- reports

/** The only thing that leaves the device. */
export class Report {
  constructor(policy, id, token, bits) {
    Object.assign(this, { policy, id, token, bits });
    Object.freeze(this);
  }

  /** Draws the token, then 16 bytes for the report's id. Charging a ledger is the caller's business. */
  static draw(policy, symbol, random = systemRandom) {
    const { token = null, bits = null } = draw(policy, symbol, random);
    return new Report(policy.id, toHex(random(16)), token, bits);
  }

  toBytes() {
    const out = new Writer();
    out.u8(1);
    out.bytes(fromHex(this.policy));
    out.bytes(fromHex(this.id));
    out.u8(this.bits === null ? 0 : 1);
    if (this.bits === null) out.u32(this.token);
    else out.bytes(this.bits);
    return out.finish();
  }

  toJSON() {
    const head = { undertone: "report/1", policy: this.policy, id: this.id };
    return this.bits === null ? { ...head, token: this.token } : { ...head, bits: toHex(this.bits) };
  }

  static fromBytes(bytes) {
    const reader = new Reader(bytes);
    const version = reader.u8();
    if (version !== 1) refuse("version", `version report/${version} is not known here`);
    const [policy, id] = [toHex(reader.take(32)), toHex(reader.take(16))];
    const kind = reader.u8();
    if (kind > 1) refuse("tag", "token: unknown kind");
    const [token, bits] = kind === 0 ? [reader.u32(), null] : [null, reader.take(reader.rest.length).slice()];
    if (reader.rest.length > 0) refuse("trailing", "bytes follow the end of the report");
    return new Report(policy, id, token, bits);
  }

  /** From text (read strictly) or parsed JSON. */
  static fromJson(value) {
    const v = typeof value === "string" ? parseJson(value) : value;
    record(v, "the report", ["undertone", "policy", "id"], ["token", "bits"]);
    const version = textOf(v.undertone, "undertone");
    const [policy, id] = [textOf(v.policy, "policy"), textOf(v.id, "id")];
    const token = optional(v.token, (item) => Number(integer(item, "token", U32)));
    const digits = optional(v.bits, (item) => textOf(item, "bits"));
    if (version !== "report/1") refuse("version", `version ${JSON.stringify(version)} is not known here`);
    if (!/^[0-9a-f]{64}$/.test(policy)) refuse("json", "policy: not 64 hexadecimal digits");
    if (!/^[0-9a-f]{32}$/.test(id)) refuse("json", "id: not 32 hexadecimal digits");
    if ((token === null) === (digits === null)) refuse("json", "a report has exactly one of: token, bits");
    const bits = digits === null ? null : (fromHex(digits) ?? refuse("json", "bits: not hexadecimal digits"));
    return new Report(policy, id, token, bits);
  }
}

/** Refuses a report that the policy cannot have released. */
export function accept(policy, report) {
  if (report.policy !== policy.id) throw new Foreign("policy", "the report was made under another policy");
  const { shape, outputs } = policy.draft.channel;
  let fits = shape !== "bits" && report.bits === null && report.token < outputs;
  if (shape === "bits" && report.bits !== null && report.bits.length === Math.ceil(outputs / 8)) {
    const spare = 8 * report.bits.length - outputs;
    fits = (report.bits.at(-1) & ((1 << spare) - 1)) === 0;
  }
  if (!fits) throw new Foreign("token", "the token is outside the policy's output alphabet");
}

/** The compact body for reports of one policy and kind. */
export function encodeReports(reports) {
  const [first] = reports;
  const out = new Writer();
  out.u8(1);
  out.bytes(fromHex(first.policy));
  out.u8(first.bits === null ? 0 : 1);
  out.u32(reports.length);
  for (const report of reports) {
    if (report.policy !== first.policy || report.bits?.length !== first.bits?.length) {
      throw new ClientError("body", "a compact body holds reports of one policy and one kind");
    }
    out.bytes(fromHex(report.id));
    if (report.bits === null) out.u32(report.token);
    else out.bytes(report.bits);
  }
  return out.finish();
}

// ---------------------------------------------------------------- the ledger

const MAX_JOINT_CELLS = 2 ** 22;

/**
 * Whether both policies' claims hold for their two releases together; null if that cannot be checked: only
 * tables are joined, and a delta does not survive a choice made after the first answer.
 */
function verifyTogether(earlier, policy) {
  if ([...earlier.draft.claims, ...policy.draft.claims].some((claim) => claim.delta > 0n)) return null;
  const [a, b] = [earlier.draft.channel, policy.draft.channel];
  if (a.shape !== "table" || b.shape !== "table" || a.inputs !== b.inputs) return null;
  if (a.inputs * a.outputs * b.outputs > MAX_JOINT_CELLS) return null;
  const joint = new Dense(96n, a.masses.map((row, x) => row.flatMap((w) => b.masses[x].map((v) => w * v))));
  const holds = ({ draft }) => {
    try {
      check(joint, null, draft.context, draft.claims);
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  };
  return holds(earlier) && holds(policy);
}

/** Budgets of attained LDP per datum, in units of 10^-10 nats. A cost of null has no finite level. */
export class Ledger {
  constructor(budget, data = new Map()) {
    Object.assign(this, { budget, data });
  }

  releases(datum) {
    return this.data.get(datum) ?? [];
  }

  /** What was spent on a datum, or null if a release had no finite level. */
  spent(datum) {
    return this.releases(datum).reduce((total, { cost }) => (total === null || cost === null ? null : total + cost), 0n);
  }

  /** `fresh`, or `repeat` for a policy that has answered; throws `Exhausted`. */
  request(datum, policy, earlier = null) {
    if (this.releases(datum).some((release) => release.policy === policy.id)) return "repeat";
    return this.spend(datum, policy, earlier);
  }

  /** Pays for an independent new answer. */
  spend(datum, policy, earlier = null) {
    const [past, spent, cost] = [this.releases(datum), this.spent(datum), policy.cost];
    if (spent !== null && cost !== null) {
      if (spent + cost > this.budget) {
        const of = `the budget is ${natsText(this.budget)} nats, ${natsText(spent)} are spent`;
        throw new Exhausted("budget", `${of} and this release costs ${natsText(cost)}`);
      }
    } else if (past.length > 0) {
      const known = earlier !== null && past.length === 1 && past[0].policy === earlier.id;
      const together = known ? verifyTogether(earlier, policy) : null;
      if (together === false) {
        throw new Exhausted("not_composable_checked", "this datum was released before, and both releases together break a claim");
      }
      if (together === null) {
        throw new Exhausted("not_composable", "this datum was released before, and a policy without a finite LDP level is used once per datum");
      }
    }
    this.data.set(datum, [...past, { policy: policy.id, cost }]);
    return "fresh";
  }

  /** What the LDP spent means for belief under a prior (weights in units of 2^-32), or null. */
  lipConsequence(datum, weights) {
    const spent = this.spent(datum);
    if (spent === null) return null;
    const raised = expUp(spent);
    if (raised === null) return spent;
    const lightest = weights.reduce(min);
    return min(lnUp(lightest * ONE + (WEIGHT_ONE - lightest) * raised, WEIGHT_ONE * ONE), spent);
  }
}

// ---------------------------------------------------------------- consent

/**
 * Three numbers in nats; null sets no limit. A policy is judged by what it attains without any delta, never by
 * what it claims: its LDP; its two-sided LIP where its context is known (without a context LDP alone judges, and
 * stands in for LIP if it has no limit of its own); and for a named secret the LDP of that secret, or of the input
 * if the policy does not know the secret (which bounds every secret behind it).
 * The defaults are ln 3, 2 ln 3 and none.
 */
export class Consent {
  constructor({ lip = "1.0986122887", ldp = "2.1972245774", secret = null } = {}) {
    this.lip = lip === null ? null : parseNats(lip);
    this.ldp = ldp === null ? null : parseNats(ldp);
    this.secret = secret && { name: secret.name, ldp: parseNats(secret.ldp) };
  }

  /** Throws `AboveConsent`. */
  check(policy) {
    const exceeds = (attained, allowed) => allowed !== null && (attained === null || attained > allowed);
    if (exceeds(policy.cost, this.ldp)) throw new AboveConsent("ldp", policy.cost, this.ldp);
    const lip = policy.lip === undefined && this.ldp === null ? policy.cost : policy.lip;
    if (lip !== undefined && exceeds(lip, this.lip)) throw new AboveConsent("lip", lip, this.lip);
    if (this.secret) {
      const { context } = policy.draft;
      const known = context.kind === "secret" && context.name === this.secret.name;
      const attained = known ? policy.secretLdp : policy.cost;
      const of = ` about ${JSON.stringify(this.secret.name)}`;
      if (exceeds(attained, this.secret.ldp)) throw new AboveConsent("secret", attained, this.secret.ldp, of);
    }
  }
}

// ---------------------------------------------------------------- devices

/**
 * A device keeps one state: `{ budget, data, policies }`, as the Rust client keeps it in its file (`device/1`):
 * for each datum its releases and the reports drawn, and the bytes of small policies. Never the raw answer.
 *
 * Every device has `load()`, which gives `{ state, version }`, and `replace(version, state)`, which stores the
 * state durably if the version is still that one and gives false otherwise. So two tabs cannot both spend.
 */
const DEFAULT_BUDGET = "2.1972245774";
const KEPT_POLICY = 1 << 16;

const emptyState = (budget = DEFAULT_BUDGET) => ({ budget: natsText(parseNats(budget)), data: [], policies: [] });

/** Report fields in alphabetical order, as the Rust client writes them. */
const sortedReport = (report) => {
  const fields = JSON.parse(JSON.stringify(report));
  return Object.fromEntries(Object.keys(fields).sort().map((name) => [name, fields[name]]));
};

/** FNV-1a over the state as it is written: finds damage, not malice. */
function checkOf(state) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of encoder.encode(JSON.stringify(state))) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}

/** The text of a device file. */
export function encodeDevice(state) {
  return `${JSON.stringify({ undertone: "device/1", check: checkOf(state), state }, null, 2)}\n`;
}

/** Reads a device file; anything doubtful is refused, never replaced by an empty state. */
export function decodeDevice(text) {
  const damaged = (why) => {
    throw new DeviceError("damaged", `the device's memory is damaged (${why}): nothing is released, because what has been spent is not known`);
  };
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    damaged("it is not JSON");
  }
  if (file?.undertone !== "device/1") damaged("its version is not known here");
  const { state } = file;
  if (!isObject(state) || checkOf(state) !== file.check) damaged("its check does not match its content");
  try {
    parseNats(state.budget);
    const seen = new Set();
    for (const { datum, releases, answers } of state.data) {
      if (typeof datum !== "string" || seen.has(datum)) damaged("a datum occurs twice");
      seen.add(datum);
      releases.forEach(({ cost }) => cost === null || parseNats(cost));
      for (const { report } of answers) {
        const { policy } = Report.fromJson(report);
        if (!releases.some((release) => release.policy === policy)) damaged("a report is not in the ledger");
      }
    }
    if (!state.policies.every((digits) => fromHex(digits) !== null)) damaged("a policy is not hexadecimal");
  } catch (error) {
    if (error instanceof DeviceError) throw error;
    damaged(error.message);
  }
  return state;
}

/** Forgets everything with the page or process. */
export class MemoryDevice {
  constructor({ budget } = {}) {
    this.version = 0;
    this.text = encodeDevice(emptyState(budget));
  }
  async load() {
    return { state: decodeDevice(this.text), version: this.version };
  }
  async replace(version, state) {
    if (version !== this.version) return false;
    this.text = encodeDevice(state);
    this.version += 1;
    return true;
  }
}

const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(new DeviceError("io", `the browser's storage failed: ${request.error?.message}`));
  });

/** In the browser's IndexedDB, shared by all tabs of one origin. */
export class BrowserDevice {
  constructor(database, budget) {
    Object.assign(this, { database, budget });
  }
  static async open(name = "undertone", { budget } = {}) {
    if (!globalThis.indexedDB) throw new DeviceError("io", "this browser keeps nothing (no IndexedDB), so no budget could be kept");
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("device");
    return new BrowserDevice(await settled(request), budget);
  }
  async load() {
    const stored = await settled(this.database.transaction("device").objectStore("device").get("state"));
    if (stored === undefined) return { state: emptyState(this.budget), version: 0 };
    return { state: decodeDevice(stored.text), version: stored.version };
  }
  replace(version, state) {
    return new Promise((resolve, reject) => {
      // Compare and write in one transaction.
      const transaction = this.database.transaction("device", "readwrite", { durability: "strict" });
      const store = transaction.objectStore("device");
      let written = false;
      const request = store.get("state");
      request.onsuccess = () => {
        if ((request.result?.version ?? 0) !== version) return;
        written = true;
        store.put({ version: version + 1, text: encodeDevice(state) }, "state");
      };
      transaction.oncomplete = () => resolve(written);
      const failed = () => reject(new DeviceError("io", `the browser's storage failed: ${transaction.error?.message}`));
      transaction.onerror = failed;
      transaction.onabort = failed;
    });
  }
  /** A number or text of the page's own, such as the person's consent. */
  async setting(key, value) {
    const mode = value === undefined ? "readonly" : "readwrite";
    const store = this.database.transaction("device", mode).objectStore("device");
    return settled(value === undefined ? store.get(`setting:${key}`) : store.put(value, `setting:${key}`));
  }
}

/** In a file, for Node; the same file the Rust client writes. One process at a time. */
export class FileDevice {
  constructor(fs, path) {
    Object.assign(this, { fs, path });
  }
  /** A new file; refused if there is one. */
  static async create(path, { budget } = {}) {
    const device = new FileDevice(await import("node:fs/promises"), path);
    await device.#locked(async () => {
      if (await device.#exists()) throw new DeviceError("exists", `${path} exists already: open it instead`);
      await device.#write(encodeDevice(emptyState(budget)));
    });
    return device;
  }
  /** An existing file. */
  static async open(path) {
    const device = new FileDevice(await import("node:fs/promises"), path);
    if (!(await device.#exists())) throw new DeviceError("missing", `there is no device file ${path}: create it first`);
    await device.load();
    return device;
  }
  async load() {
    const text = await this.fs.readFile(this.path, "utf8");
    return { state: decodeDevice(text), version: text };
  }
  async replace(version, state) {
    return this.#locked(async () => {
      if ((await this.fs.readFile(this.path, "utf8")) !== version) return false;
      await this.#write(encodeDevice(state));
      return true;
    });
  }
  #exists() {
    return this.fs.access(this.path).then(
      () => true,
      () => false,
    );
  }
  /** Beside, synced, renamed, directory synced. */
  async #write(text) {
    const beside = `${this.path}.new`;
    const file = await this.fs.open(beside, "w", 0o600);
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await this.fs.rename(beside, this.path);
    const { dirname } = await import("node:path");
    const directory = await this.fs.open(dirname(this.path));
    await directory.sync();
    await directory.close();
  }
  /** Holds `<path>.taken` while `action` runs; one that a dead process left behind is taken over. */
  async #locked(action) {
    const taken = `${this.path}.taken`;
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.fs.writeFile(taken, String(process.pid), { flag: "wx" });
        break;
      } catch (error) {
        if (error.code !== "EEXIST") throw new DeviceError("io", error.message);
        const owner = Number(await this.fs.readFile(taken, "utf8").catch(() => ""));
        if (owner && !alive(owner)) await this.fs.rm(taken, { force: true });
        else if (attempt > 100) throw new DeviceError("in_use", `${this.path} is in use by process ${owner}`);
        else await sleep(20);
      }
    }
    try {
      return await action();
    } finally {
      await this.fs.rm(taken, { force: true });
    }
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

// ---------------------------------------------------------------- the client

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const MAX_BATCH = 10_000;

/** Whether sending the same again cannot help. Time-outs, too many requests and everything else may. */
const isFinal = (status) => status >= 400 && status < 500 && ![408, 425, 429].includes(status);

const isSurveyId = (id) => /^[a-z0-9-]{1,64}$/.test(id);

/** A device, its owner's consent, and a curator. */
export class Client {
  constructor(base, { device = new MemoryDevice(), consent = new Consent(), retry = {}, form = "json", fetch = globalThis.fetch } = {}) {
    const url = new URL(base);
    if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
      throw new ClientError("address", `${base} is not a curator's address`);
    }
    this.base = url.href.replace(/\/+$/, "");
    this.device = device;
    this.consent = consent;
    this.form = form;
    this.retry = { attempts: 4, first: 200, longest: 10_000, ...retry };
    this.fetch = (...request) => fetch(...request);
    this.verified = new Map();
  }

  /** Sends until there is a final answer or patience ends; `read` turns a response into a value or throws. */
  async #patiently(path, request, read) {
    for (let done = 0; ; done += 1) {
      let [reason, wait] = ["", 0];
      try {
        const response = await this.fetch(`${this.base}${path}`, {
          credentials: "omit",
          redirect: "error",
          referrerPolicy: "no-referrer",
          signal: AbortSignal.timeout(60_000),
          ...request,
        });
        const value = await read(response);
        if (value !== undefined) return value;
        if (isFinal(response.status)) {
          const problem = await response.json().catch(() => ({}));
          const { code = "", detail = "" } = problem ?? {};
          const refused = { status: response.status, code: String(code), detail: String(detail) };
          throw new ClientError("refused", `the curator refuses: ${refused.status} (${refused.code}): ${refused.detail}`, refused);
        }
        reason = `the answer has status ${response.status}`;
        wait = 1000 * (Number(response.headers.get("retry-after")) || 0);
      } catch (error) {
        if (error instanceof ClientError || error instanceof DecodeError) throw error;
        reason = error.message;
      }
      if (done + 1 >= this.retry.attempts) throw new ClientError("unavailable", `the curator cannot be reached or is busy: ${reason}`);
      const doubled = Math.min(this.retry.first * 2 ** done, this.retry.longest) * (1 + Math.random() / 2);
      await sleep(Math.min(Math.max(doubled, wait), this.retry.longest));
    }
  }

  #get(path) {
    return this.#patiently(path, { method: "GET" }, (response) => (response.status === 200 ? response.text() : undefined));
  }

  /** Fetches a survey and its policy, checks every claim, that it is the policy asked for, and that it asks what it encodes. */
  async survey(id, { group = null, datum = id } = {}) {
    if (!isSurveyId(id)) throw new ClientError("survey_id", `${id} is not a survey's id: it has 1 to 64 of a-z, 0-9 and -`);
    const found = parsed(await this.#get(`/v1/surveys/${id}`));
    if (found?.id !== id || !Array.isArray(found.round?.groups)) throw new ClientError("malformed", "what came is not the survey asked for");
    const { groups } = found.round;
    const own = group === null ? (groups.length === 1 ? groups[0] : undefined) : groups.find((one) => one.group === group);
    if (!own) throw new ClientError("group", `the survey has the groups ${groups.map((one) => one.group).join(", ")}: name yours`);
    const policy = await this.policy(own.policy);
    if (JSON.stringify(readAlphabet(found.answers)) !== JSON.stringify(policy.inputs)) {
      throw new ClientError("answers", "the survey's answers are not the policy's inputs: nothing is sent under it");
    }
    return { ...found, open: found.round.state === "open", group: own.group, people: own.people, policy, datum };
  }

  /** Fetches and verifies a policy, once. */
  async policy(id) {
    if (!/^[0-9a-f]{64}$/.test(id)) throw new ClientError("malformed", `${id} is not a policy's id`);
    if (!this.verified.has(id)) {
      const policy = await Policy.fromJson(await this.#get(`/v1/policies/${id}`));
      if (policy.id !== id) throw new ClientError("other_policy", `policy ${id} was asked for and ${policy.id} came`);
      this.verified.set(id, policy);
    }
    return this.verified.get(id);
  }

  /** Changes the device's state; drawn again if another tab was faster, before anything is sent. */
  async #change(action) {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const { state, version } = await this.device.load();
      const result = await action(state);
      if (result.unchanged || (await this.device.replace(version, state))) return result;
    }
    throw new DeviceError("in_use", "the device's memory is being changed all the time by something else");
  }

  /** Draws (or remembers) a report and writes it down without sending it. */
  async record(survey, symbol, { random = systemRandom } = {}) {
    const { policy, datum } = survey;
    const entry = (report) => ({ curator: this.base, survey: survey.id, report: sortedReport(report), delivery: "waiting" });
    return this.#change(async (state) => {
      const page = state.data.find((one) => one.datum === datum) ?? { datum, releases: [], answers: [] };
      const known = page.answers.find(({ report }) => report.policy === policy.id);
      if (known) {
        const report = Report.fromJson(known.report);
        const here = page.answers.find((one) => one.report.policy === policy.id && one.survey === survey.id && one.curator === this.base);
        if (!here) page.answers.push(entry(report));
        return { report, repeated: true, delivery: here?.delivery ?? "waiting", unchanged: Boolean(here) };
      }
      if (!survey.open) throw new ClientError("not_open", `round ${survey.round.number} of this survey is not open: nothing was drawn`);
      this.consent.check(policy);
      const past = page.releases.map(({ policy: id, cost }) => ({ policy: id, cost: cost === null ? null : parseNats(cost) }));
      const ledger = new Ledger(parseNats(state.budget), new Map([[datum, past]]));
      const earlier = past.length === 1 ? await keptPolicy(state, past[0].policy) : null;
      if (ledger.request(datum, policy, earlier) === "repeat") {
        throw new ClientError("forgotten", "the ledger says this policy has answered, but the report is not on the device");
      }
      const report = Report.draw(policy, symbol, random);
      page.releases = ledger.releases(datum).map(({ policy: id, cost }) => ({ policy: id, cost: cost === null ? null : natsText(cost) }));
      page.answers.push(entry(report));
      if (!state.data.includes(page)) state.data.push(page);
      state.data.sort((a, b) => ascending(a.datum, b.datum));
      const digits = toHex(policy.bytes);
      if (past.length === 0 && policy.bytes.length <= KEPT_POLICY && !state.policies.includes(digits)) state.policies.push(digits);
      return { report, repeated: false, delivery: "waiting", unchanged: false };
    });
  }

  /** Sends the report that was recorded for a survey; gives its delivery and, if it waits, why. */
  async send(survey) {
    const answers = await this.answers();
    const own = answers.find((one) => one.survey === survey.id && one.curator === this.base && one.datum === survey.datum && one.report.policy === survey.policy.id);
    if (!own) throw new ClientError("nothing", "there is no answer to send");
    if (own.delivery === "accepted") return { delivery: "accepted", obstacle: null };
    return this.#deliver(survey.id, [own]);
  }

  /** Draws (or remembers), writes down, and sends. A report that cannot be sent now waits on the device. */
  async answer(survey, symbol, options) {
    const { report, repeated } = await this.record(survey, symbol, options);
    return { report, repeated, ...(await this.send(survey)) };
  }

  /** Every report drawn on this device. */
  async answers() {
    const { state } = await this.device.load();
    return state.data.flatMap(({ datum, answers }) => answers.map((one) => ({ ...one, datum, report: Report.fromJson(one.report) })));
  }

  /** What was spent on a datum, and the budget, in units of 10^-10 nats. */
  async spent(datum) {
    const { state } = await this.device.load();
    const releases = state.data.find((one) => one.datum === datum)?.releases ?? [];
    const costs = releases.map(({ cost }) => (cost === null ? null : parseNats(cost)));
    return { spent: costs.includes(null) ? null : sum(costs), budget: parseNats(state.budget) };
  }

  /** Changes the budget of each datum; what has been spent stays spent. */
  async setBudget(text) {
    const budget = natsText(parseNats(text));
    await this.#change((state) => {
      state.budget = budget;
      return {};
    });
  }

  /** Sends reports of one survey; returns once the curator has acknowledged all of them, else throws `ClientError`. */
  async submit(survey, reports) {
    if (!isSurveyId(survey)) throw new ClientError("survey_id", `${survey} is not a survey's id`);
    if (reports.length === 0 || reports.length > MAX_BATCH) throw new ClientError("body", `send 1 to ${MAX_BATCH} reports at a time`);
    const { type, body } = encodeBody(reports, this.form);
    const request = { method: "POST", headers: { "content-type": type }, body };
    await this.#patiently(`/v1/surveys/${survey}/reports`, request, async (response) => {
      if (response.status !== 202) return undefined;
      const { accepted } = await response.json().catch(() => ({}));
      return accepted === reports.length ? true : undefined;
    });
  }

  /** Tries to send a batch; what came of it is noted unless it may go again in parts. */
  async #deliver(survey, batch) {
    let [delivery, obstacle] = ["accepted", null];
    try {
      await this.submit(survey, batch.map(({ report }) => report));
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      if (error.code === "refused" && batch.length > 1) return { delivery: "split", obstacle };
      if (error.code === "refused") delivery = { refused: error.problem };
      else [delivery, obstacle] = ["waiting", error.message];
    }
    const done = new Set(batch.map(({ datum, report }) => `${report.id} ${datum}`));
    await this.#change((state) => {
      for (const { datum, answers } of state.data) {
        for (const one of answers) {
          if (one.survey === survey && one.curator === this.base && done.has(`${one.report.id} ${datum}`)) one.delivery = delivery;
        }
      }
      return {};
    });
    return { delivery, obstacle };
  }

  /** Sends everything that waits for this curator, in batches of one policy; a refused batch goes again one by one. */
  async flush() {
    const groups = new Map();
    for (const one of await this.answers()) {
      if (one.delivery !== "waiting" || one.curator !== this.base) continue;
      const key = `${one.survey} ${one.report.policy}`;
      groups.set(key, [...(groups.get(key) ?? []), one]);
    }
    const flushed = { accepted: 0, refused: 0, waiting: 0, obstacle: null };
    const send = async (batch) => {
      if (flushed.obstacle !== null) {
        flushed.waiting += batch.length;
        return;
      }
      const { delivery, obstacle } = await this.#deliver(batch[0].survey, batch);
      if (delivery === "split") {
        for (const one of batch) await send([one]);
        return;
      }
      flushed[typeof delivery === "object" ? "refused" : delivery] += batch.length;
      flushed.obstacle = obstacle;
    };
    for (const group of groups.values()) {
      for (let at = 0; at < group.length; at += MAX_BATCH) await send(group.slice(at, at + MAX_BATCH));
    }
    return flushed;
  }
}

/** JSON, or null. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The policy of an earlier release, if the device kept it. */
async function keptPolicy(state, id) {
  for (const digits of state.policies) {
    const bytes = fromHex(digits);
    if ((await sha256(bytes)) === id) return Policy.fromBytes(bytes);
  }
  return null;
}

/** The body that would be sent for some reports, and its media type. */
export function encodeBody(reports, form = "json") {
  if (form === "binary") return { type: "application/vnd.undertone.reports", body: encodeReports(reports) };
  return { type: "application/json", body: JSON.stringify(reports.length === 1 ? reports[0] : { reports }) };
}
