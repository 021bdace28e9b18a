/** Bounds on belief where the largest rise is out of reach: by the LDP of what is answered, and on a tree by pairs of values. */

import { marginal } from "./law.js";
import { complement, largest, least, magnitude, magnitudeNats, NOUGHT, plus, product, productOrNull, quotient, ratioMagnitude, WHOLE } from "./magnitude.js";
import { likelihood } from "./model.js";
import { costliest, productOfRatios } from "./person.js";

const MAX_CELLS = 1 << 16;

/** Belief in a value of probability p or more if likelihoods differ by at most g: nats, null without bound. */
export function byLikelihoods(p, g) {
  if (g === null) return { upper: magnitudeNats(quotient(WHOLE, p, true)), lower: null };
  const rise = quotient(WHOLE, plus(p, quotient(complement(p, false), g, false), false), true);
  const fall = plus(p, product(complement(p, true), g, true), true);
  return { upper: magnitudeNats(rise), lower: magnitudeNats(fall) };
}

/** The least probability of a variable's values, rounded down. */
export const leastProbability = (law, sizes, variable) => marginal(law, sizes, variable, false).reduce(least);

/** By the LDP of the component's items. */
function byLdp({ law, sizes, variable, items, asked }) {
  return byLikelihoods(leastProbability(law, sizes, variable), productOfRatios(costliest(items, asked)));
}

/** The largest w(y|a) / w(y|b) over the answers y, rounded up. */
function itemRatio({ channel, ratio }, a, b) {
  // What blocks say of two symbols is not looked at one by one.
  if (channel.shape === "bits" || channel.shape === "incidence") return ratio.d === 0n ? null : ratioMagnitude(ratio.n, ratio.d, true);
  let found = NOUGHT;
  for (let y = 0; y < channel.outputs; y += 1) {
    const [[n], [d]] = [likelihood(channel, a, y), likelihood(channel, b, y)];
    if (n !== 0n) found = largest(found, ratioMagnitude(n, d, true));
  }
  return found;
}

/** c + (1 - c) g, rounded up: what a neighbour says at most, if a part c of its law is the same for both values. */
function softened(c, g) {
  const rest = productOrNull(complement(c, true), g, true);
  return rest === null ? null : plus(c, rest, true);
}

/** How much the outcomes on a variable's side can tell its values apart: D(a, b) bounds f(a) / f(b). */
class Pairs {
  #component;

  constructor(component) {
    this.#component = component;
  }

  /** P(z | a) of a neighbour's values z, rounded down, as a function of a. */
  #lawOf(neighbour, v) {
    const { law, sizes } = this.#component;
    const { parent, rows } = law.nodes[neighbour];
    if (parent === v) return (a) => rows[a].map((weight) => magnitude(weight, -48, false));
    const [above, own] = [marginal(law, sizes, neighbour, false), marginal(law, sizes, v, true)];
    const down = law.nodes[v].rows;
    return (a) => above.map((p, z) => quotient(product(p, magnitude(down[z][a], -48, false), false), own[a], false));
  }

  /** The part of a neighbour's law that is the same for some values. */
  #shared(laws) {
    let total = NOUGHT;
    for (let z = 0; z < laws[0].length; z += 1) total = plus(total, laws.map((one) => one[z]).reduce(least), false);
    return total;
  }

  #isCoarse(v, items, neighbours) {
    const { sizes } = this.#component;
    const cells = (factor) => sizes[v] * sizes[v] * factor;
    return items.some(({ channel }) => cells(channel.outputs) > MAX_CELLS) || neighbours.some((other) => cells(sizes[other]) > MAX_CELLS);
  }

  /** One number for all pairs, or one for each: `{ all }` or `{ pairs }`. */
  of(v, towards) {
    const component = this.#component;
    const [items, size] = [component.itemsOf(v), component.sizes[v]];
    const neighbours = component.neighbours(v);
    const messages = neighbours.filter((other) => other !== towards).map((other) => ({ lawOf: this.#lawOf(other, v), most: this.#most(this.of(other, v)) }));
    const values = Array.from({ length: size }, (_, a) => a);
    if (this.#isCoarse(v, items, neighbours)) {
      let all = productOfRatios(items);
      for (const { lawOf, most } of messages) all = productOrNull(all, softened(this.#sharedByAll(lawOf, size), most), true);
      return { all };
    }
    const laws = messages.map(({ lawOf, most }) => ({ rows: values.map(lawOf), most }));
    const pair = (a, b) => {
      if (a === b) return WHOLE;
      let found = WHOLE;
      for (const item of items) found = productOrNull(found, itemRatio(item, a, b), true);
      for (const { rows, most } of laws) found = productOrNull(found, softened(this.#shared([rows[a], rows[b]]), most), true);
      return found;
    };
    return { pairs: values.map((a) => values.map((b) => pair(a, b))) };
  }

  /** The least over all values, without keeping the laws. */
  #sharedByAll(lawOf, size) {
    let lowest = lawOf(0);
    for (let a = 1; a < size; a += 1) lowest = lawOf(a).map((weight, z) => least(weight, lowest[z]));
    return this.#shared([lowest]);
  }

  #most({ all, pairs }) {
    return all !== undefined ? all : pairs.flat().reduce(largest);
  }
}

/** On a tree whose items have one question, by pairs of values. */
function byPairs(component) {
  const { law, sizes, variable } = component;
  const { all, pairs } = new Pairs(component).of(variable, null);
  if (all !== undefined) return byLikelihoods(leastProbability(law, sizes, variable), all);
  const [low, high] = [marginal(law, sizes, variable, false), marginal(law, sizes, variable, true)];
  let [rise, fall] = [NOUGHT, NOUGHT];
  pairs.forEach((row, a) => {
    const share = row.reduce((total, d, b) => (d === null ? total : plus(total, quotient(low[b], d, false), false)), NOUGHT);
    rise = largest(rise, quotient(WHOLE, share, true));
    const falls = pairs.reduce((total, other, b) => {
      const term = productOrNull(high[b], other[a], true);
      return total === null || term === null ? null : plus(total, term, true);
    }, NOUGHT);
    fall = largest(fall, falls);
  });
  return { upper: magnitudeNats(rise), lower: magnitudeNats(fall) };
}

const smaller = (a, b) => (a === null || (b !== null && b < a) ? b : a);

/** The better of the bounds there are, each side by itself. */
export function bound(component) {
  const ldp = byLdp(component);
  if (!component.single) return ldp;
  const pairs = byPairs(component);
  return { upper: smaller(ldp.upper, pairs.upper), lower: smaller(ldp.lower, pairs.lower) };
}
