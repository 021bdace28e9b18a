/** What the answers of a plan cost, and what everything one person sends attains. */

import { ratioAbove, totalCost } from "../exact.js";
import { isDrawn } from "./draft.js";
import { magnitudeNats, product, ratioMagnitude, WHOLE } from "./magnitude.js";

/** Of some items, all without a weight and the `asked` whose ratio is largest of the others (the first of equals), in their order. */
export function costliest(items, asked) {
  const byRatio = items.filter(isDrawn).sort((a, b) => Number(ratioAbove(b.ratio, a.ratio)) - Number(ratioAbove(a.ratio, b.ratio)));
  const taken = new Set(byRatio.slice(0, asked));
  return items.filter((item) => !isDrawn(item) || taken.has(item));
}

/** The product of the ratios of some items, rounded up in their order; null without bound. */
export function productOfRatios(items) {
  return items.reduce((total, { ratio }) => (total === null || ratio.d === 0n ? null : product(total, ratioMagnitude(ratio.n, ratio.d, true), true)), WHOLE);
}

/** A magnitude to the power n, rounded up, by repeated squaring. */
export function powerUp(base, n) {
  if (base === null) return null;
  let [power, square] = [WHOLE, base];
  for (let left = n; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = product(power, square, true);
    square = product(square, square, true);
  }
  return power;
}

/** Whether one person can answer two items that share a question. */
function overlap(items, asked) {
  const seen = new Map();
  for (const item of items) {
    const weighty = isDrawn(item) ? 1 : 0;
    for (const q of item.questions) {
      const others = seen.get(q) ?? [];
      if (others.some((other) => other + weighty <= asked)) return true;
      seen.set(q, [...others, weighty]);
    }
  }
  return false;
}

/** The person's LDP in units of 10^-10 nats (null without bound), whether it is attained, and the items that make it. */
export function personLdp(items, asked, periods) {
  const most = costliest(items, asked);
  const sums = totalCost([totalCost(items.filter((item) => !isDrawn(item)).map(({ cost }) => cost)), largestCosts(items, asked)]);
  const together = magnitudeNats(powerUp(productOfRatios(most), periods));
  const sum = sums === null ? null : sums * BigInt(periods);
  const ldp = sum === null || (together !== null && together < sum) ? together : sum;
  return { ldp, exact: !overlap(items, asked), items: most.map(({ index }) => index) };
}

/** The sum of the `asked` largest costs of items with a weight. */
function largestCosts(items, asked) {
  const costs = items.filter(isDrawn).map(({ cost }) => cost);
  if (asked > 0 && costs.includes(null)) return null;
  return totalCost(costs.sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, asked));
}
