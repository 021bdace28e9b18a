// What a sequence of releases attains, by definition: every transcript is listed, in exact fractions. Slow, and written
// from vectors/v1/README.md alone; nothing of the module under test is used.

const [MASS, WEIGHT, KEEP, UNIT] = [2n ** 48n, 2n ** 32n, 2n ** 40n, 2n ** 64n];
/** A ratio is `[n, d]`; with d = 0 it has no bound. */
const above = (a, b) => a[0] * b[1] > b[0] * a[1];
export const larger = (a, b) => (above(a, b) ? a : b);
const smaller = (a, b) => (above(a, b) ? b : a);
const ONE = [1n, 1n];
const UNBOUNDED = [1n, 0n];
const raise = (worst, n, d) => (n === 0n && d === 0n ? worst : larger([n, d], worst));
const sum = (list) => list.reduce((a, b) => a + b, 0n);
const big = (list) => list.map((item) => (Array.isArray(item) ? big(item) : BigInt(item)));
const range = (count) => Array.from({ length: count }, (_, at) => at);

/** P(y|x) for all x and y, over a common denominator. Outputs of bits are all patterns, the bit of x having the weight 2^x. */
export function rowsOf(channel, k) {
  if (channel.shape === "table") return big(channel.masses);
  if (channel.shape === "keep") {
    const [keep, base] = [big(channel.keep), big(channel.base)];
    return keep.map((kept, x) => base.map((mass, y) => (x === y ? kept * MASS : 0n) + (KEEP - kept) * mass));
  }
  const chance = (x, i, set) => {
    const p = BigInt(i === x ? channel.own : channel.other);
    return set ? p : WEIGHT - p;
  };
  return range(k).map((x) => range(2 ** k).map((y) => range(k).reduce((all, i) => all * chance(x, i, (y >> i) & 1), 1n)));
}

/** The corners of a box of priors: all weights but one at an end. */
function corners(lower, upper) {
  const found = [];
  range(lower.length).forEach((free) => {
    range(2 ** lower.length).forEach((ends) => {
      const prior = lower.map((low, x) => ((ends >> x) & 1 ? upper[x] : low));
      prior[free] = WEIGHT - (sum(prior) - prior[free]);
      if (prior[free] >= lower[free] && prior[free] <= upper[free]) found.push(prior);
    });
  });
  return found;
}

/** Every prior that has to be looked at, in a unit of its own, and the lightest weight any prior gives to a symbol. */
function priorsOf(context) {
  const of = (list) => ({ list, one: sum(list[0]), lightest: list.flat().reduce((a, b) => (a < b ? a : b)) });
  if (context.kind === "prior") return [of(big([context.weights]))];
  if (context.kind === "priors") return big(context.list).map((weights) => of([weights]));
  if (context.kind === "secret") {
    const [weights, rows] = [big(context.weights), big(context.rows)];
    return [of([rows[0].map((_, x) => sum(weights.map((p, s) => p * rows[s][x])))])];
  }
  const [lower, upper] = [big(context.lower), big(context.upper).map((end) => (end < WEIGHT ? end : WEIGHT))];
  return [of(corners(lower, upper))];
}

/** e^(units / 10^10) rounded up to 2^-64, from a series with 400 bits. */
export function oddsOf(units) {
  if (units === 0n) return UNIT;
  if (units === null || units > 40n * 10n ** 10n) return null;
  const one = 1n << 400n;
  // e^(u / 2^10) by its series, then ten squarings.
  const x = (units * one) / (10n ** 10n << 10n);
  let [term, total] = [one, 0n];
  for (let n = 1n; term > 0n; n += 1n) [total, term] = [total + term, (term * x) / (n * one)];
  for (let times = 0; times < 10; times += 1) total = (total * total) / one;
  return (total >> 336n) + 1n;
}

/** The logarithm of a ratio in units of 10^-10, rounded up; null without bound. */
export function natsOf([n, d]) {
  if (d === 0n) return null;
  if (n <= d) return 0n;
  const one = 1n << 400n;
  // ln r = 2^12 ln r^(1 / 2^12), of which the series of artanh needs few terms.
  let root = (n * one) / d;
  for (let times = 0; times < 12; times += 1) root = squareRoot(root * one);
  const z = ((root - one) * one) / (root + one);
  let [total, power] = [0n, z];
  for (let odd = 1n; power > 0n; odd += 2n) [total, power] = [total + power / odd, (((power * z) / one) * z) / one];
  // The floor, and the next unit: no ratio of integers above one has a logarithm that ends after ten places.
  return ((total << 13n) * 10n ** 10n) / one + 1n;
}

function squareRoot(value) {
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** Calls `look` with the likelihoods of every transcript of some releases; one whose answer is at hand has only that one. */
function transcripts(releases, k, look) {
  const walk = (at, factor) => {
    if (at === releases.length) return look(factor);
    const { rows, answer } = releases[at];
    for (const y of answer === null ? range(rows[0].length) : [answer]) walk(at + 1, factor.map((entry, x) => entry * rows[x][y]));
  };
  walk(0, new Array(k).fill(1n));
}

/**
 * Several releases over one alphabet whose symbols have the same order everywhere: `{ rows, answer, context }`, the answer null if it is not
 * at hand. `odds` is what everything that is missing may have changed a likelihood by.
 */
export function frameBounds(releases, k, odds) {
  const found = { ldp: ONE, contexts: releases.map(({ context }) => context).filter(({ kind }) => kind !== "unknown").map((context) => ({ context, upper: ONE, lower: ONE, secret: ONE, rise: ONE, fall: ONE })) };
  const known = releases.filter(({ answer }) => answer !== null);
  let possible = false;
  transcripts(known, k, (factor) => (possible = factor.some((entry) => entry > 0n)));
  if (odds === null || !possible) {
    found.ldp = UNBOUNDED;
    for (const one of found.contexts) Object.assign(one, { upper: UNBOUNDED, lower: UNBOUNDED, secret: UNBOUNDED, rise: UNBOUNDED, fall: UNBOUNDED });
    return found;
  }
  transcripts(releases, k, (m) => {
    for (const a of m) for (const b of m) found.ldp = raise(found.ldp, odds * a, UNIT * b);
    for (const one of found.contexts) belief(one, m, odds);
  });
  if (odds !== UNIT) {
    const g = oddsOf(natsOf(found.ldp));
    for (const one of found.contexts) if (one.context.kind === "secret") one.secret = g === null ? UNBOUNDED : anySet(one.context, g);
  }
  return found;
}

function belief(one, m, odds) {
  const more = odds - UNIT;
  for (const { list, one: whole, lightest } of priorsOf(one.context)) {
    for (const prior of list) {
      const mixture = sum(prior.map((p, x) => p * m[x]));
      // G m / (p m (G - 1) + T) and (G T - p (G - 1) m) / m, for the lightest p.
      for (const entry of m) {
        one.upper = raise(one.upper, odds * entry * whole, lightest * entry * more + mixture * UNIT);
        const falls = odds * mixture - lightest * more * entry;
        one.lower = raise(one.lower, falls > 0n ? falls : 0n, UNIT * entry * whole);
      }
    }
  }
  if (one.context.kind !== "secret") return;
  const [weights, rows] = [big(one.context.weights), big(one.context.rows)];
  const told = rows.map((row) => sum(row.map((p, x) => p * m[x])));
  const mixed = sum(told.map((entry, s) => weights[s] * entry));
  for (const a of told) {
    for (const b of told) one.secret = raise(one.secret, a, b);
    one.rise = raise(one.rise, a * WEIGHT, mixed);
    one.fall = raise(one.fall, mixed, a * WEIGHT);
  }
}

/** A secret behind likelihoods that differ by at most g: every set of symbols is tried. */
function anySet({ rows }, g) {
  const laws = big(rows);
  let worst = ONE;
  for (const set of range(2 ** laws[0].length)) {
    const told = laws.map((law) => WEIGHT * UNIT + (g - UNIT) * sum(law.filter((_, x) => (set >> x) & 1)));
    for (const a of told) for (const b of told) worst = raise(worst, a, b);
  }
  return worst;
}

/** All frames together, and what all costs add up to. */
export function wholeOf(frames, costs) {
  const odds = oddsOf(costs.includes(null) ? null : sum(costs));
  const ldp = frames.map((frame) => frame.ldp).reduce(smaller, odds === null ? UNBOUNDED : [odds, UNIT]);
  const contexts = frames.flatMap((frame) => frame.contexts);
  const lip = contexts.length === 0 ? null : smaller(contexts.map(({ upper, lower }) => larger(upper, lower)).reduce(larger), ldp);
  const secrets = {};
  for (const { context, secret } of contexts) {
    if (context.kind === "secret") secrets[context.name] = larger(smaller(secret, ldp), secrets[context.name] ?? ONE);
  }
  return { ldp, lip, secrets };
}

/** Whether a claim holds under one context's bounds. */
export function claimHolds(claim, ldp, one) {
  const within = (ratio, { odds }) => !above(ratio, big(odds));
  const [lower, upper] = [claim.lower ?? claim.epsilon, claim.upper ?? claim.epsilon];
  if (claim.notion === "ldp") return within(claim.about === "input" ? ldp : one.secret, claim.epsilon);
  if (claim.about === "input") return within(one.upper, upper) && within(one.lower, lower);
  return within(one.rise, upper) && within(one.fall, lower);
}
