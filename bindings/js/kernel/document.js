/**
 * A policy before it is verified: its parts, each checked when it is made, and the document they are read from.
 *
 * Types and fields of a whole document are read first; then its parts are made, and that they fit together is checked.
 */

import { Alphabet, makeAlphabet, MAX_SYMBOLS, readAlphabetFields } from "./alphabet.js";
import { utf8Length } from "./bytes.js";
import { refuse } from "./errors.js";
import { decimalUnits, DIGITS_END, epsilonNats, KEEP_ONE, LARGEST_INTEGER, MASS_ONE, min, odds, parseDecimal, sum, U32, WEIGHT_ONE } from "./exact.js";
import { checkSteps, makeIncidence, releasesBits } from "./incidence.js";
import { integer, integers, isObject, listOf, optional, record, textOf } from "./json.js";

// ---------------------------------------------------------------- parts

const MAX_CELLS = 1 << 26;
const MAX_CLAIMS = 16;
/** About the most steps that checking blocks may take. */
const MAX_CHECK_STEPS = 2 ** 33;

/** A list of integers that sum to one. */
export function checkParts(parts, one, reason, what) {
  if (parts.length === 0) refuse(reason, `${what} is empty`);
  if (parts.length > MAX_SYMBOLS) refuse(reason, `${what} has too many entries`);
  const found = sum(parts);
  if (found !== one) refuse(reason, `${what} sums to ${found} where exactly ${one} is needed`);
  return parts;
}

/** A prior: weights in units of 2^-32 that sum to one. */
export const makePrior = (weights) => checkParts(weights, WEIGHT_ONE, "prior", "the list of weights");

/** The shape table: a row of masses in units of 2^-48 for each input. */
export function makeTable(masses) {
  masses.forEach((row, at) => checkParts(row, MASS_ONE, "channel", `row ${at}`));
  if (masses.length === 0) refuse("channel", "the channel is empty");
  const outputs = masses[0].length;
  if (masses.some((row) => row.length !== outputs)) refuse("channel", "rows have different lengths");
  if (masses.length * outputs > MAX_CELLS) refuse("channel", "the table has too many cells");
  return { shape: "table", inputs: masses.length, outputs, masses };
}

/** The shape keep: the probability of keeping each symbol in units of 2^-40, and the masses of what replaces it. */
export function makeKeep(keep, base) {
  if (keep.length !== base.length) refuse("channel", "give one keep probability and one base mass per symbol");
  if (keep.some((k) => k > KEEP_ONE)) refuse("channel", "a probability of keeping is above one");
  checkParts(base, MASS_ONE, "channel", "the base");
  return { shape: "keep", inputs: keep.length, outputs: keep.length, keep, base };
}

/** The shape bits: one bit per symbol, set with the probability `own` or `other` in units of 2^-32. */
export function makeBits(symbols, own, other) {
  if (symbols === 0) refuse("channel", "the channel is empty");
  if (symbols > MAX_SYMBOLS) refuse("channel", "too many symbols");
  if (own > WEIGHT_ONE || other > WEIGHT_ONE) refuse("channel", "a probability is above one");
  return { shape: "bits", inputs: symbols, outputs: symbols, own, other };
}

/** The context of a list of priors. */
export function makePriors(list) {
  if (list.length === 0) refuse("context", "the list of priors is empty");
  if (list.some((prior) => prior.length !== list[0].length)) refuse("context", "priors have different lengths");
  return { kind: "priors", inputs: list[0].length, list };
}

/** The context of all priors between two ends. */
export function makeBox(lower, ends) {
  if (lower.length === 0) refuse("context", "the box is empty");
  if (lower.length !== ends.length) refuse("context", "the ends of the box have different lengths");
  const upper = ends.map((end) => min(end, WEIGHT_ONE));
  if (lower.some((low, x) => low > upper[x])) refuse("context", "the box is reversed");
  const [low, high] = [sum(lower), sum(upper)];
  if (low > WEIGHT_ONE || high < WEIGHT_ONE) refuse("context", "no prior lies in the box");
  return { kind: "box", inputs: lower.length, lower, upper, slack: WEIGHT_ONE - low, reach: high };
}

/** The context of a secret: its law, and one of the input for each value it has. */
export function makeSecret(name, weights, rows) {
  const size = utf8Length(name);
  if (size === 0 || size > 200) refuse("context", "the secret's name must have 1 to 200 bytes");
  if (rows.length !== weights.length) refuse("context", "give one row for each value of the secret");
  if (rows.some((row) => row.length !== rows[0].length)) refuse("context", "rows have different lengths");
  return { kind: "secret", inputs: rows[0].length, name, weights, rows };
}

/** A delta in units of 2^-48. */
export function makeDelta(units) {
  if (units >= MASS_ONE) refuse("delta", "delta must be below one");
  return units;
}

/** Checks where a document says it comes from; `reason` is that of the document. */
export function checkProvenance({ source, n, date, confidence, rounding }, reason) {
  if (utf8Length(source) > 500) refuse(reason, "provenance.source has more than 500 bytes");
  if (n > LARGEST_INTEGER) refuse(reason, "provenance.n is not below 2^53");
  if (rounding > LARGEST_INTEGER) refuse(reason, "provenance.rounding is not below 2^53");
  if (date !== "" && !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(date)) refuse(reason, "provenance.date is not YYYY-MM-DD");
  if (confidence !== null && (confidence.digits < 0n || decimalUnits(confidence) > DIGITS_END)) {
    refuse(reason, "provenance.confidence is not between 0 and 1");
  }
}

/** The alphabet of what a draft releases: where none is given the inputs' own, or the numbers of blocks. */
export function outputsOf({ inputs, outputs, channel }) {
  if (outputs !== null) return outputs;
  return channel.shape === "incidence" && !releasesBits(channel) ? Alphabet.indices(channel.outputs) : inputs;
}

/** Checks that the parts fit together. */
export function makeDraft({ inputs, outputs, channel, context, claims, provenance }) {
  const fits = (what, expected, found) => {
    if (expected !== found) refuse("draft", `${what} has ${found} symbols where ${expected} are needed`);
  };
  fits("the input alphabet", channel.inputs, inputs.size);
  if (outputs !== null && channel.shape !== "table") refuse("draft", "the shapes keep and bits release the inputs' own symbols, and incidence numbers its blocks");
  fits("the output alphabet", channel.outputs, outputsOf({ inputs, outputs, channel }).size);
  if (context.inputs !== null) fits("the prior", channel.inputs, context.inputs);
  const laws = context.kind === "unknown" ? 0 : (context.list ?? context.rows ?? [0]).length;
  if (channel.shape === "incidence" && checkSteps(channel, laws, context.kind === "secret") > MAX_CHECK_STEPS) refuse("draft", `checking these blocks under ${laws} laws would take too long`);
  if (claims.length === 0 || claims.length > MAX_CLAIMS) refuse("draft", `make 1 to ${MAX_CLAIMS} claims`);
  claims.forEach((claim, index) => {
    if (claim.notion === "lip" && context.kind === "unknown") refuse("draft", `claim ${index} is about belief but no prior is given`);
    if (claim.about === "secret" && context.kind !== "secret") refuse("draft", `claim ${index} is about a secret but the context has none`);
    if (claim.notion === "di") {
      const weighed = context.kind === "prior" || context.kind === "priors";
      if (!weighed || claim.about === "secret" || claim.delta > 0n) refuse("draft", `claim ${index} is di, which needs priors and no delta`);
    }
    if (claim.delta > 0n && channel.shape !== "table" && channel.shape !== "keep") refuse("draft", `claim ${index} has a delta, which bits and incidence do not support`);
  });
  checkProvenance(provenance, "draft");
  return Object.freeze({ inputs, outputs, channel, context, claims, provenance });
}

// ---------------------------------------------------------------- fields

/** The text of the field that says which kind an object is. */
export const tagged = (value, tag, what) => {
  if (!isObject(value) || typeof value[tag] !== "string") refuse("json", `${what} needs a field ${tag}`);
  return value[tag];
};

/** The entry of a table that a tag names. */
export function pick(table, tag, what) {
  if (!Object.hasOwn(table, tag)) refuse("json", `${what} ${JSON.stringify(tag)} is not known`);
  return table[tag];
}

/** Odds from a pair of 32-bit integers. */
export const readOdds = (pair) => odds(...pair.map((part, at) => integer(part, `odds[${at}]`, U32)));

const u32 = (value, what) => Number(integer(value, what, U32));

/** Integers of 32 bits in the fields of a family. */
function u32s(v, names) {
  record(v, "channel.family", ["kind", ...names]);
  return Object.fromEntries(names.map((name) => [name, u32(v[name], `channel.family.${name}`)]));
}

/** For each kind of family, its fields by type only. */
const familyFields = {
  subsets: (v) => u32s(v, ["size"]),
  hashing: (v) => u32s(v, ["buckets", "dimension"]),
  geometry: (v) => {
    const names = ["order", "dimension", "classes", "cosets"];
    record(v, "channel.family", ["kind", ...names, "zero"]);
    if (typeof v.zero !== "boolean") refuse("json", "channel.family.zero must be true or false");
    const { zero, ...rest } = v;
    return { ...u32s(rest, names), zero };
  },
  listed: (v) => {
    record(v, "channel.family", ["kind", "blocks"]);
    return { blocks: listOf(v.blocks, "channel.family.blocks", (list, what) => listOf(list, what, u32)) };
  },
};

/** For each shape, its fields by type only, and then the function that makes the channel. */
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
  incidence: (v) => {
    record(v, "channel", ["shape", "symbols", "coin", "family"]);
    const [symbols, coin] = [u32(v.symbols, "channel.symbols"), integer(v.coin, "channel.coin")];
    const kind = tagged(v.family, "kind", "channel.family");
    const family = { kind, ...pick(familyFields, kind, "channel.family.kind")(v.family) };
    return () => makeIncidence(symbols, coin, family);
  },
};

/** For each kind of context, its fields by type only, and then the function that makes it. */
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

/** Where a document says it comes from, by type only, and then the function that makes it. */
export function provenanceFields(value) {
  const v = value === undefined ? {} : record(value, "provenance", [], ["source", "n", "date", "confidence", "rounding"]);
  const or = (field, fallback, read) => (v[field] === undefined ? fallback : read(v[field], `provenance.${field}`));
  const source = or("source", "", textOf);
  const n = or("n", 0n, (item, name) => integer(item, name));
  const date = or("date", "", textOf);
  const confidence = optional(v.confidence, (item) => textOf(item, "provenance.confidence"));
  const rounding = or("rounding", 0n, (item, name) => integer(item, name));
  return () => ({ source, n, date, confidence: confidence === null ? null : parseDecimal(confidence), rounding });
}

/** The fields of a document by type only, and then the function that makes the draft and tells the stated id, which is not checked. */
export function draftFields(document) {
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
  return () => {
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
  };
}

/** Reads a document without checking its stated id. */
export const draftFromFields = (document) => draftFields(document)();
