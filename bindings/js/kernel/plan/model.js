/**
 * The joint probability of a variable's values and an outcome, one answer after the other. The same steps are taken with floats, to see
 * where to look, and with magnitudes rounded down or up, which decide.
 */

import { KEEP_ONE, MASS_ONE, WEIGHT_ONE } from "../exact.js";
import { magnitude, NOUGHT, plus, product, WHOLE } from "./magnitude.js";

const rounding = (up) =>
  Object.freeze({
    zero: NOUGHT,
    one: WHOLE,
    times: (a, b) => product(a, b, up),
    plus: (a, b) => plus(a, b, up),
    of: (n, places) => magnitude(n, -places, up),
  });

/** What is reckoned with: floats, or magnitudes rounded down or up. `of(n, places)` is n 2^-places. */
export const FLOATS = Object.freeze({ zero: 0, one: 1, times: (a, b) => a * b, plus: (a, b) => a + b, of: (n, places) => Number(n) / 2 ** places });
export const DOWN = rounding(false);
export const UP = rounding(true);

/** The likelihood of answer y for input x, as an integer and the places behind its binary point; for bits up to a common factor. */
export function likelihood(channel, x, y) {
  if (channel.shape === "table") return [channel.masses[x][y], 48];
  if (channel.shape === "keep") return [(x === y ? channel.keep[x] * MASS_ONE : 0n) + (KEEP_ONE - channel.keep[x]) * channel.base[y], 88];
  const { own, other, inputs } = channel;
  const [set, clear] = [own * (WEIGHT_ONE - other), (WEIGHT_ONE - own) * other];
  // Where other bits are certain the common factor can be nought; then nothing tells symbols apart.
  const none = (set === 0n || y === 0) && (clear === 0n || y === 2 ** inputs - 1);
  if (none) return [1n, 0];
  return [(y >> x) & 1 ? set : clear, 64];
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
      column[at] = this.#algebra.of(...likelihood(this.#channel, x, y));
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

  /** `points` are `{ weight, values }` with the weight in the algebra. */
  constructor(algebra, points, { variable, sizes }) {
    this.#algebra = algebra;
    this.#values = points.map(({ values }) => values[variable]);
    this.#size = sizes[variable];
    this.#columns = columnsOnce(algebra, (item) => [item.channel, points.map(({ values }) => combined(item, sizes, (q) => values[q])), item.outputs]);
    this.start = points.map(({ weight }) => weight);
  }

  /** One more answer. */
  after(state, item, y) {
    const column = this.#columns(item).of(y);
    const { times } = this.#algebra;
    const next = new Array(state.length);
    for (let at = 0; at < state.length; at += 1) next[at] = times(state[at], column[at]);
    return next;
  }

  /** The joint probabilities of the variable's values and the answers. */
  joint(state) {
    const { zero, plus: sum } = this.#algebra;
    const found = new Array(this.#size).fill(zero);
    for (let at = 0; at < state.length; at += 1) found[this.#values[at]] = sum(found[this.#values[at]], state[at]);
    return found;
  }
}

/** A tree whose items have one question each: products at the variables, summed from the leaves up and then down the path to the variable. */
class TreeModel {
  #algebra;
  #columns;
  #nodes;
  #order;
  #path;

  constructor(algebra, component) {
    const { law, sizes, variables, variable } = component;
    this.#algebra = algebra;
    this.#columns = columnsOnce(algebra, (item) => [item.channel, Array.from({ length: item.channel.inputs }, (_, x) => x), item.outputs]);
    this.#nodes = new Map(
      variables.map((v) => {
        const { parent, rows } = law.nodes[v];
        return [v, { parent, size: sizes[v], rows: rows.map((row) => row.map((weight) => algebra.of(weight, 48))), children: component.children(v) }];
      }),
    );
    this.#path = [];
    for (let v = variable; v !== null; v = law.nodes[v].parent) this.#path.unshift(v);
    const onPath = new Set(this.#path);
    // Every variable off the path, children before their parents.
    this.#order = [];
    const below = (v) => {
      for (const child of this.#nodes.get(v).children) below(child);
      if (!onPath.has(v)) this.#order.push(v);
    };
    below(this.#path[0]);
    this.start = new Map(variables.map((v) => [v, new Array(sizes[v]).fill(algebra.one)]));
  }

  after(state, item, y) {
    const [v] = item.questions;
    const column = this.#columns(item).of(y);
    const next = new Map(state);
    next.set(
      v,
      state.get(v).map((own, x) => this.#algebra.times(own, column[x])),
    );
    return next;
  }

  joint(state) {
    const { zero, times, plus: sum } = this.#algebra;
    const messages = new Map();
    /** What a variable's items and its children, as far as they have spoken, say of its values. */
    const spoken = (v, from) => {
      const found = from.slice();
      for (const child of this.#nodes.get(v).children) {
        const message = messages.get(child);
        if (message) for (let x = 0; x < found.length; x += 1) found[x] = times(found[x], message[x]);
      }
      return found;
    };
    for (const v of this.#order) {
      const { rows } = this.#nodes.get(v);
      const up = spoken(v, state.get(v));
      messages.set(
        v,
        rows.map((row) => {
          let total = zero;
          for (let z = 0; z < row.length; z += 1) total = sum(total, times(row[z], up[z]));
          return total;
        }),
      );
    }
    let above = null;
    for (const v of this.#path) {
      const { rows, size } = this.#nodes.get(v);
      const own = state.get(v);
      const from = new Array(size);
      for (let z = 0; z < size; z += 1) {
        let prior = rows[0][z];
        if (above !== null) {
          prior = zero;
          for (let x = 0; x < rows.length; x += 1) prior = sum(prior, times(above[x], rows[x][z]));
        }
        from[z] = times(prior, own[z]);
      }
      above = spoken(v, from);
    }
    return above;
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

/** A tree with combined items whose combinations are too many to be kept: they are gone through for every outcome. */
class StreamedModel {
  #algebra;
  #component;
  #columns;

  constructor(algebra, component) {
    this.#algebra = algebra;
    this.#component = component;
    this.#columns = columnsOnce(algebra, (item) => [item.channel, Array.from({ length: item.channel.inputs }, (_, x) => x), item.outputs]);
    this.start = [];
  }

  after(state, item, y) {
    return [...state, { item, column: this.#columns(item).of(y) }];
  }

  joint(state) {
    const { sizes, variable } = this.#component;
    const { zero, times, plus: sum } = this.#algebra;
    const found = new Array(sizes[variable]).fill(zero);
    for (const { weight, values } of pointsOfTree(this.#algebra, this.#component)) {
      const entry = state.reduce((product, { item, column }) => times(product, column[combined(item, sizes, (q) => values[q])]), weight);
      found[values[variable]] = sum(found[values[variable]], entry);
    }
    return found;
  }
}

const MAX_POINTS_KEPT = 1 << 16;

/** The model of a component. */
export function modelOf(algebra, component) {
  const { law, states } = component;
  if (component.single) return new TreeModel(algebra, component);
  if (law.kind === "points") {
    const points = law.points.map(({ weight, values }) => ({ weight: algebra.of(weight, 48), values }));
    return new PointsModel(algebra, points, component);
  }
  if (states > MAX_POINTS_KEPT) return new StreamedModel(algebra, component);
  const points = Array.from(pointsOfTree(algebra, component), ({ weight, values }) => ({ weight, values: values.slice() }));
  return new PointsModel(algebra, points, component);
}
