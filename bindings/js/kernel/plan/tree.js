/**
 * Belief on a binary tree, exactly and without trying outcomes: what is said of a variable with two values is one number, the ratio of the probabilities of
 * what was answered on its side for its second and its first value. Over all outcomes it fills an interval, and both maps from a variable to its neighbour are monotone, so ends
 * go to ends.
 */

import { bitLikelihoods, byRatio } from "../certificate.js";
import { KEEP_ONE, MASS_ONE, sum } from "../exact.js";
import { releasesBits } from "../incidence.js";
import { isDrawn } from "./draft.js";
import { marginal } from "./law.js";
import { isAbove, largest, least, magnitude, magnitudeNats, NOUGHT, plus, product, productOrNull, quotient, ratioMagnitude, WHOLE } from "./magnitude.js";
import { likelihood } from "./model.js";

/** Whether a component is a tree of this kind. */
export function isBinaryTree(component) {
  const { single, sizes, variables, variable } = component;
  // The many subsets of one size are not looked at one by one.
  const subsets = component.items.some(({ channel }) => channel.shape === "incidence" && releasesBits(channel));
  if (subsets || !single || sizes[variable] !== 2 || stepsOf(component) > component.steps) return false;
  return variables.every((v) => sizes[v] === 2 || (component.neighbours(v).length <= 1 && component.itemsOf(v).length <= 1));
}

/** The cells of the items' channels, and for every item and every variable the ways to share the drawn items. */
function stepsOf({ items, variables, asked }) {
  const cells = items.map(({ channel }) => (channel.shape === "table" || channel.shape === "incidence" ? channel.inputs * channel.outputs : channel.inputs));
  return cells.reduce((total, one) => total + one, (items.length + variables.length) * (asked + 1) ** 2);
}

/** The interval of one: nothing is said. */
const NOTHING = Object.freeze({ lo: WHOLE, hi: WHOLE });

/** An interval, or nothing yet, widened by n/d, whose parts are known from below and from above. */
const acrossEnds = ([n, most], [d, mostD], { lo, hi }) => {
  const [low, high] = [n === 0n ? NOUGHT : ratioMagnitude(n, mostD, false), ratioMagnitude(most, d, true)];
  return { lo: lo === undefined ? low : least(lo, low), hi: hi === undefined ? high : largest(hi, high) };
};

const across = (n, d, found) => acrossEnds([n, n], [d, d], found);

/** The least and greatest of b w / a w over the answers w of a channel that have any mass, with a and b weights of its inputs. */
function rangeOf(channel, a, b) {
  let found = {};
  const see = (n, d) => {
    if (n !== 0n || d !== 0n) found = across(n, d, found);
  };
  if (channel.shape === "keep") {
    // What is kept speaks for one value alone; what is drawn adds the same to every output, as its base has it.
    const drawn = [b, a].map((weights) => sum(weights.map((weight, x) => weight * (KEEP_ONE - channel.keep[x]))));
    for (let y = 0; y < channel.outputs; y += 1) see(...[b, a].map((weights, side) => weights[y] * channel.keep[y] * MASS_ONE + drawn[side] * channel.base[y]));
    return found;
  }
  if (channel.shape !== "bits") {
    for (let y = 0; y < channel.outputs; y += 1) {
      const over = (weights) => [false, true].map((up) => sum(weights.map((weight, x) => (weight === 0n ? 0n : weight * likelihood(channel, x, y, up)[0]))));
      const [n, d] = [over(b), over(a)];
      if (n[1] !== 0n || d[1] !== 0n) found = acrossEnds(n, d, found);
    }
    return found;
  }
  // Any set of bits can speak for its symbols: the worst sets are prefixes of the order by b/a, and of the order by a/b.
  const [high, low] = bitLikelihoods(channel);
  for (const order of [byRatio(b, a), byRatio(a, b)]) {
    let [n, d] = [low * sum(b), low * sum(a)];
    for (const x of order) {
      n += (high - low) * b[x];
      d += (high - low) * a[x];
      see(n, d);
    }
  }
  return found;
}

/** An interval for every number of drawn items: at most c of them were answered. */
class Intervals {
  constructor(most, list) {
    this.most = most;
    /** Beyond the last, nothing changes. */
    this.list = list;
  }

  at(c) {
    return this.list[Math.min(c, this.list.length - 1)];
  }

  /** What an item says, if it is answered, and then also if it is not. */
  static ofItem(most, item, said, silent = NOTHING) {
    if (!isDrawn(item)) return new Intervals(most, [said]);
    return new Intervals(most, most === 0 ? [silent] : [silent, { lo: least(silent.lo, said.lo), hi: largest(silent.hi, said.hi) }]);
  }

  /** Both together: the more extreme of all ways to share the drawn items. */
  times(other) {
    const length = Math.min(this.most, this.list.length + other.list.length - 2) + 1;
    const list = Array.from({ length }, (_, c) => {
      let found = null;
      for (let own = Math.max(0, c - other.list.length + 1); own <= Math.min(c, this.list.length - 1); own += 1) {
        const [a, b] = [this.list[own], other.list[c - own]];
        const one = { lo: product(a.lo, b.lo, false), hi: productOrNull(a.hi, b.hi, true) };
        found = found === null ? one : { lo: least(found.lo, one.lo), hi: largest(found.hi, one.hi) };
      }
      return found;
    });
    return new Intervals(this.most, list);
  }

  map(change) {
    return new Intervals(this.most, this.list.map(change));
  }
}

/** r -> (n0 + n1 r) / (d0 + d1 r), which is monotone, of both ends of an interval. */
function through([n0, n1], [d0, d1]) {
  const of = (n) => magnitude(n, -48, false);
  const at = (r, up) => {
    if (r === null) return quotient(of(n1), of(d1), up);
    return quotient(plus(of(n0), product(of(n1), r, up), up), plus(of(d0), product(of(d1), r, !up), !up), up);
  };
  return ({ lo, hi }) => ({ lo: least(at(lo, false), at(hi, false)), hi: largest(at(lo, true), at(hi, true)) });
}

/** The intervals of what is said of variables, message by message towards the one that is asked about. */
class Messages {
  constructor(component) {
    this.component = component;
  }

  /** What is said of a variable with two values by its items, its law if it is a root, and all its neighbours but one. */
  said(v, towards) {
    const { law, asked } = this.component;
    let found = new Intervals(asked, [NOTHING]);
    for (const item of this.component.itemsOf(v)) found = found.times(Intervals.ofItem(asked, item, rangeOf(item.channel, [1n, 0n], [0n, 1n])));
    for (const other of this.component.neighbours(v)) if (other !== towards) found = found.times(this.message(other, v));
    const { parent, rows } = law.nodes[v];
    if (parent !== null) return found;
    return found.times(new Intervals(asked, [across(rows[0][1], rows[0][0], {})]));
  }

  /** What a neighbour's side says of a variable. */
  message(from, to) {
    const { law, sizes } = this.component;
    const isChild = law.nodes[from].parent === to;
    if (sizes[from] !== 2) return this.ofLeaf(from, to, isChild);
    const { rows } = law.nodes[isChild ? from : to];
    const column = (z) => [rows[0][z], rows[1][z]];
    const map = isChild ? through(rows[1], rows[0]) : through(column(1), column(0));
    return this.said(from, to).map(map);
  }

  /** What a leaf with any number of values and at most one item says. */
  ofLeaf(leaf, to, isChild) {
    const { law, asked } = this.component;
    const [item] = this.component.itemsOf(leaf);
    const prior = isChild ? null : law.nodes[leaf].rows[0];
    const weights = [0, 1].map((value) => (isChild ? law.nodes[leaf].rows[value] : prior.map((p, z) => p * law.nodes[to].rows[z][value])));
    const silent = isChild ? NOTHING : across(sum(weights[1]), sum(weights[0]), {});
    if (item === undefined) return new Intervals(asked, [silent]);
    return Intervals.ofItem(asked, item, rangeOf(item.channel, weights[0], weights[1]), silent);
  }
}

/** The largest rise and fall of belief on a binary tree: nats (null without bound) and the values. */
export function binaryTree(component) {
  const { law, sizes, variable, asked } = component;
  const { lo, hi } = new Messages(component).said(variable, null).at(asked);
  const [low, high] = [marginal(law, sizes, variable, false), marginal(law, sizes, variable, true)];
  // 1 + 1/hi, and 1 + lo, rounded down; 1 + 1/lo, and 1 + hi, rounded up.
  const inverse = (r, up) => (r === null ? NOUGHT : quotient(WHOLE, r, up));
  const onePlus = (r, up) => (r === null ? null : plus(WHOLE, r, up));
  const rises = [onePlus(lo, false), onePlus(inverse(hi, false), false)].map((more, a) => quotient(WHOLE, product(low[a], more, false), true));
  const falls = [onePlus(hi, true), onePlus(inverse(lo, true), true)].map((more, a) => productOrNull(high[a], more, true));
  const worst = (list) => (isAbove(list[1], list[0]) ? 1 : 0);
  const at = (list) => ({ value: worst(list), items: component.items.map(({ index }) => index), outcomes: null });
  return { upper: magnitudeNats(rises[worst(rises)]), lower: magnitudeNats(falls[worst(falls)]), riseAt: at(rises), fallAt: at(falls) };
}
