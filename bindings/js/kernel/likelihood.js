/** A channel as the checks see it: likelihoods per output, and mixtures of them. */

import { ascending, KEEP_ONE, MASS_ONE, min, partitionPoint, positive, sum } from "./exact.js";

/** The largest and smallest of a list, the first of equals. */
export function extremesOf(values) {
  let [high, low] = [0, 0];
  values.forEach((value, at) => {
    if (value > values[high]) high = at;
    if (value < values[low]) low = at;
  });
  return { high: [values[high], high], low: [values[low], low] };
}

/** Rows of likelihoods in units of 2^-unit: a table, or a table times what was released before it. */
export class Dense {
  constructor(unit, rows) {
    Object.assign(this, { unit, rows, inputs: rows.length, outputs: rows[0].length, keep: null });
  }
  at(x, y) {
    return this.rows[x][y];
  }
  column(y) {
    return this.rows.map((row) => row[y]);
  }
  extremes(y) {
    return extremesOf(this.column(y));
  }
  weightedExtremes(weights) {
    return Array.from({ length: this.outputs }, (_, y) => extremesOf(this.rows.map((row, x) => weights[x] * row[y])));
  }
  mixture(weights) {
    const sums = new Array(this.outputs).fill(0n);
    this.rows.forEach((row, x) => {
      if (weights[x] === 0n) return;
      row.forEach((w, y) => {
        sums[y] += weights[x] * w;
      });
    });
    return sums;
  }
  /** Linear in the prior, so the worst prior fills the box greedily, the cheapest inputs first. */
  boxRanges({ lower, upper, slack }) {
    return Array.from({ length: this.outputs }, (_, y) => {
      const column = this.column(y);
      const order = column.map((_w, x) => x).sort((a, b) => ascending(column[a], column[b]));
      const base = column.reduce((total, w, x) => total + lower[x] * w, 0n);
      const fill = (cheapest) => {
        let [left, total] = [slack, base];
        for (const x of cheapest) {
          const taken = min(left, upper[x] - lower[x]);
          total += taken * column[x];
          left -= taken;
        }
        return total;
      };
      const least = fill(order);
      return [least, fill(order.reverse())];
    });
  }
}

/**
 * Columns that single out one symbol each: the entry of x in column y is rest(x) base(y), but own(y) where x = y. The shape
 * keep is of this form; so are the patterns of bits in which one symbol's bit differs from all others.
 */
export class Singled {
  constructor(own, rest, base) {
    const byRest = rest.map((_, x) => x).sort((a, b) => ascending(rest[a], rest[b]) || a - b);
    Object.assign(this, { outputs: own.length, own, rest, base, byRest });
  }
  at(x, y) {
    return x === y ? this.own[x] : this.rest[x] * this.base[y];
  }
  /** The first input of a list that is not y, with its likelihood. */
  other(order, y) {
    const x = order[0] === y ? order[1] : order[0];
    return x === undefined ? null : [this.at(x, y), x];
  }
  extremes(y) {
    const own = [this.own[y], y];
    const least = this.other(this.byRest.slice(0, 2), y);
    const most = this.other(this.byRest.slice(-2).reverse(), y);
    return { low: least && least[0] < own[0] ? least : own, high: most && most[0] > own[0] ? most : own };
  }
  mixture(weights) {
    const weighted = weights.map((weight, x) => weight * this.rest[x]);
    const all = sum(weighted);
    return weights.map((weight, y) => (all - weighted[y]) * this.base[y] + weight * this.own[y]);
  }
  boxRanges(box) {
    const base = this.mixture(box.lower);
    const [least, greatest] = [this.boxFill(box, false), this.boxFill(box, true)];
    return base.map((mass, y) => [mass + least(y), mass + greatest(y)]);
  }
  /**
   * Fills a box greedily for every output at once: all inputs but y have likelihood rest(x) base(y), so
   * their order is the same for every output and prefix sums answer for it; y itself is met where its
   * own likelihood puts it. Returns the weight above the lower ends for an output.
   */
  boxFill({ lower, upper, slack }, most) {
    const order = most ? [...this.byRest].reverse() : this.byRest;
    const position = new Array(order.length);
    const [room, filled] = [[0n], [0n]];
    order.forEach((x, at) => {
      position[x] = at;
      const here = upper[x] - lower[x];
      room.push(room[at] + here);
      filled.push(filled[at] + here * this.rest[x]);
    });
    const fill = (amount) => {
      const full = partitionPoint(room, (r) => r <= amount) - 1;
      const next = full < order.length ? this.rest[order[full]] : 0n;
      return filled[full] + (amount - room[full]) * next;
    };
    return (y) => {
      const [own, base] = [this.own[y], this.base[y]];
      const before = partitionPoint(order, (x) => (most ? this.rest[x] * base > own : this.rest[x] * base < own));
      const at = position[y];
      const ownRoom = upper[y] - lower[y];
      const roomBefore = room[before] - (at < before ? ownRoom : 0n);
      const ownTaken = min(ownRoom, positive(slack - roomBefore));
      const others = slack - ownTaken;
      const sums = others <= room[at] ? fill(others) : fill(others + ownRoom) - ownRoom * this.rest[y];
      return ownTaken * own + sums * base;
    };
  }
}

/** The shape keep. */
export class KeepView extends Singled {
  constructor({ keep, base }) {
    const rest = keep.map((k) => KEEP_ONE - k);
    super(
      keep.map((k, x) => k * MASS_ONE + rest[x] * base[x]),
      rest,
      base,
    );
    Object.assign(this, { unit: 88n, inputs: keep.length, keep });
  }
  weightedExtremes(weights) {
    const weight = weights.map((w, x) => w * this.rest[x]);
    const order = weight.map((_, x) => x).sort((a, b) => ascending(weight[a], weight[b]));
    return this.base.map((base, y) => {
      const cells = [[weights[y] * this.own[y], y]];
      for (const ends of [order.slice(0, 2), order.slice(-2).reverse()]) {
        const x = ends[0] === y ? ends[1] : ends[0];
        if (x !== undefined) cells.push([weight[x] * base, x]);
      }
      const { high, low } = extremesOf(cells.map(([value]) => value));
      return { high: cells[high[1]], low: cells[low[1]] };
    });
  }
}

/** The weight of input x, in units of 2^-64, under a secret and its laws. */
export const dataWeight = ({ weights, rows }, x) => weights.reduce((total, p, s) => total + p * rows[s][x], 0n);

/** The likelihoods of a channel; null for bits and blocks, whose outputs are never listed. */
export const viewOf = (channel) => {
  if (channel.shape === "table") return new Dense(48n, channel.masses);
  return channel.shape === "keep" ? new KeepView(channel) : null;
};

/** Probabilities of outputs where there is one prior: least and greatest are the same. */
export const exactRange = (sums) => sums.map((m) => ({ least: m, leastAt: null, greatest: m, greatestAt: null }));

/** Least and greatest probability of each output over the context's priors. */
export function marginalsOf(view, context, pushed) {
  switch (context.kind) {
    case "unknown":
      return null;
    case "prior":
      return { range: exactRange(view.mixture(context.weights)), scale: 32n };
    case "priors": {
      let range = null;
      context.list.forEach((weights, at) => {
        const sums = view.mixture(weights);
        if (range === null) {
          range = sums.map((m) => ({ least: m, leastAt: at, greatest: m, greatestAt: at }));
          return;
        }
        sums.forEach((m, y) => {
          if (m < range[y].least) Object.assign(range[y], { least: m, leastAt: at });
          else if (m > range[y].greatest) Object.assign(range[y], { greatest: m, greatestAt: at });
        });
      });
      return { range, scale: 32n };
    }
    case "box": {
      const range = view.boxRanges(context).map(([least, greatest]) => ({ least, leastAt: null, greatest, greatestAt: null }));
      return { range, scale: 32n };
    }
    default:
      return { range: pushed.marginals.range, scale: 64n };
  }
}

/** The channel from the secret: c(y|s), the sum over x of P(x|s) w(y|x). */
export function push(view, { weights, rows: given }) {
  const rows = given.map((row) => view.mixture(row));
  const sums = rows[0].map((_, y) => weights.reduce((total, p, s) => total + p * rows[s][y], 0n));
  return { rows, unit: view.unit + 32n, marginals: { range: exactRange(sums), scale: 32n } };
}
