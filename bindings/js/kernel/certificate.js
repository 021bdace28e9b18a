/** Verification: every claim of a policy against what its channel attains. */

import { blocksSecretStrength, blocksStrength, blocksWeightedExtremes, parting } from "./blocks.js";
import { ascending, MASS_ONE, max, min, partitionPoint, positive, RATIO_ZERO, ratioAbove, ratioText, WEIGHT_ONE } from "./exact.js";
import { dataWeight, exactRange, extremesOf, marginalsOf, push, viewOf } from "./likelihood.js";
import { CELL, heaviestAndLightest, NOTHING, worse } from "./worst.js";

/** A claim that is false, where, and by how much. */
export class Refusal extends Error {
  constructor(claim, side, attained, allowed, cell) {
    super(`claim ${claim} is false (${side}): ${ratioText(attained)} is attained and ${ratioText(allowed)} is allowed`);
    this.name = "Refusal";
    Object.assign(this, { claim, side, attained: ratioText(attained), allowed: ratioText(allowed), cell });
  }
}

// ---------------------------------------------------------------- outputs that are listed

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
  return { ldp, ...(marginals === null ? { upper: null, lower: null } : { upper, lower }), exact: true };
}

/** Two-sided LIP: the larger of rise and fall, or null without a context. */
export const lipRatio = ({ upper, lower }) => {
  if (upper === null) return null;
  return ratioAbove(lower.ratio, upper.ratio) ? lower.ratio : upper.ratio;
};

// ---------------------------------------------------------------- the shape bits, whose outputs are never listed

/** Up to a common factor, the likelihoods of an input whose own bit speaks for it and against it. */
export function bitLikelihoods({ own, other }) {
  const [set, clear] = [own * (WEIGHT_ONE - other), (WEIGHT_ONE - own) * other];
  return set === clear ? [1n, 1n] : [max(set, clear), min(set, clear)];
}

/** The smallest weight of x over the context's priors, one in the same unit, and which prior. */
export function leastWeight(context, x) {
  switch (context.kind) {
    case "prior":
      return [context.weights[x], WEIGHT_ONE, null];
    case "law":
      return [context.weights[x], MASS_ONE, null];
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
  if (context.kind === "unknown") return { ldp, upper: null, lower: null, exact: true };
  // Where other bits are never (or always) set, belief in x falls at the pattern of another symbol, not at the complement of its own.
  const apart = bits.other === 0n || bits.other === WEIGHT_ONE;
  for (let x = 0; x < bits.inputs; x += 1) {
    const [weight, one, prior] = leastWeight(context, x);
    const rest = one - weight;
    upper = worse(upper, high * one, weight * high + rest * low, { ...CELL, output: x, high: x, prior });
    lower = worse(lower, weight * low + rest * high, low * one, { ...CELL, output: apart ? null : x, low: x, prior });
  }
  return { ldp, upper, lower, exact: true };
}

/** What a channel attains about its input under a prior in units of 2^-48, as the law of a plan gives it. */
export function strengthUnder(channel, weights) {
  if (channel.shape === "incidence") return blocksStrength(channel, { kind: "law", weights });
  const view = viewOf(channel);
  if (view === null) return bitsStrength(channel, { kind: "law", weights });
  return strengthOf(view.outputs, (y) => view.extremes(y), { range: exactRange(view.mixture(weights)), scale: 48n });
}

/** The symbols in descending order of a/b; 0/0 last, where it cannot matter. */
export function byRatio(a, b) {
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
  return { ldp, upper, lower, exact: true };
}

/** The greatest and least weighted likelihood that bits attain under a prior, in the form of `weightedExtremes`. */
function bitsWeightedExtremes(bits, weights) {
  return bits.inputs === 1 ? [] : [heaviestAndLightest(...bitLikelihoods(bits), weights)];
}

// ---------------------------------------------------------------- the least delta

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

/** What `lipDelta` finds, for keep: sums are read off prefix sums, and the term at x is exchanged for its own. */
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
 * What `ldpDelta` finds, for keep. With c = rest(x) - E rest(z), the excess is (keep(x) + c base(x))+ for
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

// ---------------------------------------------------------------- claims

/** Everything the claims are held against. */
function examine(view, channel, context) {
  if (channel.shape === "incidence") {
    const secret = context.kind === "secret" ? blocksSecretStrength(channel, context) : null;
    return { input: blocksStrength(channel, context), secret, marginals: null, pushed: null };
  }
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
    const blocks = channel.shape === "incidence";
    const unlisted = blocks ? blocksWeightedExtremes : bitsWeightedExtremes;
    const columns = view === null ? unlisted(channel, weights) : view.weightedExtremes(weights);
    columns.forEach(({ high, low }, y) => {
      // Of bits, the pattern in which only the heaviest input's bit speaks for its symbol, if bits speak at all; of blocks, one that parts the two.
      const own = () => (blocks ? parting(channel, high[1], low[1]) : channel.own === channel.other ? null : high[1]);
      const output = view === null ? own() : y;
      worst = worse(worst, high[0], low[0], { output, high: high[1], low: low[1], prior: context.kind === "priors" ? at : null });
    });
  });
  return worst;
}

/** Verifies claims; `view` is null for bits and blocks. */
export function check(view, channel, context, claims) {
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
