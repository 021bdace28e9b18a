/**
 * Sums over all blocks of a geometry at once: a discrete Radon transform.
 *
 * Vectors come in charts, sets in which one coordinate is fixed and some are free. For one chart of symbols, R(w; c) is the sum over those whose free coordinates have
 * inner product c with w. Scaling w and c together changes nothing, so R is worked out only for vectors w whose lowest coordinate that is not nought (the
 * pivot) is one: coordinates below the pivot are summed out, the pivot's becomes c, and each other coordinate is exchanged for one of w by a sum of q
 * terms. That is about t q^t additions where one pair of vectors at a time would take q^2t.
 */

const total = (values) => values.reduce((sum, value) => sum + value, 0);

/** R for vectors whose lowest coordinate is one: by c (the slowest), and by the other coordinates. `values` are by `free` coordinates, the lowest fastest. */
function exchanged({ field, order, places }, values, free) {
  const size = values.length / order;
  let table = new Float64Array(values.length);
  for (let rest = 0; rest < size; rest += 1) for (let c = 0; c < order; c += 1) table[c * size + rest] = values[rest * order + c];
  for (let coordinate = 0; coordinate < free - 1; coordinate += 1) {
    const place = places[coordinate];
    const span = place * order;
    const next = new Float64Array(table.length);
    for (let c = 0; c < order; c += 1) {
      for (let old = 0; old < order; old += 1) {
        for (let now = 0; now < order; now += 1) {
          const from = c * size + old * place;
          const into = field.add(c, field.multiply(old, now)) * size + now * place;
          for (let high = 0; high < size; high += span) for (let low = 0; low < place; low += 1) next[into + high + low] += table[from + high + low];
        }
      }
    }
    table = next;
  }
  return table;
}

/** What one chart of symbols adds to every block. */
export class Radon {
  #geometry;
  #chart;
  #byPivot = [];
  #total;

  constructor(geometry, chart, values) {
    this.#geometry = geometry;
    this.#chart = chart;
    const { order, places } = geometry;
    let left = new Float64Array(places[chart.free]);
    left.set(values);
    for (let pivot = 0; pivot < chart.free; pivot += 1) {
      this.#byPivot.push(exchanged(geometry, left, chart.free - pivot));
      const summed = new Float64Array(left.length / order);
      for (let at = 0; at < left.length; at += 1) summed[Math.floor(at / order)] += left[at];
      left = summed;
    }
    this.#total = total(left);
  }

  /** For every block of a geometry the sum of the weights of its symbols. */
  static blockSums(geometry, weights) {
    const sums = new Float64Array(geometry.blocks);
    for (const chart of Radon.#charts(geometry)) {
      const values = weights.slice(chart.start, chart.start + geometry.places[chart.free]);
      if (values.some((value) => value !== 0)) new Radon(geometry, chart, values).addTo(sums);
    }
    return sums;
  }

  /** Symbols with coordinate 0 fixed for hashing, else with the highest fixed; the fixed one is one. */
  static #charts(geometry) {
    if (geometry.hashing) return [{ start: 0, fixed: 0, lowest: 1, free: geometry.dimension - 1 }];
    return Array.from({ length: geometry.dimension }, (_, fixed) => ({ start: geometry.ones(fixed), fixed, lowest: 0, free: fixed }));
  }

  /** What the chart adds to a block whose coordinates are `free` at the free ones and `fixed` at the fixed one. */
  #at(free, fixed) {
    const geometry = this.#geometry;
    const { field, order, places } = geometry;
    if (free === 0) return geometry.isInside(fixed) ? this.#total : 0;
    let [pivot, rest] = [0, free];
    while (rest % order === 0) [pivot, rest] = [pivot + 1, rest / order];
    const scale = rest % order;
    let above = Math.floor(rest / order);
    if (scale > 1) {
      let [scaled, place] = [0, 1];
      for (; above > 0; above = Math.floor(above / order), place *= order) scaled += field.divide(above % order, scale) * place;
      above = scaled;
    }
    const size = places[this.#chart.free - pivot - 1];
    const table = this.#byPivot[pivot];
    let sum = 0;
    for (const value of geometry.values.true) sum += table[field.divide(field.subtract(value, fixed), scale) * size + above];
    return sum;
  }

  /** Adds to the sums of all blocks, in their order: by the highest coordinate, its class, and the lower ones. */
  addTo(sums) {
    const { order, places, classes, dimension, firstExponent, field } = this.#geometry;
    const { fixed, lowest, free } = this.#chart;
    const width = places[free];
    // Where many blocks share what they are given, it is worked out once.
    const shared = lowest === 0 && width * order <= sums.length ? Float64Array.from({ length: width * order }, (_, at) => this.#at(at % width, Math.floor(at / width))) : null;
    let at = 0;
    for (let top = firstExponent; top < dimension; top += 1) {
      for (let taken = 0; taken < classes; taken += 1) {
        const leading = field.powers[taken] * places[top];
        for (let low = 0; low < places[top]; low += 1, at += 1) {
          const vector = leading + low;
          if (shared !== null) sums[at] += shared[vector % (width * order)];
          else sums[at] += this.#at(Math.floor(vector / places[lowest]) % width, Math.floor(vector / places[fixed]) % order);
        }
      }
    }
  }
}
