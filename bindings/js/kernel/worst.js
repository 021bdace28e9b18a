/** The worst ratio of a channel, and the cell where it is found. */

import { RATIO_ONE, ratioAbove } from "./exact.js";

/** No cell: where a ratio is found, every index that means nothing there is null. */
export const CELL = { output: null, high: null, low: null, prior: null };
/** What a constant channel attains. */
export const NOTHING = { ratio: RATIO_ONE, cell: CELL };

/** Keeps the worse of two; 0/0 says nothing. */
export function worse(worst, n, d, cell) {
  if (n === 0n && d === 0n) return worst;
  return ratioAbove({ n, d }, worst.ratio) ? { ratio: { n, d }, cell } : worst;
}

/** The greatest and the least weight times a likelihood, where the one is `high` and the other `low`; of equals, the last is heaviest and the first lightest. */
export function heaviestAndLightest(high, low, weights) {
  let [heaviest, lightest] = [0, 0];
  weights.forEach((weight, x) => {
    if (weight >= weights[heaviest]) heaviest = x;
    if (weight < weights[lightest]) lightest = x;
  });
  return { high: [weights[heaviest] * high, heaviest], low: [weights[lightest] * low, lightest] };
}
