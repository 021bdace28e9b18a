/**
 * The joint probability of a variable's values and an outcome, one answer after the other. The same steps are taken with floats, to see
 * where to look, and with magnitudes rounded down or up, which decide.
 */

import { KEEP_ONE, MASS_ONE, WEIGHT_ONE } from "../exact.js";
import { magnitude, NOUGHT, plus, product, WHOLE } from "./magnitude.js";

/** Magnitudes rounded one way. */
const rounding = (up) =>
  Object.freeze({
    up,
    zero: NOUGHT,
    one: WHOLE,
    times: (a, b) => product(a, b, up),
    plus: (a, b) => plus(a, b, up),
    of: (n, places) => magnitude(n, -places, up),
    list: (length) => new Array(length),
    multiply(into, a, b) {
      for (let at = 0; at < a.length; at += 1) into[at] = product(a[at], b[at], up);
      return into;
    },
    scatter(into, places, list) {
      for (let at = 0; at < list.length; at += 1) into[places[at]] = plus(into[places[at]], list[at], up);
      return into;
    },
  });

/**
 * What is reckoned with: floats, or magnitudes rounded down or up. `of(n, places)` is n 2^-places, `multiply` works entry by entry, and `scatter` adds each entry
 * of a list at its place.
 */
export const FLOATS = Object.freeze({
  up: false,
  zero: 0,
  one: 1,
  times: (a, b) => a * b,
  plus: (a, b) => a + b,
  of: (n, places) => Number(n) / 2 ** places,
  list: (length) => new Float64Array(length),
  multiply(into, a, b) {
    for (let at = 0; at < a.length; at += 1) into[at] = a[at] * b[at];
    return into;
  },
  scatter(into, places, list) {
    for (let at = 0; at < list.length; at += 1) into[places[at]] += list[at];
    return into;
  },
});
export const DOWN = rounding(false);
export const UP = rounding(true);

/** The likelihood of answer y for input x, as an integer (of blocks that from below, or `up` from above) and the places behind its binary point; for bits up to a common factor. */
export function likelihood(channel, x, y, up = false) {
  if (channel.shape === "incidence") {
    const { levels, members } = channel;
    return [(members.contains(y, x) ? levels.inside : levels.outside)[up ? 1 : 0], 112];
  }
  if (channel.shape === "table") return [channel.masses[x][y], 48];
  if (channel.shape === "keep") return [(x === y ? channel.keep[x] * MASS_ONE : 0n) + (KEEP_ONE - channel.keep[x]) * channel.base[y], 88];
  const { own, other, inputs } = channel;
  if (isImpossible(channel, y)) return [1n, 0];
  return (y >> x) & 1 ? [own * (WEIGHT_ONE - other), 64] : [(WEIGHT_ONE - own) * other, 64];
}

/** Whether no input can have given a pattern of bits: then nothing tells symbols apart. */
function isImpossible({ own, other, inputs }, y) {
  let set = 0;
  for (let i = 0; i < inputs; i += 1) set += (y >> i) & 1;
  const clear = inputs - set;
  if ((other === 0n && set > 1) || (other === WEIGHT_ONE && clear > 1)) return true;
  return (set === 0 || own * (WEIGHT_ONE - other) === 0n) && (clear === 0 || (WEIGHT_ONE - own) * other === 0n);
}

const MAX_KEPT = 1 << 22;

/** The likelihoods of each answer of an item for a list of inputs, kept where they are few. */
class Columns {
  #algebra;
  #channel;
  #inputs;
  #kept;

  constructor(algebra, channel, inputs, outputs) {
    this.#algebra = algebra;
    this.#channel = channel;
    this.#inputs = inputs;
    this.#kept = inputs.length * outputs <= MAX_KEPT ? new Array(outputs) : null;
  }

  of(y) {
    if (this.#kept?.[y]) return this.#kept[y];
    const column = new Array(this.#inputs.length);
    this.#inputs.forEach((x, at) => {
      column[at] = this.#algebra.of(...likelihood(this.#channel, x, y, this.#algebra.up));
    });
    if (this.#kept) this.#kept[y] = column;
    return column;
  }
}

const columnsOnce = (algebra, make) => {
  const made = new Map();
  return (item) => {
    if (!made.has(item)) made.set(item, new Columns(algebra, ...make(item)));
    return made.get(item);
  };
};

/** The combined symbol of an item's questions. */
const combined = ({ questions }, sizes, valueOf) => questions.reduce((symbol, q) => symbol * sizes[q] + valueOf(q), 0);

/** A list of points, each with a weight and its value of the variable. */
class PointsModel {
  #algebra;
  #columns;
  #values;
  #size;
  #levels = [];

  /** `points` are `{ weight, values }` with the weight in the algebra. */
  constructor(algebra, points, { variable, sizes }) {
    this.#algebra = algebra;
    this.#values = Uint32Array.from(points, ({ values }) => values[variable]);
    this.#size = sizes[variable];
    this.#columns = columnsOnce(algebra, (item) => [item.channel, points.map(({ values }) => combined(item, sizes, (q) => values[q])), item.outputs]);
    this.start = algebra.list(points.length);
    points.forEach(({ weight }, at) => {
      this.start[at] = weight;
    });
  }

  /** One more answer, the one at this depth: it is gone when another answer of the same depth is tried. */
  after(state, item, y, depth) {
    this.#levels[depth] ??= this.#algebra.list(state.length);
    return this.#algebra.multiply(this.#levels[depth], state, this.#columns(item).of(y));
  }

  /** The joint probabilities of the variable's values and the answers. */
  joint(state) {
    return this.#algebra.scatter(new Array(this.#size).fill(this.#algebra.zero), this.#values, state);
  }
}

/**
 * A tree whose items have one question each: products at the variables, summed from the leaves up and then down the path to the variable. Variables are
 * numbered within the component here; a state is what the items of each have said of its values.
 */
class TreeModel {
  #algebra;
  #columns;
  #nodes;
  #order = [];
  #path = [];
  #places;

  constructor(algebra, component) {
    const { law, sizes, variables, variable } = component;
    this.#algebra = algebra;
    this.#places = new Map(variables.map((v, at) => [v, at]));
    this.#columns = columnsOnce(algebra, (item) => [item.channel, Array.from({ length: item.channel.inputs }, (_, x) => x), item.outputs]);
    this.#nodes = variables.map((v) => {
      const rows = law.nodes[v].rows.map((row) => row.map((weight) => algebra.of(weight, 48)));
      return { rows, children: component.children(v).map((child) => this.#places.get(child)) };
    });
    for (let v = variable; v !== null; v = law.nodes[v].parent) this.#path.unshift(this.#places.get(v));
    // Every variable off the path, children before their parents.
    const below = (v) => {
      for (const child of this.#nodes[v].children) below(child);
      if (!this.#path.includes(v)) this.#order.push(v);
    };
    below(this.#path[0]);
    this.start = variables.map((v) => new Array(sizes[v]).fill(algebra.one));
  }

  after(state, item, y) {
    const v = this.#places.get(item.questions[0]);
    const next = state.slice();
    next[v] = this.#product(state[v], this.#columns(item).of(y));
    return next;
  }

  joint(state) {
    const messages = new Array(state.length).fill(null);
    for (const v of this.#order) messages[v] = this.#message(this.#nodes[v].rows, this.#spoken(v, state[v], messages));
    let above = null;
    for (const v of this.#path) {
      const { rows } = this.#nodes[v];
      const prior = above === null ? rows[0] : this.#mixture(above, rows);
      above = this.#spoken(v, this.#product(prior, state[v]), messages);
    }
    return above;
  }

  #product(a, b) {
    const { times } = this.#algebra;
    const found = new Array(a.length);
    for (let x = 0; x < a.length; x += 1) found[x] = times(a[x], b[x]);
    return found;
  }

  /** What a variable's items and its children, as far as they have spoken, say of its values. */
  #spoken(v, from, messages) {
    let found = from;
    for (const child of this.#nodes[v].children) if (messages[child] !== null) found = this.#product(found, messages[child]);
    return found;
  }

  /** For every row the sum of its products with a column. */
  #message(rows, column) {
    const { zero, times, plus: sum } = this.#algebra;
    const found = new Array(rows.length);
    for (let x = 0; x < rows.length; x += 1) {
      let total = zero;
      for (let z = 0; z < column.length; z += 1) total = sum(total, times(rows[x][z], column[z]));
      found[x] = total;
    }
    return found;
  }

  /** The rows weighted. */
  #mixture(weights, rows) {
    const { zero, times, plus: sum } = this.#algebra;
    const found = new Array(rows[0].length);
    for (let z = 0; z < found.length; z += 1) {
      let total = zero;
      for (let x = 0; x < rows.length; x += 1) total = sum(total, times(weights[x], rows[x][z]));
      found[z] = total;
    }
    return found;
  }
}

/** Every combination of a component's variables under a tree, in increasing order, with its weight: the product over the variables in order. */
function* pointsOfTree(algebra, { law, sizes, variables }) {
  const rows = variables.map((v) => law.nodes[v].rows.map((row) => row.map((weight) => algebra.of(weight, 48))));
  const values = new Array(sizes.length).fill(0);
  for (;;) {
    const weight = variables.reduce((product, v, at) => {
      const { parent } = law.nodes[v];
      return algebra.times(product, rows[at][parent === null ? 0 : values[parent]][values[v]]);
    }, algebra.one);
    yield { weight, values };
    const at = variables.findLastIndex((v) => values[v] < sizes[v] - 1);
    if (at < 0) return;
    values[variables[at]] += 1;
    for (const v of variables.slice(at + 1)) values[v] = 0;
  }
}

/** The model of a component. */
export function modelOf(algebra, component) {
  const { law } = component;
  if (component.single) return new TreeModel(algebra, component);
  if (law.kind === "points") {
    const points = law.points.map(({ weight, values }) => ({ weight: algebra.of(weight, 48), values }));
    return new PointsModel(algebra, points, component);
  }
  const points = Array.from(pointsOfTree(algebra, component), ({ weight, values }) => ({ weight, values: values.slice() }));
  return new PointsModel(algebra, points, component);
}
