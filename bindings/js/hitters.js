/**
 * Frequent values of open sets, on a person's device: reads and verifies a `hitters/1` document, and makes a person's only report.
 *
 * It is what `undertone hitters report` does; `undertone hitters find` collects the reports. A module of its own: pages that ask nothing of
 * the kind do not load it. `vectors/hitters-1.json` holds what it must accept, refuse and hash, in any language.
 */

import { Alphabet, draw, fromHex, systemRandom, toHex, verifyPlan } from "./kernel.js";
import { refuse } from "./kernel/errors.js";
import { releasesBits } from "./kernel/incidence.js";
import { integer, isObject, listOf, parseDocument, record, sameValue, textOf } from "./kernel/json.js";

const NAME = "hitters/1";
const [FEWEST_ROUNDS, MOST_ROUNDS] = [2, 255];
const MOST_STEP = 20;
const MOST_CODE_BITS = 512;
const MOST_LETTERS = 1 << 12;
const MOST_HASH_BITS = 8;
/** Equal seeds of this many bits are one report. */
const TELLING_BITS = 80;
/** The code's end in a text: no byte of UTF-8. */
const END_OF_TEXT = 255;
/** How many bytes of the plan's id a report begins with. */
const MARK = 4;

const made = Symbol("a plan for frequent values is made by HittersPlan.fromJson");

/** A value that has no code; `reason` is `long`, `letter`, `number` or `large`. Neither it nor its message holds the value, which is a person's. */
export class NoCode extends Error {
  constructor(reason, message) {
    super(message);
    this.name = "NoCode";
    this.reason = reason;
  }
}

/** The letters of a list such as `a-z_`: characters, and ranges with a hyphen. */
function lettersOf(list) {
  const signs = Array.from(list, (sign) => sign.codePointAt(0));
  const hyphen = "-".codePointAt(0);
  const letters = [];
  for (let at = 0; at < signs.length; ) {
    const ranged = signs[at + 1] === hyphen && at + 2 < signs.length;
    const [first, last] = [signs[at], ranged ? signs[at + 2] : signs[at]];
    if (first > last) refuse("values", "a range of letters is empty: turn it round");
    // Halves of pairs are no characters.
    for (let sign = first; sign <= last; sign += 1) if (sign < 0xd800 || sign > 0xdfff) letters.push(sign);
    if (letters.length > MOST_LETTERS) refuse("values", "more than 4,096 letters: use text");
    // A single sign may have a hyphen at the end of the list behind it, which is a letter by itself.
    at += ranged ? 3 : 1;
  }
  if (letters.length === 0) refuse("values", "no letters: list them, as in letters:a-z:12");
  if (new Set(letters).size < letters.length) refuse("values", "a letter is listed twice");
  return letters;
}

/** What values are, and how each becomes bits of a public code: `text:L`, `letters:a-z:L` or `integers:B`. */
class OpenValues {
  constructor(written) {
    const wrong = () => refuse("values", "give text:16, letters:a-z:12 or integers:32, with the greatest length or the bits");
    const end = written.lastIndexOf(":");
    const kind = written.slice(0, Math.max(end, 0));
    if (end < 0 || !/^\+?[0-9]{1,9}$/.test(written.slice(end + 1))) wrong();
    this.symbols = Number(written.slice(end + 1));
    this.letters = null;
    if (kind === "text") [this.kind, this.width] = ["text", 8];
    else if (kind === "integers") [this.kind, this.width] = ["integers", 1];
    else if (kind.startsWith("letters:")) {
      this.letters = lettersOf(kind.slice("letters:".length));
      [this.kind, this.width] = ["letters", 32 - Math.clz32(this.letters.length)];
    } else wrong();
    if (this.kind === "integers" && this.symbols > 64) refuse("values", "give 2 to 64 bits");
    if (this.symbols < 2) refuse("values", "that is a short list of values: give at least 2 characters or bits");
    if (this.symbols > Math.floor(MOST_CODE_BITS / this.width)) refuse("values", `give a length of at most ${Math.floor(MOST_CODE_BITS / this.width)}`);
    this.bits = this.symbols * this.width;
    Object.freeze(this);
  }

  /** As it is written in a plan's wordings: runs of letters as ranges, a hyphen only as the end of one. */
  get written() {
    if (this.kind !== "letters") return `${this.kind}:${this.symbols}`;
    const sign = (code) => String.fromCodePoint(code);
    const behind = (code) => (code === 0xd7ff ? 0xe000 : code + 1);
    let text = "letters:";
    for (let at = 0; at < this.letters.length; at += 1) {
      const first = at;
      while (at + 1 < this.letters.length && this.letters[at + 1] === behind(this.letters[at])) at += 1;
      const [from, to] = [sign(this.letters[first]), sign(this.letters[at])];
      const beside = from === "-" || (at + 1 < this.letters.length && sign(this.letters[at + 1]) === "-");
      text += at > first || beside ? `${from}-${to}` : from;
    }
    return `${text}:${this.symbols}`;
  }

  /** The code of a value as one BigInt of `bits` bits, the first on top. */
  code(value) {
    if (typeof value !== "string") throw new TypeError("a value is text");
    const padded = (list, end) => {
      const symbols = [...list, ...new Array(this.symbols - list.length).fill(end)];
      return symbols.reduce((code, one) => (code << BigInt(this.width)) | BigInt(one), 0n);
    };
    if (this.kind === "text") {
      const bytes = new TextEncoder().encode(value);
      if (bytes.length > this.symbols) throw new NoCode("long", `the value has more than ${this.symbols} bytes`);
      return padded(bytes, END_OF_TEXT);
    }
    if (this.kind === "letters") {
      const places = Array.from(value, (sign, at) => {
        const place = this.letters.indexOf(sign.codePointAt(0)) + 1;
        // The first thing that is wrong decides, from the left.
        if (place === 0) throw new NoCode("letter", "the value has a letter that the plan does not list");
        if (at >= this.symbols) throw new NoCode("long", `the value has more than ${this.symbols} letters`);
        return place;
      });
      return padded(places, 0);
    }
    if (!/^[0-9]+$/.test(value)) throw new NoCode("number", "the value is not a whole number without a sign");
    const number = BigInt(value);
    if (number >> BigInt(this.bits) !== 0n) throw new NoCode("large", `the value is above ${(1n << BigInt(this.bits)) - 1n}`);
    return number;
  }

  /** As much of a value as fits, from its beginning. */
  cut(value) {
    if (this.kind === "letters") return Array.from(value).slice(0, this.symbols).join("");
    if (this.kind === "integers") return value;
    let [kept, size] = ["", 0];
    for (const sign of value) {
      size += new TextEncoder().encode(sign).length;
      if (size > this.symbols) break;
      kept += sign;
    }
    return kept;
  }
}

/** The prefixes of a document: at least two, each of whole symbols and a little longer than the one before, the last the whole code. */
function checkPrefixes(values, prefixes) {
  const wrong = (problem) => refuse("prefixes", problem);
  if (prefixes.length < FEWEST_ROUNDS || prefixes.length > MOST_ROUNDS) wrong(`${prefixes.length} rounds: give ${FEWEST_ROUNDS} to ${MOST_ROUNDS}`);
  if (prefixes.at(-1) !== values.bits) wrong(`the last round asks for the whole code, ${values.bits} bits`);
  prefixes.forEach((bits, at) => {
    const step = bits - (at === 0 ? 0 : prefixes[at - 1]);
    if (step < 1 || step > MOST_STEP || bits % values.width !== 0) wrong(`${bits} bits: each is a multiple of ${values.width} and 1 to ${MOST_STEP} above the one before`);
  });
}

/** Whether all symbols are alike: then the LDP it attains is nought. Of blocks that is a bound, and rounded up. */
function tellsNothing({ cost, draft: { channel } }) {
  if (channel.shape !== "incidence") return cost === 0n;
  const { inside, outside } = channel.levels;
  return inside[0] <= outside[1] && outside[0] <= inside[1];
}

/** How many bits a policy's hashes have; refuses one over other symbols, or that tells none of them from another. */
function hashBitsOf(policy) {
  const { channel } = policy.draft;
  const symbols = channel.inputs;
  const bits = 31 - Math.clz32(symbols);
  if (symbols !== 2 ** bits || bits < 1 || bits > MOST_HASH_BITS) refuse("plan", `the policy has ${symbols} symbols where hashes need 2, 4, 8 and so on up to 256`);
  if (!sameValue(policy.inputs, Alphabet.indices(symbols))) refuse("plan", "its policy is over unnamed symbols, which are hashes");
  if (tellsNothing(policy)) refuse("plan", "the policy's reports tell no symbol from another");
  return bits;
}

const question = (values, longer, prefixes, hashBits, at) => ({
  name: `round ${at + 1}`,
  wording: `The first ${prefixes[at]} of ${values.bits} bits of your value (${values.written}, longer values: ${longer}), hashed to ${hashBits} bits by a Toeplitz matrix of your own`,
});

/** Refuses a plan whose items are not the rounds of a document; the bits of its policy's hashes otherwise. */
function hashBitsOfRounds(plan, values, longer, prefixes) {
  const { items, asked, periods, questions, law } = plan.draft;
  const wrong = (problem) => refuse("plan", problem);
  const drawn = items.every(({ weight, fresh, questions: of }, at) => weight > 0 && fresh === null && of.length === 1 && of[0] === at);
  if (asked !== 1 || periods !== 1 || !drawn) wrong("a person is in one round, drawn once: every item is a round with a weight, of which one is asked, in one period");
  if (questions.length !== prefixes.length || plan.policies.length !== 1) wrong("it has one item for every prefix and one policy for all");
  if (law.kind !== "unknown") wrong("nothing is assumed about values, so it has no law");
  const hashBits = hashBitsOf(plan.policies[0]);
  questions.forEach(({ name, wording }, at) => {
    if (!sameValue({ name, wording }, question(values, longer, prefixes, hashBits, at))) wrong("its rounds are worded for other values or prefixes than the document has");
  });
  return hashBits;
}

/** The first `bits` bits of some bytes as one BigInt. */
function bitsOf(bytes, bits) {
  const all = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return all >> BigInt(8 * bytes.length - bits);
}

function parity(bits) {
  let odd = 0;
  for (let left = bits; left > 0n; left &= left - 1n) odd ^= 1;
  return odd;
}

/** A verified plan for frequent values: which prefix of a value's code each round asks for, and the plan that draws the round and randomises its hash. */
export class HittersPlan {
  constructor(key, parts) {
    if (key !== made) throw new TypeError("a plan for frequent values is made by HittersPlan.fromJson");
    Object.assign(this, parts);
    Object.freeze(this);
  }

  /** From a document's text. Throws a DecodeError, or what `verifyPlan` throws. */
  static async fromJson(text) {
    const raw = record(parseDocument(text), "the document", ["undertone", "values", "longer", "prefixes", "plan"]);
    if (textOf(raw.undertone, "undertone") !== NAME) refuse("version", `its version is not ${NAME}`);
    const longer = textOf(raw.longer, "longer");
    if (!["refuse", "cut"].includes(longer)) refuse("longer", "give refuse or cut");
    const values = new OpenValues(textOf(raw.values, "values"));
    const prefixes = listOf(raw.prefixes, "prefixes", (bits, what) => Number(integer(bits, what)));
    checkPrefixes(values, prefixes);
    if (!isObject(raw.plan)) refuse("plan", "it is a plan, as an object");
    const plan = await verifyPlan(raw.plan);
    const hashBits = hashBitsOfRounds(plan, values, longer, prefixes);
    return new HittersPlan(made, { values, longer, prefixes: Object.freeze(prefixes), plan, hashBits });
  }

  /** The plan's identity. The rounds' wordings are part of it, so it stands for the whole document. */
  get id() {
    return this.plan.id;
  }

  get seedBits() {
    return Math.max(this.values.bits + 2 * this.hashBits - 1, TELLING_BITS);
  }

  get seedBytes() {
    return Math.ceil(this.seedBits / 8);
  }

  get tokenBytes() {
    const { channel } = this.plan.policies[0].draft;
    if (releasesBits(channel)) return Math.ceil(channel.inputs / 8);
    return channel.outputs <= 256 ? 1 : 4;
  }

  get reportBytes() {
    return MARK + 1 + this.seedBytes + this.tokenBytes;
  }

  /** What a device randomises in a round: the hash of the prefix of its value's code, by the function of the seed. Throws a NoCode. */
  symbol(round, seed, value) {
    const { values, hashBits } = this;
    const code = values.code(this.longer === "cut" ? values.cut(value) : value);
    const behind = BigInt(values.bits - this.prefixes[round]);
    const prefix = (code >> behind) << behind;
    const used = bitsOf(seed, values.bits + 2 * hashBits - 1);
    // Row j of the matrix is the seed's bits from j on, as many as the code has; its last bits are added.
    const mask = (1n << BigInt(values.bits)) - 1n;
    let hash = 0;
    for (let row = 0; row < hashBits; row += 1) {
      const bits = (used >> BigInt(2 * hashBits - 1 - row)) & mask;
      hash = 2 * hash + parity(bits & prefix);
    }
    return hash ^ Number(used & ((1n << BigInt(hashBits)) - 1n));
  }

  /**
   * A person's only report as hexadecimal digits: the round, whatever the value; then the seed; then the token. Store it before it is sent and
   * send it again as it is: a second draw for the same person would cost twice as much.
   */
  report(value, random = systemRandom) {
    const [round] = this.plan.choose(random);
    const seed = Uint8Array.from(random(this.seedBytes));
    // Bits that no function uses would tell apart reports that are the same.
    const spare = 8 * seed.length - this.seedBits;
    seed[seed.length - 1] = (seed[seed.length - 1] >> spare) << spare;
    const { token, bits } = draw(this.plan.policies[0], this.symbol(round, seed, value), random);
    const number = (size) => Uint8Array.from({ length: size }, (_, at) => Math.floor(token / 256 ** (size - 1 - at)) % 256);
    const mark = fromHex(this.id).subarray(0, MARK);
    return [mark, Uint8Array.of(round), seed, bits ?? number(this.tokenBytes)].map(toHex).join("");
  }
}
