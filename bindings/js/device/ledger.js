/** The ledger of a person: what was released, what counts against which budget, and the one place that says whether a release is allowed. */

import { natsText, parseNats } from "../kernel/exact.js";
import { Charges, OverBudget, yearlyOf } from "./budget.js";
import { dayText, UNSEEN_DAY } from "./day.js";
import { DeviceError, isUnworded, planOf, sortData, UNKNOWN_ID } from "./state.js";

/** What a release cost in units of 10^-10 nats, or null without a finite level. */
export const costOf = ({ cost }) => (cost === null ? null : parseNats(cost));

const toldDay = ({ collectors }, collector) => collectors.find(({ address }) => address === collector)?.day ?? null;

/**
 * Whether a release counts as told about a datum when a collector asks for it: what is noted under the datum, and what an older device sent to this
 * collector without noting the question.
 */
const countsFor = (release, datum, collector) => release.data.includes(datum) || (release.data.some(isUnworded) && toldDay(release, collector) !== null);

/** Everything that counts as released about a datum when a collector asks for it. */
export const releasesFor = (state, datum, collector) => state.releases.filter((release) => countsFor(release, datum, collector));

/** Whether a survey's report was drawn for a datum under a policy. */
export const hasReleased = (state, datum, policy) => state.releases.some((release) => release.part === null && release.policy === policy && release.data.includes(datum));

const samePart = (a, b) => a !== null && a.plan === b.plan && a.item === b.item && a.period === b.period;

/** Notes that a day has come. What was released before any day was seen counts as released on the first one. */
export function see(state, today) {
  if (state.day === UNSEEN_DAY) {
    for (const release of state.releases) {
      release.day = today;
      for (const told of release.collectors) told.day = today;
    }
  }
  // A clock that is set back refills nothing.
  state.day = Math.max(state.day, today);
}

/** Throws if the ledger has gone to another device. */
export function refuseMoved(state) {
  if (state.moved === null) return;
  const when = `this device's ledger was moved to another device on ${dayText(state.moved.day)}`;
  throw new DeviceError("moved", `${when}: nothing is released here any more; answer there, or bring its ledger back`);
}

/** What is charged to one budget: `{ level: "question", datum, collector }`, `{ level: "collector", collector }` or `{ level: "device" }`. */
function chargesTo(state, { level, datum, collector }, today) {
  const dayOf = {
    question: (release) => (countsFor(release, datum, collector) ? release.day : null),
    collector: (release) => toldDay(release, collector),
    device: (release) => release.day,
  }[level];
  const charged = state.releases.map((release) => ({ day: dayOf(release), cost: costOf(release) })).filter(({ day }) => day !== null);
  return new Charges(state.day === UNSEEN_DAY ? charged.map(({ cost }) => ({ day: today, cost })) : charged);
}

/** What stands on one budget: spent, budget, left and the most of a year in units, its days, and how many releases no budget counts. */
export function accountOf(state, purse, today) {
  const [budget, charges, now] = [state.budgets[purse.level], chargesTo(state, purse, today), Math.max(state.day, today)];
  const [spent, whole] = [charges.spent(budget, now), parseNats(budget.nats)];
  return { spent, budget: whole, days: budget.days, left: spent < whole ? whole - spent : 0n, uncounted: charges.uncounted(budget, now), yearly: yearlyOf(state.budgets, purse.level) };
}

/** Throws `OverBudget` if one budget does not allow a cost. One without a finite level is held against consent and claims alone. */
function allow(state, purse, cost, today) {
  if (cost === null) return;
  const [budget, charges, now] = [state.budgets[purse.level], chargesTo(state, purse, today), Math.max(state.day, today)];
  if (charges.fits(budget, cost, now)) return;
  const whose = { question: purse.datum, collector: purse.collector, device: "" }[purse.level];
  throw new OverBudget(purse.level, whose, charges.spent(budget, now), cost, budget, charges.refills(budget, cost));
}

/** Throws `OverBudget` unless every level allows a release about some data to a collector: the one place that answers this. */
export function afford(state, data, collector, cost, today) {
  for (const datum of data) allow(state, { level: "question", datum, collector }, cost, today);
  allow(state, { level: "collector", collector }, cost, today);
  allow(state, { level: "device" }, cost, today);
}

/**
 * Notes a release that every level affords, in memory: about its data, drawn under a policy of some id and cost, with the message of this id, and for an item of a plan
 * its `part`, `{ plan, item, period }`. It has seen the day before.
 */
export function noteRelease(state, { id, data, policy, cost, collector, part = null }) {
  const place = part && { plan: part.plan, item: part.item, period: part.period };
  state.releases.push({ id, data: [...data], policy, cost: cost === null ? null : natsText(cost), day: state.day, collectors: [{ address: collector, day: state.day }], part: place });
}

/**
 * Charges a collector for what another one has been told already: only its own budget, as nobody who sees everything learns anything. Nothing, if it
 * has been told too.
 */
export function tell(state, release, collector) {
  if (toldDay(release, collector) !== null) return;
  allow(state, { level: "collector", collector }, costOf(release), state.day);
  release.collectors.push({ address: collector, day: state.day });
}

/** The release of an item of a plan in a period, or null. */
export const releaseOfPart = (state, part) => state.releases.find((release) => samePart(release.part, part)) ?? null;

/** Every release that was ever told to a collector. */
export const releasesTo = (state, collector) => state.releases.filter((release) => toldDay(release, collector) !== null);

// ---------------------------------------------------------------- plans

/** The items of a plan that this device drew to answer, or null. */
export const choiceOf = (state, plan) => state.plans.find((one) => one.plan === plan)?.choice ?? null;

/** Notes which items of a plan this device answers: once, before anything is drawn for them, and never again. */
export function noteChoice(state, plan, items) {
  refuseMoved(state);
  if (choiceOf(state, plan) !== null) throw new DeviceError("chosen", "the items of this plan were drawn before and are never drawn again: use the remembered choice");
  planOf(state, plan).choice = [...items];
}

/** What was drawn for an item of a plan in a period, `{ token }` or `{ bits }` in hexadecimal digits, or null. */
export function memoOf(state, { plan, item, period }) {
  const memo = state.plans.find((one) => one.plan === plan)?.memos.find((one) => one.item === item && one.period === period);
  return memo === undefined ? null : "bits" in memo ? { bits: memo.bits } : { token: memo.token };
}

/** Remembers what was drawn for an item of a plan that was paid for. What is there stays. */
export function noteMemo(state, part, drawn) {
  if (memoOf(state, part) !== null || releaseOfPart(state, part) === null) return;
  const { memos } = planOf(state, part.plan);
  memos.push({ item: part.item, period: part.period, ...drawn });
  memos.sort((a, b) => a.item - b.item || a.period - b.period);
}

// ---------------------------------------------------------------- moving

/** Adds everything of another ledger to a state: what both released counts, what is on both counts once. */
export function join(state, other) {
  if (state.releases.length === 0) state.budgets = other.budgets;
  const latest = Math.max(state.day, other.day);
  [state, other].forEach((one) => see(one, latest));
  state.moved = null;
  for (const { plan, choice, memos, responses } of other.plans) {
    const released = state.releases.some(({ part }) => part?.plan === plan);
    const here = planOf(state, plan);
    // Only a choice under which nothing was released gives way: the fewer items two devices answer together, the less they tell.
    if (here.choice === null || (!released && choice !== null)) here.choice = choice;
    here.memos.push(...memos.filter((memo) => !here.memos.some(({ item, period }) => item === memo.item && period === memo.period)));
    here.memos.sort((a, b) => a.item - b.item || a.period - b.period);
    meet(here.responses, responses, (a, b) => a.response.id === b.response.id);
  }
  for (const release of other.releases) {
    // Two devices that drew under one policy for one datum made two releases.
    const same = (one) => one.id === release.id && one.id !== UNKNOWN_ID && one.policy === release.policy && String(one.data) === String(release.data) && (one.part === release.part || (release.part !== null && samePart(one.part, release.part)));
    const here = state.releases.find(same);
    if (here === undefined) state.releases.push(release);
    else joinRelease(here, release);
  }
  for (const { datum, answers } of other.data) {
    const page = state.data.find((one) => one.datum === datum) ?? { datum, answers: [] };
    if (!state.data.includes(page)) state.data.push(page);
    meet(page.answers, answers, (a, b) => a.report.id === b.report.id && a.report.policy === b.report.policy && a.curator === b.curator && a.survey === b.survey);
  }
  sortData(state);
}

/** One that was noted on two devices counts from the later day on, at every collector that either told. */
function joinRelease(here, other) {
  here.day = Math.max(here.day, other.day);
  for (const told of other.collectors) {
    const known = here.collectors.find(({ address }) => address === told.address);
    if (known === undefined) here.collectors.push(told);
    else known.day = Math.max(known.day, told.day);
  }
}

/** Adds messages that are not there; one that either knows as accepted is. */
function meet(here, others, same) {
  for (const other of others) {
    const known = here.find((one) => same(one, other));
    if (known === undefined) here.push(other);
    else if (other.delivery === "accepted") known.delivery = "accepted";
  }
}
