/**
 * Strict JSON, and the types of its fields.
 *
 * The reader is by hand because `JSON.parse` rounds integers from 2^53 on, keeps the last of repeated fields, and cannot tell `1.0` from `1`.
 */

import { refuse } from "./errors.js";
import { LARGEST_INTEGER } from "./exact.js";

/** Reads JSON strictly: integers exactly (as BigInt), repeated fields refused. A number with a sign, a fraction or an exponent is a Number. */
export const parseJson = (text) => readJson(text, Number);

/** A number written with a sign, a fraction or an exponent, as no document of ours writes one. */
class NotAnInteger {
  constructor(written) {
    this.written = written;
  }
}

/** A document as the kernel reads it: no number with a sign, a fraction or an exponent is an integer, not even `1.0`. */
export const parseDocument = (text) => readJson(text, (written) => new NotAnInteger(written));

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

/** JSON, or null. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whether two plain values are the same, field by field. */
export function sameValue(a, b) {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a)) return a.length === b.length && a.every((item, at) => sameValue(item, b[at]));
  return Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((name) => sameValue(a[name], b[name]));
}

// ---------------------------------------------------------------- fields

/** Whether a value read is an object: no list, no null, no number. */
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NotAnInteger);

/** An object with no fields but `required` and `optional`. */
export function record(value, what, required, optional = []) {
  if (!isObject(value)) refuse("json", `${what} must be an object`);
  for (const name of required) if (!(name in value)) refuse("json", `${what} has no field ${name}`);
  for (const name of Object.keys(value)) {
    if (!required.includes(name) && !optional.includes(name)) refuse("json", `${what} has an unknown field ${name}`);
  }
  return value;
}

/** An integer of at least 0 as BigInt, from BigInt or a safe Number. */
export function integer(value, what, largest = LARGEST_INTEGER) {
  let exact = value;
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) refuse("json", `${what} must be an integer of at least 0`);
    exact = BigInt(value);
  }
  if (typeof exact !== "bigint" || exact < 0n || exact > largest) refuse("json", `${what} must be an integer from 0 to ${largest}`);
  return exact;
}

/** A list whose items are each read by `read(item, name)`. */
export function listOf(value, what, read) {
  if (!Array.isArray(value)) refuse("json", `${what} must be a list`);
  return value.map((item, at) => read(item, `${what}[${at}]`));
}

/** Text that UTF-8 can hold. */
export function textOf(value, what) {
  if (typeof value !== "string") refuse("json", `${what} must be text`);
  if (/\p{Surrogate}/u.test(value)) refuse("json", `${what} holds half a surrogate pair`);
  return value;
}

/** A list of integers. */
export const integers = (value, what) => listOf(value, what, (item, name) => integer(item, name));
/** A list of texts. */
export const texts = (value, what) => listOf(value, what, textOf);
/** A field that may be missing or null. */
export const optional = (value, read) => (value === undefined || value === null ? null : read(value));
