/**
 * The state of a device, and the text of its file.
 *
 * It is what the Rust client keeps in its file (`device/3`): `{ generation, day, moved, budgets, releases, data, plans, policies }`, with what was
 * released and what it cost, the reports drawn by datum, what was drawn for plans, and the bytes of small policies. Never the raw answer.
 */

import { encoder, fromHex } from "../kernel/bytes.js";
import { refuse } from "../kernel/errors.js";
import { natsText, parseNats, U32 } from "../kernel/exact.js";
import { integer, listOf, record, textOf } from "../kernel/json.js";
import { Report } from "../kernel/report.js";
import { budgetsFrom, LEVELS, MOST_DAYS } from "./budget.js";
import { dayText, isDay, UNSEEN_DAY } from "./day.js";

/** What a device cannot do: `code` is `damaged`, `missing`, `exists`, `in_use`, `moved`, `own_ledger`, `no_ledger`, `chosen` or `io`. */
export class DeviceError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "DeviceError";
    this.code = code;
  }
}

// ---------------------------------------------------------------- data

/**
 * The key of the datum that a question asks about: its wording, whatever the case, spaces and punctuation; null if it has no letter or digit.
 * Not the survey's id and not its answers: both are the collector's to change, and each change would be a new budget.
 */
export function questionDatum(wording) {
  // Letter by letter: what a capital sigma becomes must not depend on its place in a word.
  const lower = Array.from(wording.normalize("NFKC"), (letter) => letter.toLowerCase()).join("");
  const letters = lower.replace(/[^\p{Alphabetic}\p{N}]+/gu, "");
  return letters === "" ? null : `question:${letters}`;
}

/** The key of the datum behind a question of a plan: its wording as in a survey, without one its name. */
export const planDatum = ({ name, wording }) => questionDatum(wording) ?? questionDatum(name) ?? `name:${name}`;

/** The key under which an older device noted a survey whose wording it did not keep. */
export const oldSurveyDatum = (id) => `survey:${id}`;
/** Whether a key is that of a survey whose wording an older device did not keep. */
export const isUnworded = (datum) => datum.startsWith("survey:");

// ---------------------------------------------------------------- the file

const DEVICE_VERSION = "device/3";
/** Had budgets for questions and collectors, noted no days, and knew nothing of plans. */
const SECOND_VERSION = "device/2";
/** Noted surveys by their id, had no budget for collectors and no generation. */
const FIRST_VERSION = "device/1";
/** A device's state on its way to another device. */
const LEDGER_VERSION = "ledger/1";

/** Policies with more canonical bytes than this are not kept on the device, nor more than this many. */
export const KEPT_POLICY = 1 << 16;
export const KEPT_POLICIES = 256;

/** The id of a release whose message is not known. */
export const UNKNOWN_ID = "0".repeat(32);

/** The state of a device that has released nothing; the budgets of levels that are not given are the default. */
export const emptyState = (budgets) => ({ generation: 0, day: UNSEEN_DAY, moved: null, budgets: budgetsFrom(budgets), releases: [], data: [], plans: [], policies: [] });

/** Whether a text is a SHA-256 in hexadecimal digits, as a policy's id is. */
export const isPolicyId = (id) => typeof id === "string" && /^[0-9a-f]{64}$/.test(id);

/** A message's fields in alphabetical order, as the Rust client writes them. */
export const sortedFields = (message) => sorted(JSON.parse(JSON.stringify(message)));

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
}

/** Texts in the order of their code points, as the Rust client sorts them. */
export function byCodePoint(a, b) {
  const [left, right] = [Array.from(a), Array.from(b)];
  const at = left.findIndex((letter, i) => letter !== right[i]);
  if (at < 0) return left.length - right.length;
  return at < right.length ? left[at].codePointAt(0) - right[at].codePointAt(0) : 1;
}

/** Puts the data of a state into the order in which its file lists them. */
export const sortData = (state) => state.data.sort((a, b) => byCodePoint(a.datum, b.datum));

/** FNV-1a over the state as it is written: finds damage, not malice. In two halves of 32 bits, whose products Numbers hold exactly. */
function checkOf(state) {
  let [high, low] = [0xcbf29ce4, 0x84222325];
  for (const byte of encoder.encode(JSON.stringify(state))) {
    low = (low ^ byte) >>> 0;
    // The prime is 2^40 + 0x1b3.
    const product = low * 0x1b3;
    high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + low * 2 ** 8) % 2 ** 32;
    low = product % 2 ** 32;
  }
  return [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");
}

/** The text of a device file. */
export const encodeDevice = (state) => encodeAs(DEVICE_VERSION, state);
/** The text in which a ledger goes to another device. */
export const encodeLedger = (state) => encodeAs(LEDGER_VERSION, state);

const encodeAs = (version, state) => `${JSON.stringify({ undertone: version, check: checkOf(state), state }, null, 2)}\n`;

/** The fields of a state in each version. */
const FIELDS = {
  [DEVICE_VERSION]: ["generation", "day", "moved", "budgets", "releases", "data", "plans", "policies"],
  [SECOND_VERSION]: ["generation", "budget", "collector_budget", "data", "policies"],
  [FIRST_VERSION]: ["budget", "data", "policies"],
};

/** The state of a file of one of some versions, whose check matches. */
function stateIn(text, versions) {
  const file = record(JSON.parse(text), "the file", ["undertone", "check", "state"]);
  if (!versions.includes(file.undertone)) {
    const known = { [LEDGER_VERSION]: "it is a ledger on its way to another device, to be imported", [DEVICE_VERSION]: "it is a device's own file: export its ledger first" };
    refuse("version", known[file.undertone] ?? `version ${JSON.stringify(file.undertone)} is not known here`);
  }
  const state = record(file.state, "the state", FIELDS[file.undertone === LEDGER_VERSION ? DEVICE_VERSION : file.undertone]);
  if (checkOf(state) !== file.check) refuse("check", "its check does not match its content");
  return { version: file.undertone, state };
}

/** Reads a device file, also one of an older version; anything doubtful is refused, never replaced by an empty state. */
export function decodeDevice(text) {
  try {
    const { version, state } = stateIn(text, [DEVICE_VERSION, SECOND_VERSION, FIRST_VERSION]);
    if (version === DEVICE_VERSION) return checkedState(state);
    return checkedState(migrated(version === FIRST_VERSION ? worded(state) : state));
  } catch (error) {
    throw damagedDevice(error.message);
  }
}

/** Reads a ledger that another device gave away. */
export function decodeLedger(text) {
  try {
    const { state } = stateIn(text, [LEDGER_VERSION]);
    if (state.moved === null) refuse("json", "it was not given away");
    return checkedState(state);
  } catch (error) {
    throw new DeviceError("no_ledger", `this is no ledger that can be taken over (${error.message}): nothing has changed`);
  }
}

/** The error of a memory that cannot be relied on. */
export const damagedDevice = (why) =>
  new DeviceError("damaged", `the device's memory is damaged (${why}): nothing is released, because what has been spent is not known; restore it from a backup`);

/**
 * The second version of the state of the first. A page named after the survey its reports went to says nothing about the question; one with another name
 * was named by a program and keeps it.
 */
function worded({ budget, data, policies }) {
  const named = (page) => ({ ...page, datum: page.answers.every(({ survey }) => survey === page.datum) ? oldSurveyDatum(page.datum) : page.datum });
  return { generation: 0, budget, collector_budget: budgetsFrom().collector.nats, data: data.map(named), policies };
}

/**
 * The state of the version before this one. What was spent stays spent. Budgets that were for ever stay so; the device gets the default. No day was
 * noted: the first one seen becomes that of all releases, so that nothing refills early.
 */
function migrated({ generation, budget, collector_budget: collectorBudget, data, policies }) {
  const state = emptyState();
  const pages = data.map((page) => record(page, "a datum", ["datum", "releases", "answers"]));
  sortData({ data: pages });
  const released = ({ datum, releases, answers }) =>
    releases.map((release) => {
      const { policy, cost } = record(release, "a release", ["policy", "cost"]);
      const sent = answers.filter(({ report }) => report.policy === policy);
      const collectors = Array.from(new Set(sent.map(({ curator }) => curator)), (address) => ({ address, day: UNSEEN_DAY }));
      return { id: sent[0]?.report.id ?? UNKNOWN_ID, data: [datum], policy, cost, day: UNSEEN_DAY, collectors, part: null };
    });
  state.generation = generation;
  state.budgets = { ...state.budgets, question: { nats: budget, days: null }, collector: { nats: collectorBudget, days: null } };
  state.releases = pages.flatMap(released);
  state.data = pages.map(({ datum, answers }) => ({ datum, answers }));
  state.policies = policies;
  return state;
}

const isId = (text) => typeof text === "string" && /^[0-9a-f]{32}$/.test(text);

/** A state whose every part is what it must be. */
function checkedState(state) {
  const nats = (value, what) => {
    if (natsText(parseNats(textOf(value, what))) !== value) refuse("json", `${what} is not as printed`);
  };
  const seen = (day) => {
    if (!isDay(day)) refuse("json", `${day} is no day`);
    if (day > state.day) refuse("json", `a release of ${dayText(day)} is later than the device's latest day`);
  };
  const u32 = (value, what) => integer(value, what, U32);
  if (!Number.isSafeInteger(state.generation) || state.generation < 0) refuse("json", "generation must be an integer of at least 0");
  if (!isDay(state.day)) refuse("json", `${state.day} is no day`);
  if (state.moved !== null && !(isId(record(state.moved, "moved", ["id", "day"]).id) && isDay(state.moved.day))) refuse("json", "moved is no id and day");
  for (const level of LEVELS) {
    const budget = record(record(state.budgets, "budgets", LEVELS)[level], level, ["nats", "days"]);
    nats(budget.nats, level);
    if (budget.days !== null && !(integer(budget.days, "days", BigInt(MOST_DAYS)) > 0n)) refuse("json", "a budget cannot refill in 0 days");
  }
  const paid = new Set();
  listOf(state.releases, "releases", (release) => {
    const { id, data, policy, cost, day, collectors, part } = record(release, "a release", ["id", "data", "policy", "cost", "day", "collectors", "part"]);
    if (!isId(id)) refuse("json", `${JSON.stringify(id)} is no id`);
    if (listOf(data, "data", textOf).length === 0) refuse("json", "a release names no datum");
    if (!isPolicyId(policy)) refuse("json", "a policy's id is not one");
    if (cost !== null) nats(cost, "cost");
    seen(day);
    listOf(collectors, "collectors", (told) => {
      textOf(record(told, "a collector", ["address", "day"]).address, "address");
      seen(told.day);
    });
    if (part === null) data.forEach((datum) => paid.add(`${policy} ${datum}`));
    else {
      [record(part, "part", ["plan", "item", "period"]).item, part.period].forEach((value) => u32(value, "part"));
      if (!isPolicyId(part.plan)) refuse("json", `${JSON.stringify(part.plan)} is no id`);
      paid.add(`${part.plan} ${part.item} ${part.period}`);
    }
  });
  const once = (names, name) => {
    if (names.has(name)) refuse("json", `${JSON.stringify(name)} occurs twice`);
    names.add(name);
  };
  const data = new Set();
  listOf(state.data, "data", (page) => {
    const { datum, answers } = record(page, "a datum", ["datum", "answers"]);
    once(data, textOf(datum, "datum"));
    listOf(answers, "answers", (answer) => {
      const { curator, survey, report, delivery } = record(answer, "an answer", ["curator", "survey", "report", "delivery"]);
      [curator, survey].forEach((text) => textOf(text, "curator or survey"));
      checkDelivery(delivery);
      // What was sent must have been paid for.
      if (!paid.has(`${Report.fromJson(report).policy} ${datum}`)) refuse("json", `${JSON.stringify(datum)} has a report that its ledger does not know`);
    });
  });
  const plans = new Set();
  listOf(state.plans, "plans", (notes) => {
    const { plan, choice, memos, responses } = record(notes, "a plan", ["plan", "choice", "memos", "responses"]);
    if (!isPolicyId(plan)) refuse("json", `${JSON.stringify(plan)} is no id`);
    once(plans, plan);
    if (choice !== null) listOf(choice, "choice", u32);
    const remembered = new Set();
    listOf(memos, "memos", (memo) => {
      const { item, period, token, bits } = record(memo, "a memo", ["item", "period"], ["token", "bits"]);
      [item, period].forEach((value) => u32(value, "memo"));
      if ((token === undefined) === (bits === undefined)) refuse("json", "a memo has either a token or bits");
      if (token === undefined ? fromHex(bits) === null : u32(token, "token") < 0n) refuse("json", "a memo is not hexadecimal");
      if (!paid.has(`${plan} ${item} ${period}`)) refuse("json", `item ${item} of a plan has a memo that its ledger does not know`);
      once(remembered, `${item} ${period}`);
    });
    listOf(responses, "responses", (kept) => {
      const { collector, period, response, delivery } = record(kept, "a response", ["collector", "period", "response", "delivery"]);
      textOf(collector, "collector");
      u32(period, "period");
      checkDelivery(delivery);
      const sent = listOf(record(response, "a response", ["answers", "id", "plan", "undertone"]).answers, "answers", (answer) => record(answer, "an answer", ["item"], ["bits", "token"]).item);
      const known = response.plan === plan && isId(response.id) && sent.every((item) => paid.has(`${plan} ${item} ${period}`));
      if (!known) refuse("json", `plan ${plan} has a response that its ledger does not know`);
    });
  });
  if (!listOf(state.policies, "policies", textOf).every((digits) => fromHex(digits) !== null)) refuse("json", "a policy is not hexadecimal");
  return state;
}

function checkDelivery(delivery) {
  if (delivery !== "waiting" && delivery !== "accepted") record(record(delivery, "delivery", ["refused"]).refused, "refused", ["status", "code", "detail"]);
}

// ---------------------------------------------------------------- changing it

/** Changes a device's state; the action runs again if another tab was faster. */
export async function changeState(device, action) {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const { state, version } = await device.load();
    const result = await action(state);
    if (result.unchanged || (await device.replace(version, state))) return result;
  }
  throw new DeviceError("in_use", "the device's memory is being changed all the time by something else");
}

// ---------------------------------------------------------------- pages

/** The reports drawn for one datum; a page that is not in the state yet is empty. */
export const pageOf = (state, datum) => state.data.find((one) => one.datum === datum) ?? { datum, answers: [] };

/** Adds a report on its way to the page of its datum. */
export function addAnswer(state, datum, answer) {
  const page = pageOf(state, datum);
  page.answers.push(answer);
  if (!state.data.includes(page)) state.data.push(page);
  sortData(state);
}

/** What is remembered of a plan, in the state from now on. */
export function planOf(state, plan) {
  const known = state.plans.find((one) => one.plan === plan);
  if (known !== undefined) return known;
  const notes = { plan, choice: null, memos: [], responses: [] };
  state.plans.push(notes);
  state.plans.sort((a, b) => (a.plan < b.plan ? -1 : 1));
  return notes;
}

/** Moves what an older device noted under a survey's id to the question that survey asks, now that it is known; whether anything moved. */
export function adopt(state, survey, collector) {
  const key = oldSurveyDatum(survey.id);
  const old = state.data.find(({ datum, answers }) => datum === key && answers.some((one) => one.curator === collector && one.survey === survey.id));
  if (old === undefined || key === survey.datum) return false;
  state.data = state.data.filter((one) => one !== old);
  old.answers.forEach((answer) => addAnswer(state, survey.datum, answer));
  for (const release of state.releases) release.data = release.data.map((datum) => (datum === key ? survey.datum : datum));
  return true;
}
