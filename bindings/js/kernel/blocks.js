/**
 * What a family of blocks attains.
 *
 * A block is as likely from any input inside it, and from any input outside it, up to the unevenness of an index of 8 bytes. So beliefs depend on a block through its
 * mass under the prior alone, and the lightest and the heaviest block decide.
 */

import { ascending, max, min, positive, sum, WEIGHT_ONE } from "./exact.js";
import { dataWeight } from "./likelihood.js";
import { CELL, heaviestAndLightest, NOTHING, worse } from "./worst.js";

/** The largest and the smallest likelihood a block can have. */
export const ends = ({ levels: { inside, outside } }) => [max(inside[1], outside[1]), min(inside[0], outside[0])];

/** The probability of a block with the given mass, where one is 2^scale, from below and from above. */
function mixed({ inside, outside }, mass, scale) {
  const rest = (1n << scale) - mass;
  return [0, 1].map((end) => inside[end] * mass + outside[end] * rest);
}

// ---------------------------------------------------------------- masses

/** The least and the greatest mass of the blocks that have a member, and of those that lack a symbol; one is 2^scale. */
class Masses {
  constructor(scale) {
    // Whether some block has each of these masses under some prior; otherwise they are bounds.
    Object.assign(this, { scale, withMember: [null, null], without: [null, null], attained: true });
  }

  /** Notes a block with `size` members of `symbols` whose mass lies between two ends. */
  see(size, symbols, [least, greatest], place, prior = null) {
    if (size > 0) Masses.#wider(this.withMember, least, greatest, place, prior);
    if (size < symbols) Masses.#wider(this.without, least, greatest, place, prior);
  }

  static #wider(seen, least, greatest, place, prior) {
    if (seen[0] === null || least < seen[0].value) seen[0] = { value: least, place, prior };
    if (seen[1] === null || greatest > seen[1].value) seen[1] = { value: greatest, place, prior };
  }

  /** Notes the subsets of least and greatest mass; `numbers` say which symbols are lightest and heaviest. */
  seeSubsets(numbers, [least, greatest], prior = null) {
    const { high, low } = heaviestAndLightest(1n, 1n, numbers);
    this.see(1, 2, [least, least], { member: low[1], other: high[1] }, prior);
    this.see(1, 2, [greatest, greatest], { member: high[1], other: low[1] }, prior);
  }
}

/** The sums of the `count` least and of the `count` greatest of some numbers. */
function endSums(numbers, count) {
  const sorted = [...numbers].sort(ascending);
  return [sum(sorted.slice(0, count)), sum(sorted.slice(sorted.length - count))];
}

/** For every numbered block, how many symbols it has. */
const sizesOf = ({ members, inputs }) => members.blockSums(new Float64Array(inputs).fill(1));

/** For every numbered block, the sum of the weights of its symbols: Numbers, exact because all weights sum to less than 2^53. */
const sumsOf = ({ members }, weights) => members.blockSums(Float64Array.from(weights, Number));

const HALF = 24n;

/** The same for weights that may sum to more, as BigInt: in two halves. */
function wideSums(channel, weights) {
  const low = sumsOf(channel, weights.map((weight) => BigInt.asUintN(Number(HALF), weight)));
  const high = sumsOf(channel, weights.map((weight) => weight >> HALF));
  return (block) => (BigInt(high[block]) << HALF) + BigInt(low[block]);
}

/** Under each of some priors; `named` says whether to tell which. */
function ofWeights(channel, priors, scale, named = false) {
  const masses = new Masses(scale);
  const sizes = channel.members === null ? null : sizesOf(channel);
  priors.forEach((weights, at) => {
    const prior = named ? at : null;
    if (sizes === null) return masses.seeSubsets(weights, endSums(weights, channel.family.size), prior);
    sumsOf(channel, weights).forEach((value, block) => masses.see(sizes[block], channel.inputs, [value, value], block, prior));
  });
  return masses;
}

/** A block's mass is least where its own weights are at their lower ends, or the others at their upper ones. For subsets the two sums may belong to different subsets. */
function ofBox(channel, { lower, upper }) {
  const masses = new Masses(32n);
  const { inputs, members, family } = channel;
  const range = (own, others) => [max(own[0], positive(WEIGHT_ONE - others[1])), min(own[1], WEIGHT_ONE - others[0])];
  if (members === null) {
    const both = (count) => [endSums(lower, count)[0], endSums(upper, count)[1]];
    masses.seeSubsets(lower, range(both(family.size), both(inputs - family.size)));
    masses.attained = false;
    return masses;
  }
  const [sizes, least, most] = [sizesOf(channel), sumsOf(channel, lower), wideSums(channel, upper)];
  const [low, high] = [sum(lower), sum(upper)];
  sizes.forEach((size, block) => {
    const own = [BigInt(least[block]), most(block)];
    masses.see(size, inputs, range(own, [low - own[0], high - own[1]]), block);
  });
  return masses;
}

/** Under the prior of the data that a secret's laws make, in units of 2^-64. */
function ofSecret(channel, context) {
  const masses = new Masses(64n);
  const { inputs, members, family } = channel;
  if (members === null) {
    const weights = context.rows[0].map((_, x) => dataWeight(context, x));
    masses.seeSubsets(weights, endSums(weights, family.size));
    return masses;
  }
  const rows = context.rows.map((row) => sumsOf(channel, row));
  sizesOf(channel).forEach((size, block) => {
    const value = rows.reduce((total, row, s) => total + BigInt(row[block]) * context.weights[s], 0n);
    masses.see(size, inputs, [value, value], block);
  });
  return masses;
}

function massesOf(channel, context) {
  switch (context.kind) {
    case "unknown":
      return null;
    case "prior":
      return ofWeights(channel, [context.weights], 32n);
    case "law":
      return ofWeights(channel, [context.weights], 48n);
    case "priors":
      return ofWeights(channel, context.list, 32n, true);
    case "box":
      return ofBox(channel, context);
    default:
      return ofSecret(channel, context);
  }
}

// ---------------------------------------------------------------- the input

/** A block that contains one symbol and not another; null if none does, and for subsets. */
function partingOf({ members }, member, other) {
  for (let number = 0; number < (members?.replication ?? 0); number += 1) {
    const block = members.nth(member, true, number);
    if (!members.contains(block, other)) return block;
  }
  return null;
}

/** Some block, a symbol that is in it and one that is not. Any two symbols are parted by a block of a geometry or by a subset; a list parts some two. */
function partedBy(channel) {
  const { members, inputs, family } = channel;
  if (family.kind !== "listed") return [partingOf(channel, 0, 1), 0, 1];
  const block = members.lists.findIndex((list) => list.length > 0 && list.length < inputs);
  return [block, firstOf(channel, block, true), firstOf(channel, block, false)];
}

/** A numbered block in which the first symbol is likelier than the second. */
export function parting(channel, high, low) {
  const { inside, outside } = channel.levels;
  return inside[1] >= outside[1] ? partingOf(channel, high, low) : partingOf(channel, low, high);
}

function ldpOf(channel) {
  const { inside, outside } = channel.levels;
  const apart = (speaksFor) => {
    const [output, member, other] = partedBy(channel);
    return { ...CELL, output, high: speaksFor ? member : other, low: speaksFor ? other : member };
  };
  let worst = NOTHING;
  for (const [high, low, cell] of [
    [inside[1], outside[0], () => apart(true)],
    [outside[1], inside[0], () => apart(false)],
    [inside[1], inside[0], () => CELL],
    [outside[1], outside[0], () => CELL],
  ]) {
    const found = worse(worst, high, low, CELL);
    if (found !== worst) worst = { ...found, cell: cell() };
  }
  return worst;
}

/** The first symbol that is in a block, or not in it. */
function firstOf({ members, inputs }, block, inside) {
  for (let x = 0; x < inputs; x += 1) if (members.contains(block, x) === inside) return x;
  return null;
}

/** Belief rising and falling at worst. The probability of a block is linear in its mass, so only the ends count. */
function beliefs(channel, masses) {
  const { levels } = channel;
  const { scale, withMember, without } = masses;
  let [upper, lower] = [NOTHING, NOTHING];
  for (const [found, inside] of [
    [withMember, true],
    [without, false],
  ]) {
    const [low, high] = inside ? levels.inside : levels.outside;
    for (const { value, place, prior } of found.filter((mass) => mass !== null)) {
      const [least, most] = mixed(levels, BigInt(value), scale);
      const numbered = typeof place === "number";
      const cell = (side) => {
        const symbol = numbered ? firstOf(channel, place, inside) : inside ? place.member : place.other;
        return { ...CELL, output: numbered ? place : null, [side]: symbol, prior };
      };
      const rise = worse(upper, high << scale, least, CELL);
      if (rise !== upper) upper = { ...rise, cell: cell("high") };
      const fall = worse(lower, most, low << scale, CELL);
      if (fall !== lower) lower = { ...fall, cell: cell("low") };
    }
  }
  return { upper, lower };
}

/** What blocks attain about the input. */
export function blocksStrength(channel, context) {
  const masses = massesOf(channel, context);
  const sides = masses === null ? { upper: null, lower: null } : beliefs(channel, masses);
  return { ldp: ldpOf(channel), ...sides, exact: channel.levels.exact && (masses?.attained ?? true) };
}

/** The largest posterior odds between two inputs: the heaviest against the lightest, in a block that parts them. */
export function blocksWeightedExtremes(channel, weights) {
  return [heaviestAndLightest(...ends(channel), weights)];
}

// ---------------------------------------------------------------- the secret

/**
 * The subset at which a ratio of two mixtures is largest, by Dinkelbach's method: for a ratio that some subset attains, the subset of the largest numerator - ratio ·
 * denominator attains more, until nothing does.
 */
class SubsetSearch {
  constructor({ inside, outside }, size, symbols) {
    // Where subsets speak against their members, those they lack speak.
    const [strong, weak, count] = inside[0] >= outside[0] ? [inside, outside, size] : [outside, inside, symbols - size];
    this.weak = weak;
    // Levels that are equal but for their rounding are ordered alike from above and from below.
    this.gain = [strong[0] - weak[0], max(strong[1], weak[1]) - weak[1]];
    this.count = count;
  }

  /** The largest ratio of Σ a w to Σ b w as its two parts; a and b sum to 2^64. */
  worst(a, b) {
    const one = 1n << 64n;
    let [best, seen] = [one, one];
    for (;;) {
      const keys = a.map((entry, x) => this.gain[1] * entry * seen - this.gain[0] * b[x] * best);
      const set = keys.map((_, x) => x).sort((x, z) => ascending(keys[z], keys[x])).slice(0, this.count);
      const of = (list) => sum(set.map((x) => list[x]));
      const [n, d] = [this.weak[1] * one + this.gain[1] * of(a), this.weak[0] * one + this.gain[0] * of(b)];
      if (n * seen <= best * d) return [best, seen];
      [best, seen] = [n, d];
    }
  }
}

function subsetsSecretStrength(channel, context) {
  const search = new SubsetSearch(channel.levels, channel.family.size, channel.inputs);
  const data = context.rows[0].map((_, x) => dataWeight(context, x));
  const rows = context.rows.map((row) => row.map((weight) => weight * WEIGHT_ONE));
  let [ldp, upper, lower] = [NOTHING, NOTHING, NOTHING];
  rows.forEach((row, s) => {
    upper = worse(upper, ...search.worst(row, data), { ...CELL, high: s });
    lower = worse(lower, ...search.worst(data, row), { ...CELL, low: s });
    rows.forEach((other, t) => {
      if (t !== s) ldp = worse(ldp, ...search.worst(row, other), { ...CELL, high: s, low: t });
    });
  });
  return { ldp, upper, lower };
}

/** What blocks attain about the secret. */
export function blocksSecretStrength(channel, context) {
  const { levels, members, outputs } = channel;
  if (members === null) return { ...subsetsSecretStrength(channel, context), exact: levels.exact };
  const rows = context.rows.map((row) => sumsOf(channel, row));
  let [ldp, upper, lower] = [NOTHING, NOTHING, NOTHING];
  for (let block = 0; block < outputs; block += 1) {
    let [most, least] = [0, 0];
    rows.forEach((row, s) => {
      if (row[block] >= rows[most][block]) most = s;
      if (row[block] < rows[least][block]) least = s;
    });
    const [first, second] = [most, least].map((s) => ({ s, level: mixed(levels, BigInt(rows[s][block]), 32n) }));
    const top = second.level[1] > first.level[1] ? second : first;
    const bottom = second.level[0] < first.level[0] ? second : first;
    const mean = rows.reduce((total, row, s) => total + BigInt(row[block]) * context.weights[s], 0n);
    const [fewest, greatest] = mixed(levels, mean, 64n);
    const cell = { ...CELL, output: block };
    ldp = worse(ldp, top.level[1], bottom.level[0], { ...cell, high: top.s, low: bottom.s });
    upper = worse(upper, top.level[1] << 32n, fewest, { ...cell, high: top.s });
    lower = worse(lower, greatest, bottom.level[0] << 32n, { ...cell, low: bottom.s });
  }
  return { ldp, upper, lower, exact: levels.exact };
}
