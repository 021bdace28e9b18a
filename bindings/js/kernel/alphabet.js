/** Alphabets: what the indices of inputs and outputs stand for. */

import { refuse } from "./errors.js";
import { decimalText, decimalUnits, parseDecimal, U32 } from "./exact.js";
import { integer, optional, record, texts } from "./json.js";

/** The most symbols of an alphabet. */
export const MAX_SYMBOLS = 1 << 24;

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

/** The fields of an alphabet in a document, by type only: null where there is none. */
export function readAlphabetFields(value, what) {
  record(value, what, [], ["indices", "names", "points", "edges", "values"]);
  return {
    indices: optional(value.indices, (v) => integer(v, `${what}.indices`, U32)),
    names: optional(value.names, (v) => texts(v, `${what}.names`)),
    points: optional(value.points, (v) => texts(v, `${what}.points`)),
    edges: optional(value.edges, (v) => texts(v, `${what}.edges`)),
    values: optional(value.values, (v) => texts(v, `${what}.values`)),
  };
}

/** An alphabet from its fields, of which those of one kind must be given. */
export function makeAlphabet({ indices, names, points, edges, values }) {
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
