/**
 * Releases over one alphabet: the likelihood of what was released, one number per symbol (a *factor*), and what it attains under each context that one
 * of the policies declared.
 */

import { ends } from "./blocks.js";
import { bitLikelihoods, byRatio, leastWeight } from "./certificate.js";
import { expUp, KEEP_ONE, MASS_ONE, min, positive, raised, RATIO_ONE, ratioAbove, ratioNats, sum, UNBOUNDED, UNIT, WEIGHT_ONE } from "./exact.js";
import { isInside, releasesBits } from "./incidence.js";
import { sameValue } from "./json.js";
import { dataWeight, Dense, extremesOf, KeepView, Singled } from "./likelihood.js";

// ---------------------------------------------------------------- the likelihood of what was released

/**
 * For every symbol of an alphabet in order, its index in another; null unless both have the same symbols. Names may come
 * in any order; bare indices match bare indices of the same number only.
 */
export function orderIn(alphabet, other) {
  if (sameValue(alphabet, other)) return Array.from({ length: alphabet.size }, (_, x) => x);
  if (alphabet.kind !== "names" || other.kind !== "names" || alphabet.size !== other.size) return null;
  const index = new Map(other.names.map((name, at) => [name, at]));
  const order = alphabet.names.map((name) => index.get(name));
  return order.includes(undefined) ? null : order;
}

/** A context with its symbols in another order: symbol i is symbol `order[i]` of this one. */
function reorderedContext(context, order) {
  const pick = (list) => order.map((x) => list[x]);
  switch (context.kind) {
    case "prior":
      return { ...context, weights: pick(context.weights) };
    case "priors":
      return { ...context, list: context.list.map(pick) };
    case "box":
      return { ...context, lower: pick(context.lower), upper: pick(context.upper) };
    case "secret":
      return { ...context, rows: context.rows.map(pick) };
    default:
      return context;
  }
}

const isSet = (packed, x) => (packed[x >> 3] & (0x80 >> (x & 7))) !== 0;

/** w(y|x) for every input x, up to a common factor, from below and from above; y is `{ token }` or `{ bits }`. */
function likelihoods(channel, answer) {
  if (channel.shape !== "incidence") {
    const found = exactLikelihoods(channel, answer);
    return [found, found];
  }
  const { levels, inputs } = channel;
  const within = Array.from({ length: inputs }, (_, x) => isInside(channel, answer, x));
  const of = (end) => within.map((inside) => (inside ? levels.inside : levels.outside)[end]);
  const low = of(0);
  return [low, levels.exact ? low : of(1)];
}

function exactLikelihoods(channel, { token, bits }) {
  if (channel.shape === "table") return channel.masses.map((row) => row[token]);
  if (channel.shape === "keep") {
    const base = channel.base[token];
    return channel.keep.map((kept, x) => (x === token ? kept * MASS_ONE : 0n) + (KEEP_ONE - kept) * base);
  }
  const { own, other, inputs } = channel;
  const [set, clear] = [own * (WEIGHT_ONE - other), (WEIGHT_ONE - own) * other];
  const entries = Array.from({ length: inputs }, (_, x) => (isSet(bits, x) ? set : clear));
  // Where other bits are certain the common factor can be nought; then nothing tells symbols apart.
  return entries.every((entry) => entry === 0n) ? entries.fill(1n) : entries;
}

/** How many answers a channel can give, where they can be listed; null otherwise. */
export function listedAnswers(channel) {
  const { shape, inputs, outputs } = channel;
  if (!releasesBits(channel)) return outputs;
  return shape === "bits" && inputs <= 16 ? 2 ** inputs : null;
}

/** The answer with this number among all a channel can give. */
export function answerAt({ shape, inputs }, number) {
  if (shape !== "bits") return { token: number, bits: null };
  const bits = new Uint8Array(Math.ceil(inputs / 8));
  for (let x = 0; x < inputs; x += 1) if ((number >> x) & 1) bits[x >> 3] |= 0x80 >> (x & 7);
  return { token: null, bits };
}

/** The factor of nothing: `lower` and `upper` ends per symbol, one list where they are the same. */
export function noFactor(size) {
  const ones = new Array(size).fill(1n);
  return { lower: ones, upper: ones };
}

/** A factor times the likelihoods of one more release, whose symbol `order[x]` is x; without the twos all entries share. */
export function times({ lower, upper }, channel, answer, order) {
  const [low, high] = likelihoods(channel, answer);
  const by = (ends, found) => ends.map((entry, x) => entry * found[order[x]]);
  const least = by(lower, low);
  const most = upper === lower && high === low ? least : by(upper, high);
  let shared = [...least, ...most].reduce((all, entry) => all | entry, 0n);
  let twos = 0n;
  while (shared !== 0n && (shared & 0xffffn) === 0n) [shared, twos] = [shared >> 16n, twos + 16n];
  const shorter = (list) => (twos === 0n ? list : list.map((entry) => entry >> twos));
  const short = shorter(least);
  return { lower: short, upper: most === least ? short : shorter(most) };
}

/** Whether no symbol can have given the answers of a factor. */
export const isImpossible = ({ upper }) => upper.every((entry) => entry === 0n);

// ---------------------------------------------------------------- what it attains

/** How far a likelihood may have changed is counted in units of 2^-64. */
export const ODDS_ONE = 1n << 64n;

/** e^units rounded up to 2^-64; null above 40 nats, where nothing is told apart from certainty, and without a finite level. */
export function oddsUp(units) {
  if (units === 0n) return ODDS_ONE;
  return units === null || units > 40n * UNIT ? null : (expUp(units) >> 56n) + 1n;
}

/** The cells of numbered blocks that are looked at one by one. */
const MAX_BLOCK_CELLS = 2 ** 20;

/**
 * The two likelihoods of a channel whose outputs are judged by patterns, each symbol having one of them for an arbitrary set of symbols; null for others. Bits are such a channel;
 * for blocks that are too many to look at it is a bound (`exact` is false), because every block is a set.
 */
function patternsOf(channel) {
  if (channel?.shape === "bits") {
    const [high, low] = bitLikelihoods(channel);
    return { high, low, exact: true };
  }
  if (channel?.shape !== "incidence" || (channel.members !== null && channel.inputs * channel.outputs <= MAX_BLOCK_CELLS)) return null;
  const [high, low] = ends(channel);
  return { high, low, exact: false };
}

/** How many columns are looked at one by one: one where a formula answers for all. */
export const columnCount = (channel) => (channel.shape === "table" || (channel.shape === "incidence" && patternsOf(channel) === null) ? channel.outputs : 1);

/** What has to be looked at with one end (0 from below, 1 from above) of a factor: it alone, or with every output of one more release that can be worst. */
function columnsOf(channel, factor, end) {
  if (channel === null) return [new Dense(0n, factor.map((entry) => [entry]))];
  if (channel.shape === "table") return [new Dense(0n, channel.masses.map((row, x) => row.map((mass) => factor[x] * mass)))];
  if (channel.shape === "keep") {
    const { own, rest, base } = new KeepView(channel);
    return [new Singled(own.map((entry, x) => entry * factor[x]), rest.map((entry, x) => entry * factor[x]), base)];
  }
  const by = (entry) => factor.map((own) => own * entry);
  const patterns = patternsOf(channel);
  if (patterns === null) {
    const { members, levels, outputs } = channel;
    const [within, without] = [by(levels.inside[end]), by(levels.outside[end])];
    return [new Dense(0n, factor.map((_, x) => Array.from({ length: outputs }, (_entry, block) => (members.contains(block, x) ? within[x] : without[x]))))];
  }
  // One symbol alone is spoken for, or one alone against.
  const ones = new Array(factor.length).fill(1n);
  const [high, low] = [by(patterns.high), by(patterns.low)];
  return [new Singled(high, low, ones), new Singled(low, high, ones)];
}

/** The columns with both ends of a factor, the same object where the ends are. */
function columnPairs(channel, { lower, upper }) {
  const low = columnsOf(channel, lower, 0);
  const rounded = channel?.shape === "incidence" && patternsOf(channel) === null && !channel.levels.exact;
  const high = lower === upper && !rounded ? low : columnsOf(channel, upper, 1);
  return low.map((columns, at) => [columns, high[at]]);
}

/** A declared context and what was found under it. */
class Found {
  constructor(context) {
    const secretBelief = context.kind === "secret" ? { rise: RATIO_ONE, fall: RATIO_ONE } : null;
    Object.assign(this, { context, upper: RATIO_ONE, lower: RATIO_ONE, secret: RATIO_ONE, secretBelief, orders: null });
  }

  unbounded() {
    Object.assign(this, { upper: UNBOUNDED, lower: UNBOUNDED, secret: UNBOUNDED });
    if (this.secretBelief !== null) this.secretBelief = { rise: UNBOUNDED, fall: UNBOUNDED };
  }

  /** Least and greatest mixture of every column over one prior or a box, the lightest weight, and the unit of weights. */
  *#ranges(low, high) {
    const { context } = this;
    const both = (of) => {
      const least = of(low);
      return [least, low === high ? least : of(high)];
    };
    const of = (weights, unit) => {
      const [least, greatest] = both((columns) => columns.mixture(weights));
      return { least, greatest, lightest: weights.reduce(min), unit };
    };
    if (context.kind === "prior") yield of(context.weights, 32n);
    if (context.kind === "priors") for (const weights of context.list) yield of(weights, 32n);
    if (context.kind === "secret") yield of(context.rows[0].map((_, x) => dataWeight(context, x)), 64n);
    if (context.kind === "box") {
      const [ranges, above] = both((columns) => columns.boxRanges(context));
      const lightest = context.lower.map((_, x) => leastWeight(context, x)[0]).reduce(min);
      yield { least: ranges.map(([least]) => least), greatest: above.map(([, greatest]) => greatest), lightest, unit: 32n };
    }
  }

  /**
   * Belief in the input: likelihoods against their mixtures. With releases that may have changed any likelihood by G = odds / 2^64,
   * belief rises by at most G t / (p t (G - 1) + T) and falls by at most (G T - p (G - 1) b) / b.
   */
  belief(low, high, extremes, odds) {
    for (const { least, greatest, lightest, unit } of this.#ranges(low, high)) {
      extremes.forEach(([top, bottom], y) => {
        const more = lightest * (odds - ODDS_ONE);
        this.upper = raised(this.upper, (top * odds) << unit, more * top + (least[y] << 64n));
        this.lower = raised(this.lower, positive(greatest[y] * odds - more * bottom), bottom << (unit + 64n));
      });
    }
  }

  /** The secret's likelihoods against each other, and against their mixture. */
  secretColumns(below, above) {
    const { weights, rows } = this.context;
    const least = rows.map((row) => below.mixture(row));
    const most = below === above ? least : rows.map((row) => above.mixture(row));
    for (let y = 0; y < below.outputs; y += 1) {
      const mixed = (pushed) => pushed.reduce((total, row, s) => total + weights[s] * row[y], 0n);
      const [top] = extremesOf(most.map((row) => row[y])).high;
      const [bottom] = extremesOf(least.map((row) => row[y])).low;
      this.secret = raised(this.secret, top, bottom);
      const { rise, fall } = this.secretBelief;
      this.secretBelief = { rise: raised(rise, top << 32n, mixed(least)), fall: raised(fall, mixed(most), bottom << 32n) };
    }
  }

  /**
   * The secret's likelihoods against each other where the next output multiplies those of an arbitrary set of symbols by
   * `high` and the others by `low`: the worst sets are prefixes of the order by P(x|s) / P(x|s').
   */
  secretSets(high, low, factor) {
    const { rows } = this.context;
    this.orders ??= rows.map((row) => rows.map((other) => (row === other ? null : byRatio(row, other))));
    const entries = (ends) => (ends === undefined ? rows : rows.map((row) => row.map((weight, x) => weight * ends[x])));
    const [above, below] = [entries(factor?.upper), entries(factor?.lower)];
    const gap = high - low;
    this.orders.forEach((orders, s) =>
      orders.forEach((order, t) => {
        if (order === null) return;
        let [top, bottom] = [low * sum(above[s]), low * sum(below[t])];
        for (const x of order) {
          top += gap * above[s][x];
          bottom += gap * below[t][x];
          this.secret = raised(this.secret, top, bottom);
        }
      }),
    );
    // Which output tells most about belief in the secret is not looked for.
    this.secretBelief = null;
  }

  /** Whether a claim holds for the whole; null where that cannot be said. */
  holds(claim) {
    const within = (ratio, epsilon) => !ratioAbove(ratio, epsilon);
    if (claim.about === "input") return within(this.upper, claim.upper) && within(this.lower, claim.lower);
    if (claim.notion === "ldp") return within(this.secret, claim.epsilon);
    if (this.secretBelief === null) return null;
    return within(this.secretBelief.rise, claim.upper) && within(this.secretBelief.fall, claim.lower);
  }
}

/** Releases over one alphabet: only between them are likelihoods multiplied symbol by symbol. */
export class Frame {
  constructor(alphabet) {
    Object.assign(this, { alphabet, members: [], contexts: [], ldp: RATIO_ONE });
  }

  /** Adds a release's context, in this frame's order of symbols; gives what is found under it, or null if it declares none. */
  declare(context, order) {
    if (context.kind === "unknown") return null;
    const ordered = reorderedContext(context, order);
    let found = this.contexts.find((one) => sameValue(one.context, ordered));
    if (found === undefined) this.contexts.push((found = new Found(ordered)));
    return found;
  }

  unbounded() {
    this.ldp = UNBOUNDED;
    for (const found of this.contexts) found.unbounded();
  }

  /**
   * Notes what a factor attains, alone or with every output of one more release, if what is missing changed it by `odds`. Says whether it is exact, but for
   * what is missing.
   */
  look(channel, factor, odds) {
    const patterns = patternsOf(channel);
    for (const [low, high] of columnPairs(channel, factor)) {
      const extremes = Array.from({ length: low.outputs }, (_, y) => [high.extremes(y).high[0], low.extremes(y).low[0]]);
      for (const [top, bottom] of extremes) this.ldp = raised(this.ldp, top * odds, bottom << 64n);
      for (const found of this.contexts) {
        found.belief(low, high, extremes, odds);
        if (found.context.kind === "secret" && patterns === null && odds === ODDS_ONE) found.secretColumns(low, high);
      }
    }
    if (patterns !== null && odds === ODDS_ONE) {
      for (const found of this.contexts) if (found.context.kind === "secret") found.secretSets(patterns.high, patterns.low, factor);
    }
    return factor.lower === factor.upper && (patterns?.exact ?? (channel?.levels?.exact ?? true));
  }

  /** Where something is missing, nothing but the largest ratio of likelihoods is known about a secret. */
  boundSecrets() {
    const most = oddsUp(ratioNats(this.ldp));
    for (const found of this.contexts) {
      if (found.context.kind !== "secret") continue;
      if (most === null) Object.assign(found, { secret: UNBOUNDED, secretBelief: null });
      else found.secretSets(most, ODDS_ONE, null);
    }
  }
}
