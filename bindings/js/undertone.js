/**
 * Undertone for browsers and Node: verify a policy exactly, randomise, remember, send.
 *
 * One module, no dependencies. Every check is made in BigInt on the integers that are sampled; there are
 * no floats in it. The formats are those of `vectors/v1`, all of which this file is tested with.
 * What leaves the device is a report. The raw answer is neither stored nor sent.
 *
 * Parts, in this order: errors, strict JSON, bytes, decimals, nats and ratios, epsilon, alphabets, the
 * policy document, canonical bytes, verification, drawing, reports, sequences of releases, consent, the ledger,
 * devices, the client.
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

/**
 * A release with which everything released about one datum would tell more than the person agreed to: `number` is
 * `ldp`, `lip` or `secret`, and for the last `secret` is its name.
 */
export class AboveConsent extends Error {
  constructor(number, attained, allowed, secret = null) {
    const reached = attained === null ? "no finite level" : `${natsText(attained)} nats`;
    const everything = "of everything released about this datum could reach";
    const said = {
      ldp: `with this release the LDP ${everything} ${reached}`,
      lip: `with this release belief about this datum could change by ${reached} in all`,
      secret: `with this release the LDP about ${JSON.stringify(secret)} ${everything} ${reached}`,
    }[number];
    super(`${said}, and you agreed to ${natsText(allowed)} nats`);
    this.name = "AboveConsent";
    this.number = number;
    this.attained = attained === null ? null : natsText(attained);
    this.allowed = natsText(allowed);
    this.secret = secret;
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

/** What went wrong between this device and a curator; `code` is stable. With `group`, `groups` lists the survey's. */
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

/** Reads JSON strictly: integers exactly (as BigInt), repeated fields refused. A number with a sign, a fraction or an exponent is a Number. */
export const parseJson = (text) => readJson(text, Number);

/** A number written with a sign, a fraction or an exponent, as no document of ours writes one. */
class NotAnInteger {
  constructor(written) {
    this.written = written;
  }
}

/** A document as the kernel reads it: no number with a sign, a fraction or an exponent is an integer, not even `1.0`. */
const parseDocument = (text) => readJson(text, (written) => new NotAnInteger(written));

function readJson(text, otherNumber) {
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
    return /^[0-9]+$/.test(match[0]) ? BigInt(match[0]) : otherNumber(match[0]);
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
/** Every integer of a document is at most this, so that any JSON parser reads it exactly. */
const LARGEST_INTEGER = 2n ** 53n - 1n;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NotAnInteger);

/** An object with no fields but `required` and `optional`. */
function record(value, what, required, optional = []) {
  if (!isObject(value)) refuse("json", `${what} must be an object`);
  for (const name of required) if (!(name in value)) refuse("json", `${what} has no field ${name}`);
  for (const name of Object.keys(value)) {
    if (!required.includes(name) && !optional.includes(name)) refuse("json", `${what} has an unknown field ${name}`);
  }
  return value;
}

function integer(value, what, largest = LARGEST_INTEGER) {
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
  const { source, n, date, confidence, rounding } = provenance;
  if (utf8Length(source) > 500) refuse("draft", "provenance.source has more than 500 bytes");
  if (n > LARGEST_INTEGER) refuse("draft", "provenance.n is not below 2^53");
  if (rounding > LARGEST_INTEGER) refuse("draft", "provenance.rounding is not below 2^53");
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

/** Rows of likelihoods in units of 2^-unit: a table, or a table times what was released before it. */
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

/**
 * Columns that single out one symbol each: the entry of x in column y is rest(x) base(y), but own(y) where x = y. The shape
 * keep is of this form; so are the patterns of bits in which one symbol's bit differs from all others.
 */
class Singled {
  constructor(own, rest, base) {
    const byRest = rest.map((_, x) => x).sort((a, b) => ascending(rest[a], rest[b]) || a - b);
    Object.assign(this, { outputs: own.length, own, rest, base, byRest });
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
  mixture(weights) {
    const weighted = weights.map((weight, x) => weight * this.rest[x]);
    const all = sum(weighted);
    return weights.map((weight, y) => (all - weighted[y]) * this.base[y] + weight * this.own[y]);
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

/** The shape keep. */
class KeepView extends Singled {
  constructor({ keep, base }) {
    const rest = keep.map((k) => KEEP_ONE - k);
    super(
      keep.map((k, x) => k * MASS_ONE + rest[x] * base[x]),
      rest,
      base,
    );
    Object.assign(this, { unit: 88n, inputs: keep.length, keep });
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
  // Where other bits are never (or always) set, belief in x falls at the pattern of another symbol, not at the complement of its own.
  const apart = bits.other === 0n || bits.other === WEIGHT_ONE;
  for (let x = 0; x < bits.inputs; x += 1) {
    const [weight, one, prior] = leastWeight(context, x);
    const rest = one - weight;
    upper = worse(upper, high * one, weight * high + rest * low, { ...CELL, output: x, high: x, prior });
    lower = worse(lower, weight * low + rest * high, low * one, { ...CELL, output: apart ? null : x, low: x, prior });
  }
  return { ldp, upper, lower };
}

/** The symbols in descending order of a/b; 0/0 last, where it cannot matter. */
function byRatio(a, b) {
  const empty = (x) => (a[x] === 0n && b[x] === 0n ? 1 : 0);
  return a.map((_, x) => x).sort((x, z) => empty(x) - empty(z) || ascending(a[z] * b[x], a[x] * b[z]));
}

/** What bits attain about the secret: the worst sets are prefixes of the order by the ratio of two rows. */
function bitsSecretStrength(bits, context) {
  const [high, low] = bitLikelihoods(bits);
  const gap = high - low;
  const floor = low * WEIGHT_ONE * WEIGHT_ONE;
  const data = Array.from({ length: bits.inputs }, (_, x) => dataWeight(context, x));
  const rows = context.rows.map((row) => row.map((w) => w * WEIGHT_ONE));
  const worstSet = (a, b, worst, cell) => {
    let [sumA, sumB, found] = [0n, 0n, worst];
    for (const x of byRatio(a, b)) {
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
      // Of bits, the pattern in which only the heaviest input's bit speaks for its symbol, if bits speak at all.
      const own = channel.own === channel.other ? null : high[1];
      const output = view === null ? own : y;
      worst = worse(worst, high[0], low[0], { output, high: high[1], low: low[1], prior: context.kind === "priors" ? at : null });
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
    const { draft, id } = draftFromFields(typeof document === "string" ? parseDocument(document) : document);
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
    const v = typeof value === "string" ? parseDocument(value) : value;
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

// ---------------------------------------------------------------- sequences of releases

/** Most cells looked at for one answer: symbols, times the outputs of releases whose answers are unknown, times those of the next. */
const MAX_CELLS_LISTED = 2 ** 22;
/** How far a likelihood may have changed is counted in units of 2^-64. */
const ODDS_ONE = 1n << 64n;
const UNBOUNDED = { n: 1n, d: 0n };

const largerRatio = (a, b) => (ratioAbove(a, b) ? a : b);
const smallerRatio = (a, b) => (ratioAbove(a, b) ? b : a);
/** The larger of a ratio and n/d, of which 0/0 says nothing. */
const raised = (worst, n, d) => (n === 0n && d === 0n ? worst : largerRatio({ n, d }, worst));

/** The sum of costs, or null if one has no finite level. */
const totalCost = (costs) => costs.reduce((total, cost) => (total === null || cost === null ? null : total + cost), 0n);

/** e^units rounded up to 2^-64; null above 40 nats, where nothing is told apart from certainty, and without a finite level. */
function oddsUp(units) {
  if (units === 0n) return ODDS_ONE;
  return units === null || units > 40n * UNIT ? null : (expUp(units) >> 56n) + 1n;
}

/** Whether two plain values are the same, field by field. */
function sameValue(a, b) {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a)) return a.length === b.length && a.every((item, at) => sameValue(item, b[at]));
  return Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((name) => sameValue(a[name], b[name]));
}

/**
 * For every symbol of an alphabet in order, its index in another; null unless both have the same symbols. Names may come
 * in any order; bare indices match bare indices of the same number only.
 */
function orderIn(alphabet, other) {
  if (sameValue(alphabet, other)) return Array.from({ length: alphabet.size }, (_, x) => x);
  if (alphabet.kind !== "names" || other.kind !== "names" || alphabet.size !== other.size) return null;
  const index = new Map(other.names.map((name, at) => [name, at]));
  const order = alphabet.names.map((name) => index.get(name));
  return order.includes(undefined) ? null : order;
}

/** A context with its symbols in another order: symbol i is symbol `order[i]` of this one. */
function reorderedContext(context, order) {
  const pick = (list) => order.map((x) => list[x]);
  switch (context.kind) {
    case "prior":
      return { ...context, weights: pick(context.weights) };
    case "priors":
      return { ...context, list: context.list.map(pick) };
    case "box":
      return { ...context, lower: pick(context.lower), upper: pick(context.upper) };
    case "secret":
      return { ...context, rows: context.rows.map(pick) };
    default:
      return context;
  }
}

const isSet = (packed, x) => (packed[x >> 3] & (0x80 >> (x & 7))) !== 0;

/** w(y|x) for every input x, up to a common factor; y is `{ token }` or `{ bits }`. */
function likelihoods(channel, { token, bits }) {
  if (channel.shape === "table") return channel.masses.map((row) => row[token]);
  if (channel.shape === "keep") {
    const base = channel.base[token];
    return channel.keep.map((kept, x) => (x === token ? kept * MASS_ONE : 0n) + (KEEP_ONE - kept) * base);
  }
  const { own, other, inputs } = channel;
  const [set, clear] = [own * (WEIGHT_ONE - other), (WEIGHT_ONE - own) * other];
  const entries = Array.from({ length: inputs }, (_, x) => (isSet(bits, x) ? set : clear));
  // Where other bits are certain the common factor can be nought; then nothing tells symbols apart.
  return entries.every((entry) => entry === 0n) ? entries.fill(1n) : entries;
}

/** How many answers a channel can give, where they can be listed; null otherwise. */
function listedAnswers({ shape, inputs, outputs }) {
  if (shape !== "bits") return outputs;
  return inputs <= 16 ? 2 ** inputs : null;
}

/** The answer with this number among all a channel can give. */
function answerAt({ shape, inputs }, number) {
  if (shape !== "bits") return { token: number, bits: null };
  const bits = new Uint8Array(Math.ceil(inputs / 8));
  for (let x = 0; x < inputs; x += 1) if ((number >> x) & 1) bits[x >> 3] |= 0x80 >> (x & 7);
  return { token: null, bits };
}

/** A factor times the likelihoods of one more release, whose symbol `order[x]` is x; without the twos all entries share. */
function times(factor, channel, answer, order) {
  const found = likelihoods(channel, answer);
  const product = factor.map((entry, x) => entry * found[order[x]]);
  let shared = product.reduce((all, entry) => all | entry, 0n);
  let twos = 0n;
  while (shared !== 0n && (shared & 0xffffn) === 0n) [shared, twos] = [shared >> 16n, twos + 16n];
  return twos === 0n ? product : product.map((entry) => entry >> twos);
}

const isImpossible = (factor) => factor.every((entry) => entry === 0n);

/** What has to be looked at: the factor alone, or with every output of one more release that can be worst. */
function columnsOf(channel, factor) {
  if (channel === null) return [new Dense(0n, factor.map((entry) => [entry]))];
  if (channel.shape === "table") return [new Dense(0n, channel.masses.map((row, x) => row.map((mass) => factor[x] * mass)))];
  if (channel.shape === "keep") {
    const { own, rest, base } = new KeepView(channel);
    return [new Singled(own.map((entry, x) => entry * factor[x]), rest.map((entry, x) => entry * factor[x]), base)];
  }
  const [high, low] = bitLikelihoods(channel);
  const by = (entry) => factor.map((own) => own * entry);
  // One bit alone speaks for its symbol, or one alone against it.
  const ones = new Array(factor.length).fill(1n);
  return [new Singled(by(high), by(low), ones), new Singled(by(low), by(high), ones)];
}

/** A declared context and what was found under it. */
class Found {
  constructor(context) {
    const secretBelief = context.kind === "secret" ? { rise: RATIO_ONE, fall: RATIO_ONE } : null;
    Object.assign(this, { context, upper: RATIO_ONE, lower: RATIO_ONE, secret: RATIO_ONE, secretBelief, orders: null });
  }

  unbounded() {
    Object.assign(this, { upper: UNBOUNDED, lower: UNBOUNDED, secret: UNBOUNDED });
    if (this.secretBelief !== null) this.secretBelief = { rise: UNBOUNDED, fall: UNBOUNDED };
  }

  /** Least and greatest mixture of every column over one prior or a box, the lightest weight, and the unit of weights. */
  *#ranges(columns) {
    const { context } = this;
    const of = (weights, unit) => {
      const sums = columns.mixture(weights);
      return { least: sums, greatest: sums, lightest: weights.reduce(min), unit };
    };
    if (context.kind === "prior") yield of(context.weights, 32n);
    if (context.kind === "priors") for (const weights of context.list) yield of(weights, 32n);
    if (context.kind === "secret") yield of(context.rows[0].map((_, x) => dataWeight(context, x)), 64n);
    if (context.kind === "box") {
      const ranges = columns.boxRanges(context);
      const lightest = context.lower.map((_, x) => leastWeight(context, x)[0]).reduce(min);
      yield { least: ranges.map(([least]) => least), greatest: ranges.map(([, greatest]) => greatest), lightest, unit: 32n };
    }
  }

  /**
   * Belief in the input: likelihoods against their mixtures. With releases that may have changed any likelihood by G = odds / 2^64,
   * belief rises by at most G t / (p t (G - 1) + T) and falls by at most (G T - p (G - 1) b) / b.
   */
  belief(columns, extremes, odds) {
    for (const { least, greatest, lightest, unit } of this.#ranges(columns)) {
      extremes.forEach(([top, bottom], y) => {
        const more = lightest * (odds - ODDS_ONE);
        this.upper = raised(this.upper, (top * odds) << unit, more * top + (least[y] << 64n));
        this.lower = raised(this.lower, positive(greatest[y] * odds - more * bottom), bottom << (unit + 64n));
      });
    }
  }

  /** The secret's likelihoods against each other, and against their mixture. */
  secretColumns(columns) {
    const { weights, rows } = this.context;
    const pushed = rows.map((row) => columns.mixture(row));
    for (let y = 0; y < columns.outputs; y += 1) {
      const column = pushed.map((row) => row[y]);
      const { high, low } = extremesOf(column);
      const mixed = column.reduce((total, entry, s) => total + weights[s] * entry, 0n);
      this.secret = raised(this.secret, high[0], low[0]);
      const { rise, fall } = this.secretBelief;
      this.secretBelief = { rise: raised(rise, high[0] << 32n, mixed), fall: raised(fall, mixed, low[0] << 32n) };
    }
  }

  /**
   * The secret's likelihoods against each other where the next output multiplies those of an arbitrary set of symbols by
   * `high` and the others by `low`: the worst sets are prefixes of the order by P(x|s) / P(x|s').
   */
  secretSets(high, low, factor) {
    const { rows } = this.context;
    this.orders ??= rows.map((row) => rows.map((other) => (row === other ? null : byRatio(row, other))));
    const entries = factor === null ? rows : rows.map((row) => row.map((weight, x) => weight * factor[x]));
    const whole = entries.map((row) => low * sum(row));
    const gap = high - low;
    this.orders.forEach((orders, s) =>
      orders.forEach((order, t) => {
        let [top, bottom] = [whole[s], whole[t]];
        for (const x of order ?? []) {
          top += gap * entries[s][x];
          bottom += gap * entries[t][x];
          this.secret = raised(this.secret, top, bottom);
        }
      }),
    );
    // Which output tells most about belief in the secret is not looked for.
    this.secretBelief = null;
  }

  /** Whether a claim holds for the whole; null where that cannot be said. */
  holds(claim) {
    const within = (ratio, epsilon) => !ratioAbove(ratio, epsilon);
    if (claim.about === "input") return within(this.upper, claim.upper) && within(this.lower, claim.lower);
    if (claim.notion === "ldp") return within(this.secret, claim.epsilon);
    if (this.secretBelief === null) return null;
    return within(this.secretBelief.rise, claim.upper) && within(this.secretBelief.fall, claim.lower);
  }
}

/** Releases over one alphabet: only between them are likelihoods multiplied symbol by symbol. */
class Frame {
  constructor(alphabet) {
    Object.assign(this, { alphabet, members: [], contexts: [], ldp: RATIO_ONE });
  }

  /** Adds a release's context, in this frame's order of symbols; gives what is found under it, or null if it declares none. */
  declare(context, order) {
    if (context.kind === "unknown") return null;
    const ordered = reorderedContext(context, order);
    let found = this.contexts.find((one) => sameValue(one.context, ordered));
    if (found === undefined) this.contexts.push((found = new Found(ordered)));
    return found;
  }

  unbounded() {
    this.ldp = UNBOUNDED;
    for (const found of this.contexts) found.unbounded();
  }

  /** Notes what a factor attains, alone or with every output of one more release, if what is missing changed it by `odds`. */
  look(channel, factor, odds) {
    for (const columns of columnsOf(channel, factor)) {
      const extremes = Array.from({ length: columns.outputs }, (_, y) => {
        const { high, low } = columns.extremes(y);
        return [high[0], low[0]];
      });
      for (const [top, bottom] of extremes) this.ldp = raised(this.ldp, top * odds, bottom << 64n);
      for (const found of this.contexts) {
        found.belief(columns, extremes, odds);
        if (found.context.kind === "secret" && channel?.shape !== "bits" && odds === ODDS_ONE) found.secretColumns(columns);
      }
    }
    if (channel?.shape !== "bits" || odds !== ODDS_ONE) return;
    const [high, low] = bitLikelihoods(channel);
    for (const found of this.contexts) if (found.context.kind === "secret") found.secretSets(high, low, factor);
  }

  /** Where something is missing, nothing but the largest ratio of likelihoods is known about a secret. */
  boundSecrets() {
    const most = oddsUp(ratioNats(this.ldp));
    for (const found of this.contexts) {
      if (found.context.kind !== "secret") continue;
      if (most === null) Object.assign(found, { secret: UNBOUNDED, secretBelief: null });
      else found.secretSets(most, ODDS_ONE, null);
    }
  }
}

/** What a sequence attains at worst, over every transcript it may have. Levels are in units of 10^-10 nats, null without bound. */
export class Standing {
  constructor({ exact, ldp, lip, secrets, claims }) {
    // Whether every number is attained; otherwise some are upper bounds.
    this.exact = exact;
    this.ldp = ratioNats(ldp);
    // Undefined if no policy declared a context.
    this.lip = lip === null ? undefined : ratioNats(lip);
    this.secrets = new Map(Array.from(secrets, ([name, ratio]) => [name, ratioNats(ratio)]));
    // Whether all claims of all policies hold for the whole transcript; null if that cannot be said.
    this.claims = claims;
    Object.freeze(this);
  }

  /** What is told about a secret; one that no policy declared is bounded by the LDP of the input. */
  aboutSecret(name) {
    return this.secrets.has(name) ? this.secrets.get(name) : this.ldp;
  }

  /** Levels as printed, as in `vectors/v1/sequence`. */
  toJSON() {
    const shown = (units) => (units === null ? "unbounded" : natsText(units));
    const secrets = Object.fromEntries(Array.from(this.secrets, ([name, units]) => [name, shown(units)]));
    return { exact: this.exact, ldp: shown(this.ldp), lip: this.lip === undefined ? null : shown(this.lip), secrets, claims: this.claims };
  }
}

/** What one release attains by itself: its certificate. */
function standingAlone({ certificate: { input, secret }, draft }) {
  const secrets = secret === null ? [] : [[draft.context.name, secret.ldp.ratio]];
  return new Standing({ exact: true, ldp: input.ldp.ratio, lip: lipRatio(input), secrets, claims: true });
}

/**
 * Everything one device has released about one datum, as far as the device still has it. A claim speaks of one release; what several
 * tell together is judged here, for every output the next one could have, under every context any of the policies declared.
 */
export class Sequence {
  #past = [];

  /** Adds a release whose policy and report are at hand; throws `Foreign` if the policy cannot have released the report. */
  released(policy, report) {
    accept(policy, report);
    this.#past.push({ id: policy.id, policy, answer: { token: report.token, bits: report.bits }, cost: policy.cost });
  }

  /** Adds a release under a policy that is at hand, whatever its answer was. */
  untold(policy) {
    this.#past.push({ id: policy.id, policy, answer: null, cost: policy.cost });
  }

  /** Adds a release of which only its entry in the ledger is left. */
  forgotten({ policy, cost }) {
    this.#past.push({ id: policy, policy: null, answer: null, cost });
  }

  /** Whether these are the releases a ledger has noted, in any order. */
  matches(noted) {
    const ids = (list) => list.slice().sort().join(" ");
    return ids(this.#past.map(({ id }) => id)) === ids(noted.map(({ policy }) => policy));
  }

  /** What everything released attains at worst once `next` has answered too, whatever its answer is. */
  after(next) {
    if (this.#past.length === 0) return standingAlone(next);
    const past = this.#past;
    const frames = [new Frame(next.inputs)];
    const nextContext = frames[0].declare(next.draft.context, orderIn(next.inputs, next.inputs));
    const members = past.flatMap((release) => (release.policy === null ? [] : [memberOf(frames, release)]));
    const listed = this.#listed(next);
    const told = new Set(members.filter(({ release }) => release.answer !== null || listed.includes(release)).map(({ release }) => release));
    // What is not in the transcript may have changed any likelihood by its attained LDP.
    const missing = frames.map((frame, at) => {
      const absent = past.filter((release) => !(told.has(release) && frame.members.some((member) => member.release === release)));
      return oddsUp(totalCost([...absent.map(({ cost }) => cost), ...(at > 0 ? [next.cost] : [])]));
    });
    const atHand = frames.map((frame) => {
      const answered = frame.members.filter(({ release }) => release.answer !== null);
      return answered.reduce((factor, { release, order }) => times(factor, release.policy.draft.channel, release.answer, order), new Array(frame.alphabet.size).fill(1n));
    });
    frames.forEach((frame, at) => {
      // Answers that no symbol can have given: nothing is known about what they tell.
      if (isImpossible(atHand[at]) || missing[at] === null) frame.unbounded();
    });
    const look = (factors) =>
      frames.forEach((frame, at) => {
        const channel = at === 0 ? next.draft.channel : null;
        if (missing[at] !== null && !isImpossible(factors[at])) frame.look(channel, factors[at], missing[at]);
      });
    everyTranscript(
      listed.map((release) => members.find((member) => member.release === release)),
      atHand,
      frames,
      look,
    );
    frames.forEach((frame, at) => {
      if (missing[at] !== null && missing[at] !== ODDS_ONE) frame.boundSecrets();
    });
    const exact = missing.every((odds) => odds === ODDS_ONE);
    const costs = oddsUp(totalCost([...past.map(({ cost }) => cost), next.cost]));
    return summed(frames, costs, exact, claimsHold(frames, past, next, nextContext, exact));
  }

  /** The past releases whose answer is unknown and whose outputs are all tried, the fewest outputs first. */
  #listed(next) {
    const { shape, inputs, outputs } = next.draft.channel;
    const candidates = this.#past
      .filter(({ policy, answer }) => policy !== null && answer === null)
      .map((release) => ({ release, count: listedAnswers(release.policy.draft.channel) }))
      .filter(({ count }) => count !== null)
      .sort((a, b) => a.count - b.count);
    let cells = inputs * (shape === "table" ? outputs : 1);
    const within = ({ count }) => {
      cells *= count;
      return cells <= MAX_CELLS_LISTED;
    };
    const end = candidates.findIndex((candidate) => !within(candidate));
    return candidates.slice(0, end < 0 ? candidates.length : end).map(({ release }) => release);
  }

  /** What several policies attain together at worst, in any order, whatever they answer; null for none. */
  static together(policies) {
    if (policies.length === 0) return null;
    // The one whose outputs are hardest to list comes last, where they need not be listed.
    const hardness = ({ draft: { channel } }) => [Number(listedAnswers(channel) === null), Number(channel.shape !== "table"), channel.outputs];
    const harder = (a, b) => {
      const at = a.findIndex((part, i) => part !== b[i]);
      return at < 0 || a[at] > b[at];
    };
    const last = policies.reduce((worst, policy, at) => (harder(hardness(policy), hardness(policies[worst])) ? at : worst), 0);
    const sequence = new Sequence();
    policies.forEach((policy, at) => {
      if (at !== last) sequence.untold(policy);
    });
    return sequence.after(policies[last]);
  }
}

/** Puts a past release into the frame of its alphabet, a new one if there is none. */
function memberOf(frames, release) {
  const { inputs, context } = release.policy.draft;
  let order = null;
  let frame = frames.find((one) => (order = orderIn(one.alphabet, inputs)) !== null);
  if (frame === undefined) {
    frame = new Frame(inputs);
    order = orderIn(inputs, inputs);
    frames.push(frame);
  }
  const member = { release, frame, order, found: frame.declare(context, order) };
  frame.members.push(member);
  return member;
}

/** Calls `look` with the factors of every transcript: all outputs of the `listed` releases. */
function everyTranscript(listed, factors, frames, look) {
  if (listed.length === 0) {
    look(factors);
    return;
  }
  const [{ release, frame, order }, ...others] = listed;
  const { channel } = release.policy.draft;
  const at = frames.indexOf(frame);
  for (let number = 0; number < listedAnswers(channel); number += 1) {
    const factor = times(factors[at], channel, answerAt(channel, number), order);
    // An answer that cannot follow those before it is not part of any transcript.
    if (isImpossible(factor) && !isImpossible(factors[at])) continue;
    everyTranscript(
      others,
      factors.map((before, f) => (f === at ? factor : before)),
      frames,
      look,
    );
  }
}

/** The standing of all frames together, `costs` being what all costs add up to. */
function summed(frames, costs, exact, claims) {
  const sums = costs === null ? [] : [{ n: costs, d: ODDS_ONE }];
  const ldp = [...frames.map((frame) => frame.ldp), ...sums].reduce(smallerRatio);
  const found = frames.flatMap((frame) => frame.contexts);
  // Where the rest are bounds, LDP may be the better one: it bounds belief and every secret.
  const lip = found.length === 0 ? null : smallerRatio(found.map(({ upper, lower }) => largerRatio(upper, lower)).reduce(largerRatio), ldp);
  const secrets = new Map();
  for (const { context, secret } of found.filter((one) => one.context.kind === "secret")) {
    secrets.set(context.name, largerRatio(smallerRatio(secret, ldp), secrets.get(context.name) ?? RATIO_ONE));
  }
  return new Standing({ exact, ldp, lip, secrets, claims });
}

/**
 * Whether every claim of every policy holds for the whole; null where that cannot be said. A delta is a sum over outputs and does not
 * survive a choice made after the first answer.
 */
function claimsHold(frames, past, next, nextContext, exact) {
  if (past.some(({ policy }) => policy === null)) return null;
  const judge = (policy, frame, found) =>
    policy.draft.claims.map((claim) => {
      if (claim.delta > 0n || claim.notion === "di") return null;
      if (claim.notion === "ldp" && claim.about === "input") return !ratioAbove(frame.ldp, claim.epsilon);
      return found.holds(claim);
    });
  const verdicts = judge(next, frames[0], nextContext);
  for (const frame of frames) for (const { release, found } of frame.members) verdicts.push(...judge(release.policy, frame, found));
  if (verdicts.includes(null)) return null;
  // A bound that is too large proves nothing.
  return verdicts.every(Boolean) || (exact ? false : null);
}

// ---------------------------------------------------------------- consent

/**
 * Limits in nats as text; null sets no limit. They bound what everything one device ever releases about one datum *attains* together,
 * without any delta; what policies claim does not matter.
 *
 * - `ldp`: any two likelihoods of the whole transcript differ by at most this.
 * - `lip`: belief about the input, under every prior of every context any of the policies declared, rises or falls by at most this from
 *   where it was before the first release. Where no policy declared a context and `ldp` sets no limit, LDP is held against this number.
 * - `secrets`: for each `{ name, ldp }`, the likelihoods of any two values of that secret differ by at most this, under every law any of
 *   the policies declared for it. A secret that no policy declared is judged by the LDP of the input. `secret` is a list of one.
 *
 * The defaults are ln 3, 2 ln 3 and none.
 */
export class Consent {
  constructor({ lip = "1.0986122887", ldp = "2.1972245774", secret = null, secrets = [] } = {}) {
    this.lip = lip === null ? null : parseNats(lip);
    this.ldp = ldp === null ? null : parseNats(ldp);
    const named = secret === null ? secrets : [...secrets, secret];
    this.secrets = named.map((one) => ({ name: one.name, ldp: parseNats(one.ldp) }));
  }

  /** Throws `AboveConsent` if what is released, the next answer included, might pass a limit. */
  check(standing) {
    // A policy has no such numbers, and would pass unseen.
    if (!(standing instanceof Standing)) throw new TypeError("consent is held against what Sequence.after gives");
    const exceeds = (attained, allowed) => allowed !== null && (attained === null || attained > allowed);
    if (exceeds(standing.ldp, this.ldp)) throw new AboveConsent("ldp", standing.ldp, this.ldp);
    // Without a context LDP stands in for LIP, unless it was judged by itself already.
    const lip = standing.lip === undefined && this.ldp === null ? standing.ldp : standing.lip;
    if (lip !== undefined && exceeds(lip, this.lip)) throw new AboveConsent("lip", lip, this.lip);
    for (const { name, ldp } of this.secrets) {
      const attained = standing.aboutSecret(name);
      if (exceeds(attained, ldp)) throw new AboveConsent("secret", attained, ldp, name);
    }
  }
}

// ---------------------------------------------------------------- the ledger

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
    return totalCost(this.releases(datum).map(({ cost }) => cost));
  }

  /** `fresh`, or `repeat` for a policy that has answered; throws `Exhausted` or `AboveConsent`. */
  request(datum, policy, past = new Sequence(), consent = new Consent()) {
    if (this.releases(datum).some((release) => release.policy === policy.id)) return "repeat";
    return this.spend(datum, policy, past, consent);
  }

  /**
   * Pays for an independent new answer. `past` is what was released about the datum, as far as the device still has it; where it is
   * not what this ledger has noted, only the noted costs are relied on.
   */
  spend(datum, policy, past = new Sequence(), consent = new Consent()) {
    const [noted, spent, cost] = [this.releases(datum), this.spent(datum), policy.cost];
    const addsUp = spent !== null && cost !== null;
    if (addsUp && spent + cost > this.budget) {
      const of = `the budget is ${natsText(this.budget)} nats, ${natsText(spent)} are spent`;
      throw new Exhausted("budget", `${of} and this release costs ${natsText(cost)}: answer less often or raise the budget`);
    }
    const standing = (past.matches(noted) ? past : forgottenSequence(noted)).after(policy);
    if (!addsUp && noted.length > 0 && standing.claims !== true) {
      const before = "this datum was already released";
      if (standing.claims === false) {
        throw new Exhausted("not_composable_checked", `${before} under a policy whose promise does not add up, and all releases together break a claim`);
      }
      const once = "such a policy is used once per datum, unless the earlier policies are at hand and the claims of all hold together";
      throw new Exhausted("not_composable", `${before} and one of the policies has no finite LDP level: ${once}`);
    }
    consent.check(standing);
    this.data.set(datum, [...noted, { policy: policy.id, cost }]);
    return "fresh";
  }

  /** What the LDP spent means for belief under a prior (weights in units of 2^-32), or null. */
  lipConsequence(datum, weights) {
    const spent = this.spent(datum);
    if (spent === null) return null;
    const raisedBy = expUp(spent);
    if (raisedBy === null) return spent;
    const lightest = weights.reduce(min);
    return min(lnUp(lightest * ONE + (WEIGHT_ONE - lightest) * raisedBy, WEIGHT_ONE * ONE), spent);
  }
}

/** The releases a ledger has noted, of which nothing else is left. */
function forgottenSequence(noted) {
  const sequence = new Sequence();
  noted.forEach((release) => sequence.forgotten(release));
  return sequence;
}

// ---------------------------------------------------------------- devices

/**
 * The key of the datum that a question asks about: its wording, whatever the case, spaces and punctuation; null if it has no letter or digit.
 * Not the survey's id and not its answers: both are the collector's to change, and each change would be a new budget.
 */
export function questionDatum(wording) {
  // Letter by letter: what a capital sigma becomes must not depend on its place in a word.
  const lower = Array.from(wording.normalize("NFKC"), (letter) => letter.toLowerCase()).join("");
  const letters = lower.replace(/[^\p{Alphabetic}\p{N}]+/gu, "");
  return letters === "" ? null : `question:${letters}`;
}

/** The key under which an older device noted a survey whose wording it did not keep. */
const oldSurveyDatum = (id) => `survey:${id}`;
const isUnworded = (datum) => datum.startsWith("survey:");

/**
 * A device keeps one state, as the Rust client keeps it in its file (`device/2`): `{ generation, budget, collector_budget, data, policies }`,
 * with for each datum its releases and the reports drawn, and the bytes of small policies. Never the raw answer.
 *
 * Every device has `load()`, which gives `{ state, version }`, and `replace(version, state)`, which stores the
 * state durably if the version is still that one and gives false otherwise. So two tabs cannot both spend.
 */
const DEVICE_VERSION = "device/2";
/** Noted surveys by their id, had no budget for collectors and no generation. */
const OLD_DEVICE_VERSION = "device/1";
/** What all answers to one question may add up to: 2 ln 3. */
const DEFAULT_BUDGET = "2.1972245774";
/** What all answers to one collector may add up to: four times that. */
const DEFAULT_COLLECTOR_BUDGET = "8.7888983096";
/** Policies with more canonical bytes than this are not kept on the device, nor more than this many. */
const KEPT_POLICY = 1 << 16;
const KEPT_POLICIES = 256;

const emptyState = (budget = DEFAULT_BUDGET, collectorBudget = DEFAULT_COLLECTOR_BUDGET) => ({
  generation: 0,
  budget: natsText(parseNats(budget)),
  collector_budget: natsText(parseNats(collectorBudget)),
  data: [],
  policies: [],
});

/** Report fields in alphabetical order, as the Rust client writes them. */
const sortedReport = (report) => {
  const fields = JSON.parse(JSON.stringify(report));
  return Object.fromEntries(Object.keys(fields).sort().map((name) => [name, fields[name]]));
};

/** Texts in the order of their code points, as the Rust client sorts them. */
function byCodePoint(a, b) {
  const [left, right] = [Array.from(a), Array.from(b)];
  const at = left.findIndex((letter, i) => letter !== right[i]);
  if (at < 0) return left.length - right.length;
  return at < right.length ? left[at].codePointAt(0) - right[at].codePointAt(0) : 1;
}

const sortData = (state) => state.data.sort((a, b) => byCodePoint(a.datum, b.datum));

/** FNV-1a over the state as it is written: finds damage, not malice. In two halves of 32 bits, whose products Numbers hold exactly. */
function checkOf(state) {
  let [high, low] = [0xcbf29ce4, 0x84222325];
  for (const byte of encoder.encode(JSON.stringify(state))) {
    low = (low ^ byte) >>> 0;
    // The prime is 2^40 + 0x1b3.
    const product = low * 0x1b3;
    high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + low * 2 ** 8) % 2 ** 32;
    low = product % 2 ** 32;
  }
  return [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");
}

/** The text of a device file. */
export function encodeDevice(state) {
  return `${JSON.stringify({ undertone: DEVICE_VERSION, check: checkOf(state), state }, null, 2)}\n`;
}

/** Reads a device file, also one of an older version; anything doubtful is refused, never replaced by an empty state. */
export function decodeDevice(text) {
  try {
    const file = record(JSON.parse(text), "the file", ["undertone", "check", "state"]);
    const old = file.undertone === OLD_DEVICE_VERSION;
    if (!old && file.undertone !== DEVICE_VERSION) refuse("version", `version ${JSON.stringify(file.undertone)} is not known here`);
    const parts = ["budget", "data", "policies"];
    record(file.state, "the state", old ? parts : [...parts, "generation", "collector_budget"]);
    if (checkOf(file.state) !== file.check) refuse("check", "its check does not match its content");
    return checkedState(old ? migrated(file.state) : file.state);
  } catch (error) {
    throw damagedDevice(error.message);
  }
}

const damagedDevice = (why) =>
  new DeviceError("damaged", `the device's memory is damaged (${why}): nothing is released, because what has been spent is not known; restore it from a backup`);

/**
 * The state an older device kept. What was spent stays spent. A page named after the survey its reports went to says nothing about the
 * question; one with another name was named by a program and keeps it.
 */
function migrated({ budget, data, policies }) {
  const named = ({ datum, releases, answers }) => ({
    datum: answers.every(({ survey }) => survey === datum) ? oldSurveyDatum(datum) : datum,
    releases,
    answers,
  });
  const state = { ...emptyState(budget), data: data.map(named), policies };
  sortData(state);
  return state;
}

/** A state whose every part is what it must be. */
function checkedState(state) {
  const nats = (value, what) => {
    if (natsText(parseNats(textOf(value, what))) !== value) refuse("json", `${what} is not as printed`);
  };
  if (!Number.isSafeInteger(state.generation) || state.generation < 0) refuse("json", "generation must be an integer of at least 0");
  nats(state.budget, "budget");
  nats(state.collector_budget, "collector_budget");
  const seen = new Set();
  for (const page of state.data) {
    const { datum, releases, answers } = record(page, "a datum", ["datum", "releases", "answers"]);
    if (seen.has(textOf(datum, "datum"))) refuse("json", `${JSON.stringify(datum)} occurs twice`);
    seen.add(datum);
    for (const release of releases) {
      const { policy, cost } = record(release, "a release", ["policy", "cost"]);
      if (!isPolicyId(policy)) refuse("json", "a policy's id is not one");
      if (cost !== null) nats(cost, "cost");
    }
    for (const answer of answers) {
      const { curator, survey, report, delivery } = record(answer, "an answer", ["curator", "survey", "report", "delivery"]);
      [curator, survey].forEach((text) => textOf(text, "curator or survey"));
      if (delivery !== "waiting" && delivery !== "accepted") record(record(delivery, "delivery", ["refused"]).refused, "refused", ["status", "code", "detail"]);
      // What was sent must have been paid for.
      const { policy } = Report.fromJson(report);
      if (!releases.some((release) => release.policy === policy)) refuse("json", `${JSON.stringify(datum)} has a report that its ledger does not know`);
    }
  }
  if (!state.policies.every((digits) => fromHex(digits) !== null)) refuse("json", "a policy is not hexadecimal");
  return state;
}

/** Forgets everything with the page or process. */
export class MemoryDevice {
  constructor({ budget, collectorBudget } = {}) {
    this.version = 0;
    this.text = encodeDevice(emptyState(budget, collectorBudget));
  }
  async load() {
    return { state: decodeDevice(this.text), version: this.version };
  }
  async replace(version, state) {
    if (version !== this.version) return false;
    this.text = encodeDevice({ ...state, generation: state.generation + 1 });
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
  constructor(database, budget, collectorBudget) {
    Object.assign(this, { database, budget, collectorBudget });
  }
  static async open(name = "undertone", { budget, collectorBudget } = {}) {
    if (!globalThis.indexedDB) throw new DeviceError("io", "this browser keeps nothing (no IndexedDB), so no budget could be kept");
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("device");
    return new BrowserDevice(await settled(request), budget, collectorBudget);
  }
  async load() {
    const stored = await settled(this.database.transaction("device").objectStore("device").get("state"));
    if (stored === undefined) return { state: emptyState(this.budget, this.collectorBudget), version: 0 };
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
        store.put({ version: version + 1, text: encodeDevice({ ...state, generation: state.generation + 1 }) }, "state");
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

/** In a file, for Node; the same file the Rust client writes, under the same lock. */
export class FileDevice {
  constructor(fs, path) {
    Object.assign(this, { fs, path });
  }
  /** A new file; refused if there is one. */
  static async create(path, { budget, collectorBudget } = {}) {
    const [fs, { basename, dirname, join }] = await Promise.all([import("node:fs/promises"), import("node:path")]);
    // One file has one lock, whatever links lead to it.
    const device = new FileDevice(fs, join(await attempt(fs.realpath(dirname(path))), basename(path)));
    await device.#locked(async () => {
      if (await exists(fs, device.path)) throw new DeviceError("exists", `${path} exists already: open it instead`);
      await device.#write(encodeDevice(emptyState(budget, collectorBudget)));
    });
    return device;
  }
  /** An existing file. */
  static async open(path) {
    const fs = await import("node:fs/promises");
    if (!(await exists(fs, path))) throw new DeviceError("missing", `there is no device file ${path}: create it first`);
    const device = new FileDevice(fs, await attempt(fs.realpath(path)));
    await device.load();
    return device;
  }
  async load() {
    const text = await attempt(this.fs.readFile(this.path, "utf8"));
    return { state: decodeDevice(text), version: text };
  }
  /** Replaces the file if it is still the one that was read, to the letter, and so of the same generation. */
  async replace(version, state) {
    return this.#locked(async () => {
      if ((await attempt(this.fs.readFile(this.path, "utf8"))) !== version) return false;
      await this.#write(encodeDevice({ ...state, generation: state.generation + 1 }));
      return true;
    });
  }
  /** Beside, synced, renamed, directory synced. */
  async #write(text) {
    const beside = `${this.path}.new`;
    await attempt(writeSynced(this.fs, beside, text));
    await attempt(this.fs.rename(beside, this.path));
    const { dirname } = await import("node:path");
    // Only Unix can sync a directory, and needs it for the rename to last.
    if (process.platform === "win32") return;
    const directory = await attempt(this.fs.open(dirname(this.path)));
    await attempt(directory.sync().finally(() => directory.close()));
  }
  /** Holds the device's lock while `action` runs; waits two seconds for somebody alive to let go of it. */
  async #locked(action) {
    for (let tries = 0; ; tries += 1) {
      const lock = await attempt(FileLock.take(this.fs, this.path));
      if (lock !== null) return action().finally(() => lock.release());
      if (tries > 100) throw new DeviceError("in_use", `${this.path} is in use by another process`);
      await sleep(20);
    }
  }
}

/** What a file system refuses, in a device's words. */
const attempt = (promise) =>
  promise.catch((error) => {
    throw error instanceof DeviceError ? error : new DeviceError("io", error.message);
  });

const exists = (fs, path) =>
  fs.access(path).then(
    () => true,
    () => false,
  );

async function writeSynced(fs, path, text) {
  const file = await fs.open(path, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** How deep locks of dead takers may be nested before something else must be wrong. */
const DEEPEST_LOCK = 4;
/** How often a lock that changes hands is looked at again. */
const LOCK_ATTEMPTS = 50;

/**
 * One process at a time: a lock file that Rust and JavaScript take in the same way (`crates/client/src/device/lock.rs`).
 *
 * `<path>.held` exists while somebody holds the device. It is made whole (written under another name and linked, which fails if it exists)
 * and names its owner: process, when that process started, and a random tag. The lock of a dead process is replaced by renaming a new one
 * over it, and only by whoever holds the lock `<path>.held.<tag>`, taken in the same way: so of several that find a dead owner one
 * replaces it, and one that comes late finds another tag.
 */
class FileLock {
  constructor(fs, path, tag) {
    Object.assign(this, { fs, path, tag });
  }

  /** Takes the lock of a device's file, or gives null if somebody alive holds it. */
  static async take(fs, file) {
    const [path, tag] = [`${file}.held`, toHex(systemRandom(8))];
    const owner = JSON.stringify({ pid: process.pid, started: await startOf(fs, process.pid), tag });
    const how = await FileLock.#take(fs, path, tag, owner, 0);
    // What is left of the dead is a matter of tidiness.
    if (how === "replaced") await FileLock.#sweep(fs, path).catch(() => {});
    return how === null ? null : new FileLock(fs, path, tag);
  }

  async release() {
    // Never somebody else's: a lock that was taken over is left alone.
    const owner = await FileLock.#owner(this.fs, this.path).catch(() => null);
    if (owner?.tag === this.tag) await this.fs.rm(this.path, { force: true }).catch(() => {});
  }

  /** `made`, `replaced` where the owner was dead, or null. */
  static async #take(fs, path, tag, owner, depth) {
    if (depth > DEEPEST_LOCK) return null;
    const mine = `${path}.${tag}.new`;
    // Synced: a lock must not be empty after the whole machine has failed.
    await writeSynced(fs, mine, owner);
    try {
      return await FileLock.#takeWith(fs, path, mine, tag, owner, depth);
    } finally {
      await fs.rm(mine, { force: true }).catch(() => {});
    }
  }

  static async #takeWith(fs, path, mine, tag, owner, depth) {
    for (let tries = 0; tries < LOCK_ATTEMPTS; tries += 1) {
      const linked = await fs.link(mine, path).then(
        () => true,
        (error) => {
          if (error.code !== "EEXIST") throw error;
          return false;
        },
      );
      if (linked) return "made";
      const holder = await FileLock.#owner(fs, path);
      // Released in between.
      if (holder === null) continue;
      if (await isAlive(fs, holder)) return null;
      // Whoever holds the dead owner's own lock may replace it, if it is still there.
      const right = `${path}.${holder.tag}`;
      if ((await FileLock.#take(fs, right, tag, owner, depth + 1)) === null) {
        await sleep(5);
        continue;
      }
      try {
        const now = await FileLock.#owner(fs, path);
        if (now !== null && sameValue(now, holder)) {
          await fs.rename(mine, path);
          return "replaced";
        }
      } finally {
        await fs.rm(right, { force: true }).catch(() => {});
      }
    }
    return null;
  }

  /** Whoever a lock names, or null if there is none. */
  static async #owner(fs, path) {
    const text = await fs.readFile(path, "utf8").catch((error) => {
      if (error.code !== "ENOENT") throw error;
      return null;
    });
    if (text === null) return null;
    const owner = parsed(text);
    const whole = Number.isSafeInteger(owner?.pid) && typeof owner.tag === "string" && /^[0-9a-f]+$/.test(owner.tag) && (owner.started === null || typeof owner.started === "string");
    if (!whole) throw new Error(`${path} is no lock of ours: if no program uses the device, delete it`);
    return owner;
  }

  /**
   * Removes what dead takers have left beside a lock that is held: files of their making, and locks on the right to replace an owner that
   * was replaced long ago, which nobody can use any more.
   */
  static async #sweep(fs, path) {
    const { basename, dirname, join } = await import("node:path");
    const directory = dirname(path);
    for (const name of await fs.readdir(directory)) {
      if (!name.startsWith(`${basename(path)}.`)) continue;
      const owner = await FileLock.#owner(fs, join(directory, name)).catch(() => null);
      if (owner !== null && !(await isAlive(fs, owner))) await fs.rm(join(directory, name), { force: true });
    }
  }
}

/** Whether the process that made a lock still runs. A process number may have been given to another process since, which then started at another time. */
async function isAlive(fs, { pid, started }) {
  // Without a way to see processes nothing is taken over.
  if (!(await exists(fs, "/proc/self/stat"))) return true;
  const now = await startOf(fs, pid);
  return now !== null && (started === null || now === started);
}

/** When a process started, as the system counts; null if it has ended or cannot be seen. */
async function startOf(fs, pid) {
  const entry = await fs.readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // Fields are counted after the name, which may hold anything: state, then as 18th the threads, as 20th the start.
  const fields = entry.slice(entry.lastIndexOf(")") + 1).trim().split(/\s+/);
  // A zombie has ended, unless threads of it still run.
  const ended = /^[ZX]$/.test(fields[0]) && Number(fields[17]) <= 1;
  return fields.length < 20 || ended ? null : fields[19];
}

// ---------------------------------------------------------------- the client

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const MAX_BATCH = 10_000;
/** The most bytes of a survey, of a policy, and of any other answer; whatever is longer is not read to its end. */
const LIMITS = { survey: 16 << 20, policy: 16 << 20, answer: 1 << 20 };
/** The status of a body that is too large. */
const TOO_LARGE = 413;

/** Whether sending the same again cannot help. Time-outs, too many requests and everything else may. */
const isFinal = (status) => status >= 400 && status < 500 && ![408, 425, 429].includes(status);

const isSurveyId = (id) => /^[a-z0-9-]{1,64}$/.test(id);

const isPolicyId = (id) => typeof id === "string" && /^[0-9a-f]{64}$/.test(id);

/** What was drawn for one datum; a page that is not in the state yet is empty. */
const pageOf = (state, datum) => state.data.find((one) => one.datum === datum) ?? { datum, releases: [], answers: [] };

const costOf = ({ cost }) => (cost === null ? null : parseNats(cost));

/** What counts as released about a datum to a collector: what is noted under it, and what an older device sent there without noting the question. */
function pagesOf(state, datum, collector) {
  const unworded = ({ datum: key, answers }) => key !== datum && isUnworded(key) && answers.some(({ curator }) => curator === collector);
  return [pageOf(state, datum), ...state.data.filter(unworded)];
}

/** The finite costs of all releases whose reports went to a collector. One without a finite level is held against consent and claims alone. */
function spentAt(state, collector) {
  const costs = state.data.flatMap(({ releases, answers }) => {
    const sent = new Set(answers.filter(({ curator }) => curator === collector).map(({ report }) => report.policy));
    return releases.filter(({ policy }) => sent.has(policy)).map(costOf);
  });
  return sum(costs.filter((cost) => cost !== null));
}

/** Moves what an older device noted under a survey's id to the question that survey asks, now that it is known; whether anything moved. */
function adopt(state, survey, collector) {
  const key = oldSurveyDatum(survey.id);
  const old = state.data.find(({ datum, answers }) => datum === key && answers.some((one) => one.curator === collector && one.survey === survey.id));
  if (old === undefined || key === survey.datum) return false;
  const page = pageOf(state, survey.datum);
  page.releases.push(...old.releases);
  page.answers.push(...old.answers);
  state.data = [...state.data.filter((one) => one !== old && one !== page), page];
  sortData(state);
  return true;
}

/** A device, its owner's consent, and a curator. */
export class Client {
  constructor(base, { device = new MemoryDevice(), consent = new Consent(), retry = {}, limits = {}, form = "json", fetch = globalThis.fetch } = {}) {
    const url = new URL(base);
    if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
      throw new ClientError("address", `${base} is not a curator's address`);
    }
    this.base = url.href.replace(/\/+$/, "");
    this.device = device;
    this.consent = consent;
    this.form = form;
    this.retry = { attempts: 4, first: 200, longest: 10_000, ...retry };
    this.limits = { ...LIMITS, ...limits };
    /** The length of the shortest body that was refused for its length; longer ones are not tried. */
    this.tooLarge = Infinity;
    this.fetch = (...request) => fetch(...request);
    this.verified = new Map();
    // Ids of the policies a device has kept, by their digits.
    this.ids = new Map();
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
          const { code = "", detail = "" } = parsed(await bounded(response, this.limits.answer, "the answer")) ?? {};
          const refused = { status: response.status, code: String(code), detail: String(detail) };
          throw new ClientError("refused", `the curator refuses: ${refused.status} (${refused.code}): ${refused.detail}`, refused);
        }
        reason = `the answer has status ${response.status}`;
        if (!response.bodyUsed) await response.body?.cancel();
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

  #get(path, what, limit) {
    return this.#patiently(path, { method: "GET" }, (response) => (response.status === 200 ? bounded(response, limit, what) : undefined));
  }

  /**
   * Fetches a survey and its policy, checks every claim, that it is the policy asked for, and that it asks what it encodes. The datum it asks
   * about is by default the wording of its question, whatever the survey is called.
   */
  async survey(id, { group = null, datum = null } = {}) {
    if (!isSurveyId(id)) throw new ClientError("survey_id", `${id} is not a survey's id: it has 1 to 64 of a-z, 0-9 and -`);
    const found = parsed(await this.#get(`/v1/surveys/${id}`, "the survey", this.limits.survey));
    if (found?.id !== id || !Array.isArray(found.round?.groups)) throw new ClientError("malformed", "what came is not the survey asked for");
    const { groups } = found.round;
    const own = group === null ? (groups.length === 1 ? groups[0] : undefined) : groups.find((one) => one.group === group);
    if (!own) throw Object.assign(new ClientError("group", `the survey has the groups ${groups.map((one) => one.group).join(", ")}: name yours`), { groups });
    const policy = await this.policy(own.policy);
    if (JSON.stringify(readAlphabet(found.answers)) !== JSON.stringify(policy.inputs)) {
      throw new ClientError("answers", "the survey's answers are not the policy's inputs: nothing is sent under it");
    }
    const worded = [found.question, found.title].map((text) => questionDatum(String(text ?? ""))).find((key) => key !== null);
    return { ...found, open: found.round.state === "open", group: own.group, people: own.people, policy, datum: datum ?? worded ?? oldSurveyDatum(id) };
  }

  /** Fetches and verifies a policy, once. */
  async policy(id) {
    if (!isPolicyId(id)) throw new ClientError("malformed", `${id} is not a policy's id`);
    if (!this.verified.has(id)) {
      const policy = await Policy.fromJson(await this.#get(`/v1/policies/${id}`, "the policy", this.limits.policy));
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

  /** The policies that a state keeps, as hexadecimal digits by id. */
  async #kept(state) {
    const entries = state.policies.map(async (digits) => {
      if (!this.ids.has(digits)) this.ids.set(digits, await sha256(fromHex(digits)));
      return [this.ids.get(digits), digits];
    });
    return new Map(await Promise.all(entries));
  }

  /** The ledger that a release of a datum is charged to, and everything that counts as released about that datum. */
  async #ledgerOf(state, datum) {
    const [pages, kept, past] = [pagesOf(state, datum, this.base), await this.#kept(state), new Sequence()];
    for (const { releases, answers } of pages) {
      for (const release of releases) {
        const policy = kept.has(release.policy) ? await this.#verifiedBytes(release.policy, kept.get(release.policy)) : null;
        const drawn = answers.find(({ report }) => report.policy === release.policy);
        replay(past, release, policy, drawn && Report.fromJson(drawn.report));
      }
    }
    const noted = pages.flatMap(({ releases }) => releases.map((release) => ({ policy: release.policy, cost: costOf(release) })));
    return { ledger: new Ledger(parseNats(state.budget), new Map([[datum, noted]])), past };
  }

  /** A policy the device has kept, verified once. */
  async #verifiedBytes(id, digits) {
    if (!this.verified.has(id)) {
      const policy = await Policy.fromBytes(fromHex(digits)).catch((error) => {
        throw damagedDevice(error.message);
      });
      this.verified.set(id, policy);
    }
    return this.verified.get(id);
  }

  /** Refuses a release past the budget of this client's collector. */
  #checkCollector(state, cost) {
    const [spent, budget] = [spentAt(state, this.base), parseNats(state.collector_budget)];
    if (cost === null || spent + cost <= budget) return;
    const of = `the budget of all questions of ${this.base} is ${natsText(budget)} nats, ${natsText(spent)} are spent`;
    throw new ClientError("collector", `${of} and this release costs ${natsText(cost)}`);
  }

  /** Pays for a new answer to a survey, in memory; throws what stands against it. */
  async #spend(state, survey) {
    const { policy, datum } = survey;
    if (!survey.open) throw new ClientError("not_open", `round ${survey.round.number} of this survey is not open: nothing was drawn`);
    if (pageOf(state, datum).releases.some((release) => release.policy === policy.id)) {
      throw new ClientError("forgotten", "the ledger says this policy has answered, but the report is not on the device");
    }
    this.#checkCollector(state, policy.cost);
    const { ledger, past } = await this.#ledgerOf(state, datum);
    ledger.spend(datum, policy, past, this.consent);
  }

  /** Throws what would keep this device from drawing a new answer: `ClientError`, `Exhausted` or `AboveConsent`. */
  async check(survey) {
    const { state } = await this.device.load();
    adopt(state, survey, this.base);
    await this.#spend(state, survey);
  }

  /** The report this device has drawn for a survey under its policy, or null. */
  async answered(survey) {
    await this.#change((state) => ({ unchanged: !adopt(state, survey, this.base) }));
    const answers = await this.answers();
    return answers.find((one) => one.datum === survey.datum && this.#isFor(survey, one)) ?? null;
  }

  #isFor(survey, { survey: id, curator, report }) {
    return id === survey.id && curator === this.base && report.policy === survey.policy.id;
  }

  /** Draws (or remembers) a report and writes it down without sending it. */
  async record(survey, symbol, { random = systemRandom } = {}) {
    const { policy, datum } = survey;
    const entry = (report) => ({ curator: this.base, survey: survey.id, report: sortedReport(report), delivery: "waiting" });
    return this.#change(async (state) => {
      const adopted = adopt(state, survey, this.base);
      const { answers } = pageOf(state, datum);
      const same = answers.filter(({ report }) => report.policy === policy.id);
      if (same.length > 0) {
        const report = Report.fromJson(same[0].report);
        const here = answers.find((one) => this.#isFor(survey, one));
        if (!here) {
          // Another survey under the same policy: the same report goes there too, and may be news to its collector.
          if (!same.some(({ curator }) => curator === this.base)) this.#checkCollector(state, policy.cost);
          await this.#remember(state, survey, entry(report), false);
        }
        return { report, repeated: true, delivery: here?.delivery ?? "waiting", unchanged: Boolean(here) && !adopted };
      }
      await this.#spend(state, survey);
      const report = Report.draw(policy, symbol, random);
      await this.#remember(state, survey, entry(report), true);
      return { report, repeated: false, delivery: "waiting", unchanged: false };
    });
  }

  /** Notes a report, its charge if it is fresh, and its policy if there is room. */
  async #remember(state, { policy, datum }, answer, fresh) {
    const page = pageOf(state, datum);
    page.answers.push(answer);
    if (fresh) page.releases.push({ policy: policy.id, cost: policy.cost === null ? null : natsText(policy.cost) });
    if (!state.data.includes(page)) state.data.push(page);
    sortData(state);
    const kept = await this.#kept(state);
    if (kept.has(policy.id) || policy.bytes.length > KEPT_POLICY || kept.size >= KEPT_POLICIES) return;
    kept.set(policy.id, toHex(policy.bytes));
    state.policies = Array.from(kept).sort(([a], [b]) => ascending(a, b)).map(([, digits]) => digits);
  }

  /** Sends the report that was recorded for a survey; gives its delivery and, if it waits, why. */
  async send(survey) {
    const answers = await this.answers();
    const own = answers.find((one) => one.datum === survey.datum && this.#isFor(survey, one));
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

  /** What was spent on a datum, null if a release had no finite level, and the budget, in units of 10^-10 nats. */
  async spent(datum) {
    const { state } = await this.device.load();
    return { spent: totalCost(pageOf(state, datum).releases.map(costOf)), budget: parseNats(state.budget) };
  }

  /**
   * What an answer to a survey is charged to: what counts as spent on its question (null if a release had no finite level) and, over all
   * questions, on this client's collector, each with its budget, in units of 10^-10 nats.
   */
  async budgets(survey) {
    const { state } = await this.device.load();
    adopt(state, survey, this.base);
    const counted = pagesOf(state, survey.datum, this.base).flatMap(({ releases }) => releases.map(costOf));
    return {
      question: { spent: totalCost(counted), budget: parseNats(state.budget) },
      collector: { spent: spentAt(state, this.base), budget: parseNats(state.collector_budget) },
    };
  }

  /** Changes the budget of each datum; what has been spent stays spent. */
  setBudget(text) {
    return this.setBudgets({ question: text });
  }

  /** Changes the budgets of each datum and of each collector, or one of them; what has been spent stays spent. */
  async setBudgets({ question = null, collector = null }) {
    const [budget, collectorBudget] = [question, collector].map((text) => (text === null ? null : natsText(parseNats(text))));
    await this.#change((state) => {
      state.budget = budget ?? state.budget;
      state.collector_budget = collectorBudget ?? state.collector_budget;
      return {};
    });
  }

  /**
   * Sends reports of one survey; returns once the curator has acknowledged all of them, else throws `ClientError`. Reports
   * that are too many bytes for one body go in parts; if a part fails, sending all of them again is harmless.
   */
  async submit(survey, reports) {
    if (!isSurveyId(survey)) throw new ClientError("survey_id", `${survey} is not a survey's id`);
    if (reports.length === 0 || reports.length > MAX_BATCH) throw new ClientError("body", `send 1 to ${MAX_BATCH} reports at a time`);
    const { type, body } = encodeBody(reports, this.form);
    // JSON of reports is ASCII, so its characters are its bytes.
    if (reports.length === 1 || body.length < this.tooLarge) {
      const request = { method: "POST", headers: { "content-type": type }, body };
      try {
        await this.#patiently(`/v1/surveys/${survey}/reports`, request, async (response) => {
          if (response.status !== 202) return undefined;
          const { accepted } = parsed(await bounded(response, this.limits.answer, "the answer")) ?? {};
          return accepted === reports.length ? true : undefined;
        });
        return;
      } catch (error) {
        if (reports.length === 1 || error.problem?.status !== TOO_LARGE) throw error;
        this.tooLarge = Math.min(this.tooLarge, body.length);
      }
    }
    const middle = Math.floor(reports.length / 2);
    await this.submit(survey, reports.slice(0, middle));
    await this.submit(survey, reports.slice(middle));
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

/** The text of an answer; `ClientError` if it has more than `limit` bytes, of which no more than that are kept. */
async function bounded(response, limit, what) {
  const pieces = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (let step = await reader?.read(); step && !step.done; step = await reader.read()) {
    length += step.value.length;
    if (length > limit) {
      await reader.cancel().catch(() => {});
      throw new ClientError("too_large", `${what} has more than ${limit} bytes: it is not fetched`);
    }
    pieces.push(step.value);
  }
  const bytes = new Uint8Array(length);
  pieces.reduce((at, piece) => (bytes.set(piece, at), at + piece.length), 0);
  return new TextDecoder().decode(bytes);
}

/** JSON, or null. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Adds a release to a sequence as far as its policy and its report are still on the device. */
function replay(past, { policy: id, cost }, policy, report) {
  if (policy === null) {
    past.forgotten({ policy: id, cost: cost === null ? null : parseNats(cost) });
    return;
  }
  try {
    if (report) {
      past.released(policy, report);
      return;
    }
  } catch (error) {
    // A report the policy cannot have released says nothing about the answer.
    if (!(error instanceof Foreign)) throw error;
  }
  past.untold(policy);
}

/** The body that would be sent for some reports, and its media type. */
export function encodeBody(reports, form = "json") {
  if (form === "binary") return { type: "application/vnd.undertone.reports", body: encodeReports(reports) };
  return { type: "application/json", body: JSON.stringify(reports.length === 1 ? reports[0] : { reports }) };
}
