/** Drawing by the pinned map from random bytes to an output, and reports: the only thing that leaves the device. */

import { fromHex, toHex } from "./bytes.js";
import { Reader, Writer } from "./codec.js";
import { refuse } from "./errors.js";
import { U32 } from "./exact.js";
import { drawBlock, isSubset, releasesBits } from "./incidence.js";
import { integer, optional, parseDocument, record, textOf } from "./json.js";

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

/** Draws one output: `{ token }`, or `{ bits }` for the shape bits and for subsets. `random(n)` gives n bytes. */
export function draw(policy, symbol, random = systemRandom) {
  const { channel } = policy.draft;
  if (!Number.isInteger(symbol) || symbol < 0 || symbol >= channel.inputs) {
    throw new RangeError("the symbol is not of this policy's input alphabet");
  }
  if (channel.shape === "incidence") return drawBlock(channel, symbol, random);
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

/** A report that a policy cannot have released (`policy` or `token`), or a response that a plan cannot (`plan`, `items`, `asked` or `token`). */
export class Foreign extends Error {
  constructor(reason, message) {
    super(message);
    this.name = "Foreign";
    this.reason = reason;
  }
}

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

/** Whether a policy can release an answer, a token or bits. */
export function ownsAnswer(policy, { token, bits }) {
  const { channel } = policy.draft;
  const { shape, outputs } = channel;
  if (!releasesBits(channel)) return bits === null && token < outputs;
  if (bits === null || (shape === "incidence" && !isSubset(channel, bits)) || bits.length !== Math.ceil(outputs / 8)) return false;
  const spare = 8 * bits.length - outputs;
  return (bits.at(-1) & ((1 << spare) - 1)) === 0;
}

/** Refuses a report that the policy cannot have released. */
export function accept(policy, report) {
  if (report.policy !== policy.id) throw new Foreign("policy", "the report was made under another policy");
  if (!ownsAnswer(policy, report)) throw new Foreign("token", "the token is outside the policy's output alphabet");
}
