/**
 * Exact arithmetic: small functions on BigInt, decimals, nats, ratios, and epsilon as odds.
 *
 * BigInt cannot overflow, so the Rust kernel's `Wide` (384 bits, by hand because no big-integer crate may stand under a check) has no counterpart here.
 */

import { refuse } from "./errors.js";

// ---------------------------------------------------------------- integers

/** The largest integer of 32 bits. */
export const U32 = 0xffff_ffffn;
/** Every integer of a document is at most this, so that any JSON parser reads it exactly. */
export const LARGEST_INTEGER = 2n ** 53n - 1n;

/** One, in the unit of masses and deltas. */
export const MASS_ONE = 1n << 48n;
/** One, in the unit of priors and of the probabilities of bits. */
export const WEIGHT_ONE = 1n << 32n;
/** One, in the unit of the probabilities of keeping. */
export const KEEP_ONE = 1n << 40n;

export const max = (a, b) => (a > b ? a : b);
export const min = (a, b) => (a < b ? a : b);
/** The positive part. */
export const positive = (a) => (a > 0n ? a : 0n);

export const sum = (values) => values.reduce((a, b) => a + b, 0n);

/** The quotient of two positive integers, rounded up. */
export const ceilDiv = (a, b) => (a + b - 1n) / b;

/** How many binary digits a positive integer has. */
const bitLength = (a) => BigInt(a.toString(2).length);

/** The greatest common divisor. */
function gcd(a, b) {
  let [x, y] = [a, b];
  while (y) [x, y] = [y, x % y];
  return x;
}

/** Orders a list from the least to the greatest. */
export const ascending = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** How many leading items of a list satisfy a condition that holds up to some point. */
export function partitionPoint(list, holds) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

// ---------------------------------------------------------------- decimals

const MAX_SCALE = 18;
/** The digits of a decimal are below this, which is also one in units of 10^-18. */
export const DIGITS_END = 10n ** 18n;

/** digits x 10^-scale without trailing zeros behind the point. */
export function decimal(digits, scale) {
  let [d, s] = [digits, scale];
  if (s > MAX_SCALE) refuse("decimal", "a decimal has at most 18 places");
  while (s > 0 && d % 10n === 0n) [d, s] = [d / 10n, s - 1];
  if (d >= DIGITS_END || d <= -DIGITS_END) refuse("decimal", "a decimal has at most 18 digits");
  return { digits: d, scale: s };
}

/** A decimal from plain digits, with a sign and a point at most. */
export function parseDecimal(text) {
  const match = /^(-?)([0-9]{0,18})(?:\.([0-9]{1,18}))?$/.exec(text);
  const digits = match ? match[2] + (match[3] ?? "") : "";
  if (digits === "") refuse("decimal", `${JSON.stringify(text)} is not a decimal number`);
  const value = BigInt(digits);
  if (value > 0x7fff_ffff_ffff_ffffn) refuse("decimal", `${JSON.stringify(text)} has too many digits`);
  return decimal(match[1] ? -value : value, (match[3] ?? "").length);
}

/** In units of 10^-18, for comparison. */
export const decimalUnits = ({ digits, scale }) => digits * 10n ** BigInt(MAX_SCALE - scale);

/** A decimal as it is printed. */
export function decimalText({ digits, scale }) {
  const size = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, "0");
  const whole = size.slice(0, size.length - scale);
  return `${digits < 0n ? "-" : ""}${whole}${scale ? `.${size.slice(size.length - scale)}` : ""}`;
}

// ---------------------------------------------------------------- nats

const FRACTION = 120n;
/** One, in fixed point. */
export const ONE = 1n << FRACTION;
/** The floor of 2^120 ln 2. */
const LN_2_DOWN = 0x00b17217f7d1cf79abc9e3b39803f2f6n;
/** One nat, in units of 10^-10. */
export const UNIT = 10n ** 10n;

const multiplyUp = (a, b) => (a * b + ONE - 1n) >> FRACTION;

/** ln(n/d) in units of 10^-10, rounded up; 0 for ratios up to one. */
export function lnUp(n, d) {
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
export function expUp(units) {
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

/** The sum of costs, or null if one has no finite level. */
export const totalCost = (costs) => costs.reduce((total, cost) => (total === null || cost === null ? null : total + cost), 0n);

// ---------------------------------------------------------------- ratios

// A ratio is { n, d }, never 0/0; d = 0 is "without bound" and above every other.

export const RATIO_ONE = { n: 1n, d: 1n };
export const RATIO_ZERO = { n: 0n, d: 1n };
/** The ratio above every other. */
export const UNBOUNDED = { n: 1n, d: 0n };

/** Whether one ratio is above another. */
export const ratioAbove = (a, b) => a.n * b.d > b.n * a.d;

export const largerRatio = (a, b) => (ratioAbove(a, b) ? a : b);
export const smallerRatio = (a, b) => (ratioAbove(a, b) ? b : a);
/** The larger of a ratio and n/d, of which 0/0 says nothing. */
export const raised = (worst, n, d) => (n === 0n && d === 0n ? worst : largerRatio({ n, d }, worst));

/** A ratio in lowest terms, as text. */
export function ratioText({ n, d }) {
  if (d === 0n) return "unbounded";
  const shared = gcd(n, d);
  return `${n / shared}/${d / shared}`;
}

/** The logarithm of a ratio, or null without bound. */
export const ratioNats = ({ n, d }) => (d === 0n ? null : lnUp(n, d));

/** A ratio as `{ ratio, nats }` in text. */
export function level(ratio) {
  const nats = ratioNats(ratio);
  return { ratio: ratioText(ratio), nats: nats === null ? "unbounded" : natsText(nats) };
}

// ---------------------------------------------------------------- epsilon

const LARGEST_NATS = lnUp(U32, 1n);

/** Odds n/d of at least one, as 32-bit integers. */
export function odds(n, d) {
  if (d === 0n || n < d) refuse("epsilon", `odds ${n}/${d} are not at least one`);
  return { n, d };
}

/** The largest odds whose logarithm, rounded up as printed, is at most the decimal `text`. */
export function parseEpsilon(text) {
  return epsilonAtMost(parseNats(text));
}

/** The largest odds whose logarithm, rounded up as printed, is at most some units of 10^-10 nats: a walk down the Stern-Brocot tree. */
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

/** The nats printed for odds. */
export const epsilonNats = ({ n, d }) => natsText(lnUp(n, d));
