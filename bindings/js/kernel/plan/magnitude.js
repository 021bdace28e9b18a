/**
 * Magnitudes: nought, or m 2^e with 2^63 <= m < 2^64, and what is reckoned with them, each result rounded down or up as the caller says.
 *
 * The exponent has no end, so a product is nought only if a factor is. `null` stands for what has no bound.
 */

import { lnUp } from "../exact.js";

const LEAST = 1n << 63n;
const END = 1n << 64n;

/** A number that is m 2^e. */
class Magnitude {
  constructor(m, e) {
    this.m = m;
    this.e = e;
  }
}

export const NOUGHT = new Magnitude(0n, 0);
export const WHOLE = new Magnitude(LEAST, -63);
/** The largest magnitude below one. */
const ALMOST = new Magnitude(END - 1n, -64);

/** q 2^e, one more if `more`, where q has 64 binary digits. */
function stepped(q, e, more) {
  if (!more) return new Magnitude(q, e);
  return q + 1n === END ? new Magnitude(LEAST, e + 1) : new Magnitude(q + 1n, e);
}

/** n 2^e for any integer n of at least 0. */
export function magnitude(n, e, up) {
  if (n === 0n) return NOUGHT;
  const excess = n.toString(2).length - 64;
  if (excess <= 0) return new Magnitude(n << BigInt(-excess), e + excess);
  const cut = BigInt(excess);
  const q = n >> cut;
  return stepped(q, e + excess, up && q << cut !== n);
}

export function product(a, b, up) {
  if (a.m === 0n || b.m === 0n) return NOUGHT;
  const exact = a.m * b.m;
  const cut = exact >> 127n ? 64 : 63;
  const q = exact >> BigInt(cut);
  return stepped(q, a.e + b.e + cut, up && BigInt.asUintN(cut, exact) !== 0n);
}

export function plus(a, b, up) {
  if (a.m === 0n) return b;
  if (b.m === 0n) return a;
  const [high, low] = a.e >= b.e ? [a, b] : [b, a];
  const apart = high.e - low.e;
  // Less than one unit of the last place.
  if (apart >= 64) return stepped(high.m, high.e, up);
  const exact = (high.m << BigInt(apart)) + low.m;
  const cut = exact >> BigInt(64 + apart) ? apart + 1 : apart;
  return stepped(exact >> BigInt(cut), low.e + cut, up && BigInt.asUintN(cut, exact) !== 0n);
}

/** a / b, null if only b is nought; b is not nought where a is. */
export function quotient(a, b, up) {
  if (b.m === 0n) return null;
  if (a.m === 0n) return NOUGHT;
  const exact = a.m << 64n;
  const q = exact / b.m;
  const rest = q * b.m !== exact;
  if (q < END) return stepped(q, a.e - b.e - 64, up && rest);
  return stepped(q >> 1n, a.e - b.e - 63, up && (rest || (q & 1n) === 1n));
}

/** 1 - a for a of at most one. */
export function complement(a, up) {
  if (a.m === 0n) return WHOLE;
  if (a.e < -200) return up ? WHOLE : ALMOST;
  const one = 1n << BigInt(-a.e);
  return a.m >= one ? NOUGHT : magnitude(one - a.m, a.e, up);
}

/** n/d of two integers: n rounded, over d rounded the other way, rounded; null for n/0. */
export const ratioMagnitude = (n, d, up) => quotient(magnitude(n, 0, up), magnitude(d, 0, !up), up);

/** Whether a is above b; null is above all others. */
export function isAbove(a, b) {
  if (a === null || b === null) return b !== null;
  if (a.m === 0n || b.m === 0n) return b.m === 0n && a.m !== 0n;
  return a.e === b.e ? a.m > b.m : a.e > b.e;
}

export const largest = (a, b) => (isAbove(b, a) ? b : a);
export const least = (a, b) => (isAbove(a, b) ? b : a);

/** A product in which null times anything but nought is null. */
export function productOrNull(a, b, up) {
  if (a === null || b === null) return a?.m === 0n || b?.m === 0n ? NOUGHT : null;
  return product(a, b, up);
}

const WORD = lnUp(1n << 256n, 1n);

/** The logarithm rounded up, in units of 10^-10 nats; 0 below one, null without bound. */
export function magnitudeNats(a) {
  if (a === null) return null;
  const doublings = a.e + 63;
  if (a.m === 0n || doublings < 0) return 0n;
  return lnUp(a.m << BigInt(doublings % 256), LEAST) + BigInt(Math.floor(doublings / 256)) * WORD;
}

/** A positive float, exactly. */
export function fromFloat(value) {
  const places = 52 - Math.floor(Math.log2(value));
  // Two factors, because 2^places alone may be no float.
  const half = Math.floor(places / 2);
  return magnitude(BigInt(Math.floor(value * 2 ** half * 2 ** (places - half))), -places, false);
}
