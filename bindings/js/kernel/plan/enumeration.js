/**
 * Belief by trying every outcome. All outcomes are looked at in floats first, and only those that may be the worst are judged exactly.
 *
 * Why no worst outcome is missed: a joint probability is made of products and sums of numbers that are not negative, so a float differs from it by a
 * factor of at most (1 + 2^-53)^n after n roundings on the way of any one term, and a magnitude by one of (1 + 2^-62)^n. Rises and falls are quotients of such
 * numbers; with n the roundings of all of them, the outcome whose rounded rise is the largest of all has a float that is no further below the largest
 * float than a factor of (1 + 2^-53)^4n, and what is looked at is wider than that. It needs that no float underflows, which is checked: the product of the least positive
 * factors of all steps is above 2^-450, and a product that is nought is nought in both. Where that cannot be said, every outcome is judged exactly.
 */

import { fromFloat, isAbove, magnitude, magnitudeNats, NOUGHT, plus, product, quotient } from "./magnitude.js";
import { DOWN, FLOATS, likelihood, modelOf, UP } from "./model.js";

const MARGIN = 1e-9;
/** The binary digits a product may lose before a float is not trusted. */
const MAX_DIGITS = 450;
/** Fewer steps than this are taken exactly at once. */
const FEW_STEPS = 2 ** 12;

/** Calls `visit(state, number)` for every outcome of a set of items, the last item fastest; `wanted(from, end)` says whether to look at the outcomes between. */
function walk(model, items, first, wanted, visit) {
  const spans = items.map(() => 1);
  for (let at = items.length - 2; at >= 0; at -= 1) spans[at] = spans[at + 1] * items[at + 1].outputs;
  const descend = (depth, state, number) => {
    if (depth === items.length) return visit(state, number);
    for (let y = 0; y < items[depth].outputs; y += 1) {
      const from = number + y * spans[depth];
      if (wanted !== null && !wanted(from, from + spans[depth])) continue;
      if (descend(depth + 1, model.after(state, items[depth], y, depth), from)) return true;
    }
    return false;
  };
  return descend(0, model.start, first);
}

/** How small a product of one factor of each step can be, in binary digits. */
function digitsBelowOne({ law, variables, items }) {
  const of = (n, places) => places - (n.toString(2).length - 1);
  const smallest = (list) => list.reduce((worst, digits) => Math.max(worst, digits), 0);
  const rows = law.kind === "points" ? [[law.points.map(({ weight }) => weight)]] : variables.map((v) => law.nodes[v].rows);
  const ofLaw = rows.map((list) => smallest(list.map((row) => smallest(row.filter((n) => n > 0n).map((n) => of(n, 48))))));
  const ofItems = items.map(({ channel: { shape, masses, keep, base, own, other, inputs, levels } }) => {
    if (shape === "incidence") return smallest([levels.inside[0], levels.outside[0]].filter((n) => n > 0n).map((n) => of(n, 112)));
    if (shape === "table") return smallest(masses.map((row) => smallest(row.filter((n) => n > 0n).map((n) => of(n, 48)))));
    if (shape === "keep") {
      const parts = [keep, keep.map((k) => (1n << 40n) - k)].map((list) => smallest(list.filter((n) => n > 0n).map((n) => of(n, 40))));
      return Math.max(parts[0], parts[1] + smallest(base.filter((n) => n > 0n).map((n) => of(n, 48))));
    }
    return smallest([0, 1, 2 ** Math.min(inputs, 16) - 1].map((y) => likelihood({ shape, inputs, own, other }, 0, y)).filter(([n]) => n > 0n).map(([n, places]) => of(n, places)));
  });
  return [...ofLaw, ...ofItems].reduce((total, digits) => total + digits, 0);
}

/** Rises and falls of all outcomes in floats: the larger of each over the values. */
function look(component, sets, outcomes) {
  const model = modelOf(FLOATS, component);
  const before = model.joint(model.start);
  const [rises, falls] = [new Float64Array(outcomes), new Float64Array(outcomes)];
  let first = 0;
  for (const items of sets) {
    walk(model, items, first, null, (state, number) => {
      const joint = model.joint(state);
      let total = 0;
      for (let a = 0; a < joint.length; a += 1) total += joint[a];
      if (total === 0) return false;
      let [rise, fall] = [0, 0];
      for (let a = 0; a < joint.length; a += 1) {
        rise = Math.max(rise, joint[a] / (before[a] * total));
        fall = Math.max(fall, (total * before[a]) / joint[a]);
      }
      rises[number] = rise;
      falls[number] = fall;
      return false;
    });
    first += countOf(items);
  }
  return { rises, falls };
}

const countOf = (items) => items.reduce((count, { outputs }) => count * outputs, 1);

/** The largest rise and fall found so far, and where. */
class Worst {
  constructor(component) {
    const [down, up] = [modelOf(DOWN, component), modelOf(UP, component)];
    Object.assign(this, { down, up, low: down.joint(down.start), high: up.joint(up.start), component });
    Object.assign(this, { rise: NOUGHT, fall: NOUGHT, riseAt: null, fallAt: null });
  }

  /** Judges one outcome from its joint probabilities, rounded down and up. */
  judge(least, most, where) {
    const total = (list, up) => list.reduce((sum, part) => plus(sum, part, up), NOUGHT);
    const [totalLow, totalHigh] = [total(least, false), total(most, true)];
    if (totalHigh.m === 0n) return;
    least.forEach((low, a) => {
      const rise = quotient(most[a], product(this.low[a], totalLow, false), true);
      const fall = quotient(product(totalHigh, this.high[a], true), low, true);
      if (isAbove(rise, this.rise)) Object.assign(this, { rise, riseAt: where(a) });
      if (isAbove(fall, this.fall)) Object.assign(this, { fall, fallAt: where(a) });
    });
  }

  /** Judges the outcomes of a set of items that are wanted, in order, until `enough` says so. */
  see(items, first, wanted, enough) {
    // Both roundings go side by side.
    const { down, up } = this;
    const both = { start: [down.start, up.start], after: ([low, high], item, y, depth) => [down.after(low, item, y, depth), up.after(high, item, y, depth)] };
    return walk(both, items, first, wanted, ([low, high], number) => {
      const outcomes = [];
      let rest = number - first;
      for (let at = items.length - 1; at >= 0; at -= 1) {
        outcomes.unshift(rest % items[at].outputs);
        rest = Math.floor(rest / items[at].outputs);
      }
      this.judge(down.joint(low), up.joint(high), (value) => ({ value, items: items.map(({ index }) => index), outcomes }));
      return enough();
    });
  }
}

/** The most that a float as large as this can stand for, in units of 10^-10 nats; null without bound. */
function capOf(value, roundings) {
  if (value === Infinity) return null;
  const slack = magnitude((1n << 50n) + BigInt(roundings), -50, true);
  return magnitudeNats(product(fromFloat(value), slack, true));
}

/** Numbers of outcomes whose float may stand for the largest. */
function candidates(values, roundings) {
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const found = [];
  const from = most === Infinity ? Infinity : most * (1 - MARGIN - roundings * 2 ** -50);
  values.forEach((value, number) => {
    if (value >= from) found.push(number);
  });
  return { most, first: values.indexOf(most), found };
}

/** Whether some number of an increasing list lies in [from, end). */
function holds(list, from, end) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < from) low = middle + 1;
    else high = middle;
  }
  return low < list.length && list[low] < end;
}

/** The largest rise and fall over all outcomes of a component: nats (null without bound) and where. `few` is there for tests. */
export function enumerate(component, { few = FEW_STEPS } = {}) {
  const sets = [...component.sets()];
  const { outcomes, states } = component;
  const worst = new Worst(component);
  const eachSet = (visit) => {
    let first = 0;
    for (const items of sets) {
      if (visit(items, first)) return;
      first += countOf(items);
    }
  };
  const roundings = 4 * (component.items.length + states + component.sizes[component.variable] + 4);
  if (outcomes * states <= few || digitsBelowOne(component) > MAX_DIGITS) {
    eachSet((items, first) => worst.see(items, first, null, () => false));
  } else {
    const { rises, falls } = look(component, sets, outcomes);
    for (const [values, side] of [[rises, "rise"], [falls, "fall"]]) {
      const { most, first: top, found } = candidates(values, roundings);
      // Many outcomes may tie: once the printed number is as large as any of them can make it, the others need not be seen.
      const cap = capOf(most, roundings);
      const enough = () => worst[side] === null || magnitudeNats(worst[side]) === cap;
      const see = (list) => eachSet((items, first) => holds(list, first, first + countOf(items)) && worst.see(items, first, (from, end) => holds(list, from, end), enough));
      see([top]);
      if (!enough()) see(found);
    }
  }
  return { upper: magnitudeNats(worst.rise), lower: magnitudeNats(worst.fall), riseAt: worst.riseAt, fallAt: worst.fallAt };
}
