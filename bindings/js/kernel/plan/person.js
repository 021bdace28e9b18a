/** What the answers of a plan cost, and what everything one person sends attains. */

import { ratioAbove, ratioNats, totalCost } from "../exact.js";
import { releasesBits } from "../incidence.js";
import { isDrawn } from "./draft.js";
import { magnitudeNats, product, ratioMagnitude, WHOLE } from "./magnitude.js";
import { likelihood } from "./model.js";

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

/** Whether the levels of an item's policy are its own: blocks are known between a floor and a ceiling. */
export const isExact = ({ channel }) => channel.shape !== "incidence" || channel.levels.exact;

const MAX_STEPS = 2 ** 26;

/** The LDP of one channel after another, in units of 10^-10 nats: of the sum over m of A(m|x) B(y|m); of the smaller of both where that is too much to list. */
export function inARow(memo, fresh) {
  const [first, second] = [memo.draft.channel, fresh.draft.channel];
  const levels = [memo, fresh].map(({ certificate }) => ratioNats(certificate.input.ldp.ratio));
  if (releasesBits(second) || first.inputs * first.outputs * second.outputs > MAX_STEPS) {
    const bounded = levels.filter((level) => level !== null);
    return { ldp: bounded.length === 0 ? null : bounded.reduce((a, b) => (b < a ? b : a)), exact: false };
  }
  let [worst, exact] = [{ n: 1n, d: 1n }, true];
  for (let y = 0; y < second.outputs; y += 1) {
    let [high, low] = [0n, null];
    for (let x = 0; x < first.inputs; x += 1) {
      let [least, most] = [0n, 0n];
      for (let m = 0; m < first.outputs; m += 1) {
        least += likelihood(first, x, m)[0] * likelihood(second, m, y)[0];
        most += likelihood(first, x, m, true)[0] * likelihood(second, m, y, true)[0];
      }
      if (least !== most) exact = false;
      if (most > high) high = most;
      if (low === null || least < low) low = least;
    }
    const ratio = { n: high, d: low };
    if (high > 0n && ratioAbove(ratio, worst)) worst = ratio;
  }
  return { ldp: ratioNats(worst), exact };
}

/** The person's LDP in units of 10^-10 nats (null without bound), whether it is attained, and the items that make it. */
export function personLdp(items, asked, periods) {
  const most = costliest(items, asked);
  const sums = totalCost([totalCost(items.filter((item) => !isDrawn(item)).map(({ cost }) => cost)), largestCosts(items, asked)]);
  const together = magnitudeNats(powerUp(productOfRatios(most), periods));
  const sum = sums === null ? null : sums * BigInt(periods);
  const ldp = sum === null || (together !== null && together < sum) ? together : sum;
  // What is kept is told in full by no number of reports, only approached.
  const repeats = items.some(({ fresh }) => fresh !== null);
  return { ldp, exact: !repeats && items.every(isExact) && !overlap(items, asked), items: most.map(({ index }) => index) };
}

/** The sum of the `asked` largest costs of items with a weight. */
function largestCosts(items, asked) {
  const costs = items.filter(isDrawn).map(({ cost }) => cost);
  if (asked > 0 && costs.includes(null)) return null;
  return totalCost(costs.sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, asked));
}
