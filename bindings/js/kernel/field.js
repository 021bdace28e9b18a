/**
 * Finite fields of up to 4,096 elements. Elements are the numbers below q = p^n; the digits of a number in base p, the lowest first, are the coefficients
 * of a polynomial over the integers mod p.
 */

/** The most elements a field may have. */
const MAX_ORDER = 4096;

/** The prime p and the n of q = p^n; null if q is no prime power. */
function primePower(order) {
  let prime = 2;
  while (prime * prime <= order && order % prime !== 0) prime += 1;
  if (prime * prime > order) prime = order;
  let [rest, degree] = [order, 0];
  while (rest % prime === 0) [rest, degree] = [rest / prime, degree + 1];
  return rest === 1 ? [prime, degree] : null;
}

/** Combines two numbers digit by digit in base `prime`. */
function digitwise(prime, a, b, combine) {
  let [left, right, place, result] = [a, b, 1, 0];
  while (left > 0 || right > 0) {
    result += (combine(left % prime, right % prime) % prime) * place;
    [left, right, place] = [Math.floor(left / prime), Math.floor(right / prime), place * prime];
  }
  return result;
}

/** The powers 1, g, g^2, .. if they are all elements but nought, else null; `next` multiplies by g. */
function cycle(order, next) {
  const powers = new Uint16Array(order - 1);
  let power = 1;
  for (let at = 0; at < order - 1; at += 1) {
    powers[at] = power;
    power = next(power);
    if (power <= 1 && at < order - 2) return null;
  }
  return power === 1 ? powers : null;
}

/** A finite field by the logarithms of its elements. */
export class Field {
  #prime;
  #degree;

  constructor(order, [prime, degree], powers) {
    this.order = order;
    this.#prime = prime;
    this.#degree = degree;
    /** Powers of the generator, twice over, so that sums of two logarithms need no remainder. */
    this.powers = new Uint16Array(2 * powers.length);
    this.powers.set(powers);
    this.powers.set(powers, powers.length);
    /** The logarithm of every element; that of nought is never asked for. */
    this.logarithms = new Uint16Array(order);
    powers.forEach((power, at) => {
      this.logarithms[power] = at;
    });
    Object.freeze(this);
  }

  /** The field with so many elements; null if there is none, or none that large here. */
  static of(order) {
    if (order < 2 || order > MAX_ORDER) return null;
    const parts = primePower(order);
    if (parts === null) return null;
    const [prime, degree] = parts;
    for (let choice = degree === 1 ? 1 : 0; choice < order; choice += 1) {
      const top = order / prime;
      // Either the generator itself, or the lower digits of the polynomial modulo which X generates: its digits move up, and the one that leaves comes back.
      const next =
        degree === 1
          ? (power) => (power * choice) % order
          : (power) => {
              const leaving = Math.floor(power / top);
              return digitwise(prime, (power % top) * prime, choice, (a, b) => a + leaving * (prime - b));
            };
      const powers = cycle(order, next);
      if (powers !== null) return new Field(order, parts, powers);
    }
    return null;
  }

  add(a, b) {
    if (this.#degree === 1) return a + b >= this.order ? a + b - this.order : a + b;
    return this.#prime === 2 ? a ^ b : digitwise(this.#prime, a, b, (x, y) => x + y);
  }

  subtract(a, b) {
    if (this.#degree === 1) return a >= b ? a - b : a + this.order - b;
    return this.#prime === 2 ? a ^ b : digitwise(this.#prime, a, b, (x, y) => x + this.#prime - y);
  }

  multiply(a, b) {
    return a === 0 || b === 0 ? 0 : this.powers[this.logarithms[a] + this.logarithms[b]];
  }

  /** a / b, where b is not nought. */
  divide(a, b) {
    return a === 0 ? 0 : this.powers[this.logarithms[a] + this.order - 1 - this.logarithms[b]];
  }
}
