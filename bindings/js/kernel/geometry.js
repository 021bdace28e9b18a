/**
 * Blocks that linear equations over a finite field cut out. Symbols and blocks are vectors of t coordinates; a block contains a symbol if the inner product
 * of the two is in a set: nought, or some cosets of a subgroup, or both.
 */

import { refuse } from "./errors.js";
import { Field } from "./field.js";
import { Radon } from "./radon.js";

const MAX_BLOCKS = 2 ** 24;
const MAX_DIMENSION = 25;
/** The most additions that summing over all blocks may take. */
const MAX_SUMS = 2 ** 31;

/** A family of blocks given by linear equations. */
export class Geometry {
  constructor(order, dimension, classes, cosets, zero, hashing) {
    this.field = Field.of(order) ?? refuse("channel", `there is no field with ${order} elements here`);
    if (classes === 0 || (order - 1) % classes !== 0) refuse("channel", `${classes} classes do not divide ${order - 1} elements evenly`);
    if (cosets > classes || (cosets === 0 && !zero) || (cosets === classes && zero)) refuse("channel", "nothing or everything is inside");
    if (dimension < 2) refuse("channel", "too few coordinates");
    const tooMany = () => refuse("channel", `${dimension} coordinates over ${order} elements make too many blocks to number or to sum over`);
    Object.assign(this, { order, dimension, classes, cosets, zero, hashing });
    /** q^0, q^1, .. q^t. */
    this.places = [1];
    for (let e = 1; e <= dimension; e += 1) {
      if (e >= MAX_DIMENSION || this.places[e - 1] > MAX_BLOCKS) tooMany();
      this.places.push(this.places[e - 1] * order);
    }
    this.blocks = this.start(dimension);
    const inside = (zero ? 1 : 0) + (cosets * (order - 1)) / classes;
    /** About how many additions it takes to sum over all blocks: coordinates are exchanged, and every block is given a sum for every value inside. */
    this.sumSteps = this.places[dimension] * Math.max(dimension - 2, 1) + 2 * this.blocks * (1 + inside);
    if (this.sumSteps > MAX_SUMS || this.blocks > MAX_BLOCKS) tooMany();
    const below = dimension - 1;
    /** How many blocks contain a symbol. */
    this.replication = (zero ? classes * this.ones(below) : 0) + cosets * (this.places[below] - (hashing ? 1 : 0));
    /** The logarithms' rest that inner products inside, and outside, begin with, and how many follow. */
    this.sides = { true: [0, cosets], false: [cosets, classes - cosets] };
    this.values = { true: this.#values(true), false: this.#values(false) };
    Object.freeze(this);
  }

  /** 1 + q + .. + q^(exponent - 1). */
  ones(exponent) {
    return (this.places[exponent] - 1) / (this.order - 1);
  }

  /** How many symbols there is room for. */
  get points() {
    return this.hashing ? this.places[this.dimension - 1] : this.ones(this.dimension);
  }

  /** Blocks in front of those whose highest coordinate is `exponent`; hashing has none whose highest is 0, which are constant. */
  start(exponent) {
    return this.classes * (this.ones(exponent) - (this.hashing && exponent > 0 ? 1 : 0));
  }

  get firstExponent() {
    return this.hashing ? 1 : 0;
  }

  isInside(value) {
    return value === 0 ? this.zero : this.field.logarithms[value] % this.classes < this.cosets;
  }

  /** The values of the inner product inside, or outside: nought first, then by logarithm. */
  #values(inside) {
    const list = this.zero === inside ? [0] : [];
    for (let e = 0; e < this.order - 1; e += 1) if (e % this.classes < this.cosets === inside) list.push(this.field.powers[e]);
    return list;
  }

  /** The vector of a symbol, and the lowest coordinate that is not nought. */
  point(symbol) {
    const coordinates = new Array(this.dimension).fill(0);
    let [rest, from, top] = [symbol, 1, 0];
    if (!this.hashing) {
      while (rest >= this.places[top]) rest -= this.places[top++];
      from = 0;
    }
    coordinates[top] = 1;
    for (let at = from; rest > 0; at += 1) {
      coordinates[at] = rest % this.order;
      rest = Math.floor(rest / this.order);
    }
    return { coordinates, pivot: coordinates.findIndex((part) => part !== 0) };
  }

  contains(block, symbol) {
    let top = this.dimension - 1;
    while (this.start(top) > block) top -= 1;
    const within = block - this.start(top);
    const { field, order } = this;
    const { coordinates } = this.point(symbol);
    let sum = field.multiply(coordinates[top], field.powers[Math.floor(within / this.places[top])]);
    let rest = within % this.places[top];
    for (let at = 0; rest > 0; at += 1) {
      sum = field.add(sum, field.multiply(coordinates[at], rest % order));
      rest = Math.floor(rest / order);
    }
    return this.isInside(sum);
  }

  /** The block with the given number among those that contain the symbol, or that do not. */
  nth(symbol, inside, number) {
    const { field, order, classes, places } = this;
    const { coordinates, pivot } = this.point(symbol);
    let rest = number;
    // Below the pivot every inner product is nought.
    for (let top = this.firstExponent; top < pivot; top += 1) {
      const here = this.zero === inside ? classes * places[top] : 0;
      if (rest < here) return this.start(top) + rest;
      rest -= here;
    }
    const [first, width] = this.sides[inside];
    if (pivot >= this.firstExponent) {
      const here = width * places[pivot];
      if (rest < here) {
        const turned = field.logarithms[coordinates[pivot]] % classes;
        const taken = (Math.floor(rest / places[pivot]) + first + classes - turned) % classes;
        return this.start(pivot) + taken * places[pivot] + (rest % places[pivot]);
      }
      rest -= here;
    }
    const values = this.values[inside];
    let top = pivot + 1;
    let here = classes * values.length * places[pivot];
    while (rest >= here) {
      rest -= here;
      here *= order;
      top += 1;
    }
    const value = values[rest % values.length];
    rest = Math.floor(rest / values.length);
    const taken = Math.floor(rest / places[top - 1]);
    rest %= places[top - 1];
    let sum = field.multiply(coordinates[top], field.powers[taken]);
    let low = 0;
    for (let at = 0; at < top; at += 1) {
      if (at === pivot) continue;
      const digit = rest % order;
      rest = Math.floor(rest / order);
      low += digit * places[at];
      sum = field.add(sum, field.multiply(coordinates[at], digit));
    }
    // Coordinate p is whatever makes the inner product the wanted value.
    low += field.divide(field.subtract(value, sum), coordinates[pivot]) * places[pivot];
    return this.start(top) + taken * places[top] + low;
  }

  /** For every block, the sum of the weights (Numbers whose total is below 2^53) of the symbols in it. */
  blockSums(weights) {
    return Radon.blockSums(this, weights);
  }
}
