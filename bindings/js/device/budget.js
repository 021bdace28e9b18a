/** What a person's answers may add up to, at three levels, and why one more does not fit. */

import { min, natsText, parseNats, sum } from "../kernel/exact.js";
import { dayText, laterDay } from "./day.js";

/** Whose budget it is: one question, whoever asks it; one collector, whatever it asks; everything the device tells anybody. */
export const LEVELS = ["question", "collector", "device"];
/** The most days a budget may take to refill: a hundred years. */
export const MOST_DAYS = 36_500;
/** The days of a year, over which what may be told is shown. */
const YEAR = 365;

/**
 * A question has 2 ln 3 for ever: what was told about a fact does not become untold. A collector has four times that in a year, eight answers at
 * ln 3, and the device four times that again: a budget that is spent for good is one people get rid of by clearing everything, which forgets the questions too.
 */
const DEFAULT_BUDGETS = {
  question: { nats: "2.1972245774", days: null },
  collector: { nats: "8.7888983096", days: YEAR },
  device: { nats: "35.1555932384", days: YEAR },
};

/** A budget from `{ nats, days }`, with `days` null if it does not refill, or from text, which is such a one. */
export function budgetFrom(value) {
  const { nats, days } = typeof value === "string" ? { nats: value, days: null } : value;
  if (days !== null && !(Number.isSafeInteger(days) && days >= 1 && days <= MOST_DAYS)) {
    throw new RangeError(`a budget refills within 1 to ${MOST_DAYS} days, or never (null), not within ${days}`);
  }
  return { nats: natsText(parseNats(nats)), days };
}

/** The budgets of all levels, the default where none is given. */
export const budgetsFrom = (given = {}) => Object.fromEntries(LEVELS.map((level) => [level, budgetFrom(given[level] ?? DEFAULT_BUDGETS[level])]));

/** The most that may be told in 365 days in a row, in units: nothing is told past the device's budget. */
export function yearlyOf(budgets, level) {
  const yearly = ({ nats, days }) => parseNats(nats) * BigInt(days === null ? 1 : Math.ceil(YEAR / days));
  return min(yearly(budgets[level]), yearly(budgets.device));
}

/** A release that does not fit into the budget of a level; `refills` is the first day on which it would, or null. Amounts are nats as text. */
export class OverBudget extends Error {
  constructor(level, whose, spent, cost, budget, refills) {
    const subject = { question: `the question ${JSON.stringify(whose)}`, collector: `all questions of ${whose}`, device: "everything this device tells anybody" }[level];
    const period = budget.days === null ? "" : ` in ${budget.days} days`;
    const fix = refills === null ? "answer less often" : `wait until ${dayText(refills)}`;
    super(`the budget of ${subject} is ${budget.nats} nats${period}, ${natsText(spent)} are spent and this release costs ${natsText(cost)}: ${fix}, or raise the ${level}'s budget`);
    this.name = "OverBudget";
    Object.assign(this, { level, whose, spent: natsText(spent), cost: natsText(cost), budget, refills });
  }
}

/** What was charged to one budget: `{ day, cost }`, with a cost of null without a finite level, which no budget counts. */
export class Charges {
  constructor(charges) {
    this.charges = charges;
  }

  /** Those that still count on a day. */
  #counted({ days }, today) {
    return this.charges.filter(({ day }) => days === null || day + days > today);
  }

  /** What counts as spent on a day. */
  spent(budget, today) {
    return sum(this.#counted(budget, today).flatMap(({ cost }) => (cost === null ? [] : [cost])));
  }

  /** How many have no finite level and still count: they are held against consent and claims alone. */
  uncounted(budget, today) {
    return this.#counted(budget, today).filter(({ cost }) => cost === null).length;
  }

  /** Whether a cost still fits. */
  fits(budget, cost, today) {
    return this.spent(budget, today) + cost <= parseNats(budget.nats);
  }

  /** The first day on which a cost fits if nothing else is charged, or null. */
  refills(budget, cost) {
    if (budget.days === null) return null;
    // The sum only changes on the day on which one of them stops counting.
    const ends = this.charges.map(({ day }) => laterDay(day, budget.days)).filter((end) => this.fits(budget, cost, end));
    return ends.length === 0 ? null : Math.min(...ends);
  }
}
