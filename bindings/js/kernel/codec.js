/**
 * Canonical bytes: one encoding per policy, so that its hash is its identity.
 *
 * By hand because the bytes must be the same in every language and one policy must have one encoding, which no serialisation library promises.
 */

import { Alphabet } from "./alphabet.js";
import { encoder, sameBytes } from "./bytes.js";
import { makeBits, makeBox, makeDelta, makeDraft, makeKeep, makePrior, makePriors, makeSecret, makeTable } from "./document.js";
import { refuse } from "./errors.js";
import { decimal, odds } from "./exact.js";
import { makeIncidence } from "./incidence.js";

// ---------------------------------------------------------------- writing

/** Writes forward; integers are big-endian, lists and texts are preceded by their length in 32 bits. */
export class Writer {
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
      case "bits":
        this.u8(2);
        this.u32(channel.inputs);
        return this.u64s([channel.own, channel.other]);
      default:
        this.u8(3);
        this.u32(channel.inputs);
        this.u64s([channel.coin]);
        return this.family(channel.family);
    }
  }
  family(family) {
    switch (family.kind) {
      case "subsets":
        this.u8(0);
        return this.u32(family.size);
      case "geometry":
        this.u8(1);
        for (const part of [family.order, family.dimension, family.classes, family.cosets]) this.u32(part);
        return this.u8(family.zero ? 1 : 0);
      case "hashing":
        this.u8(2);
        this.u32(family.buckets);
        return this.u32(family.dimension);
      default:
        this.u8(3);
        return this.list(family.blocks, (block) => this.list(block, this.u32));
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
  provenance({ source, n, date, confidence, rounding }) {
    this.text(source);
    this.u64s([n]);
    this.text(date);
    this.u8(confidence === null ? 0 : 1);
    if (confidence !== null) this.decimal(confidence);
    this.u64s([rounding]);
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

/** The canonical bytes of a draft. */
export function draftBytes(draft) {
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
  out.provenance(draft.provenance);
  return out.finish();
}

// ---------------------------------------------------------------- reading

/** Reads forward; nothing is allocated for a list before its bytes are known to be there. */
export class Reader {
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
      case 3: {
        const [symbols, coin] = [this.u32(), this.u64()];
        return makeIncidence(symbols, coin, this.family());
      }
      default:
        return refuse("tag", "shape: unknown kind");
    }
  }
  family() {
    switch (this.u8()) {
      case 0:
        return { kind: "subsets", size: this.u32() };
      case 1: {
        const [order, dimension, classes, cosets, flag] = [this.u32(), this.u32(), this.u32(), this.u32(), this.u8()];
        if (flag > 1) refuse("tag", "family.zero: unknown kind");
        return { kind: "geometry", order, dimension, classes, cosets, zero: flag === 1 };
      }
      case 2:
        return { kind: "hashing", buckets: this.u32(), dimension: this.u32() };
      case 3:
        return { kind: "listed", blocks: this.list(4, () => this.list(4, this.u32)) };
      default:
        return refuse("tag", "family: unknown kind");
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

/** A draft from its canonical bytes; any others are refused. */
export function draftFromBytes(bytes) {
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
