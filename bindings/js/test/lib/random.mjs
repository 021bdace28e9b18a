// Small seeded generators, so that what failed once fails again.

/** Numbers from 0 to below 1. */
export function mulberry(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` integers that are multiples of `step` and sum to `one`; some may be zero. */
export function parts(random, count, one, step, empty = 0.15) {
  const shares = Array.from({ length: count }, () => (random() < empty ? 0 : random()));
  shares[0] += 0.1;
  const total = shares.reduce((a, b) => a + b, 0);
  const found = shares.map((share) => Math.floor((share / total) * (one / step)) * step);
  found[0] += one - found.reduce((a, b) => a + b, 0);
  return found;
}

/** One of five kinds of context over k symbols. */
export function randomContext(random, k, name = "s") {
  const weights = () => parts(random, k, 2 ** 32, 1);
  switch (Math.floor(random() * 5)) {
    case 0:
      return { kind: "unknown" };
    case 1:
      return { kind: "prior", weights: weights() };
    case 2:
      return { kind: "priors", list: [weights(), weights(), weights()] };
    case 3: {
      const middle = weights();
      const radius = Math.floor(random() * 2 ** 30);
      return { kind: "box", lower: middle.map((w) => Math.max(w - radius, 0)), upper: middle.map((w) => w + radius) };
    }
    default: {
      const of = parts(random, 3, 2 ** 32, 1);
      return { kind: "secret", name, weights: of, rows: [weights(), weights(), weights()] };
    }
  }
}
