/**
 * The state of a device, and the text of its file.
 *
 * It is what the Rust client keeps in its file (`device/2`): `{ generation, budget, collector_budget, data, policies }`, with for each datum
 * its releases and the reports drawn, and the bytes of small policies. Never the raw answer.
 */

import { encoder, fromHex } from "../kernel/bytes.js";
import { refuse } from "../kernel/errors.js";
import { natsText, parseNats, sum } from "../kernel/exact.js";
import { record, textOf } from "../kernel/json.js";
import { Report } from "../kernel/report.js";

/** What a device cannot do: `code` is `damaged`, `missing`, `exists`, `in_use` or `io`. */
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

/** The key under which an older device noted a survey whose wording it did not keep. */
export const oldSurveyDatum = (id) => `survey:${id}`;
/** Whether a key is that of a survey whose wording an older device did not keep. */
const isUnworded = (datum) => datum.startsWith("survey:");

// ---------------------------------------------------------------- the file

const DEVICE_VERSION = "device/2";
/** Noted surveys by their id, had no budget for collectors and no generation. */
const OLD_DEVICE_VERSION = "device/1";
/** What all answers to one question may add up to: 2 ln 3. */
const DEFAULT_BUDGET = "2.1972245774";
/** What all answers to one collector may add up to: four times that. */
const DEFAULT_COLLECTOR_BUDGET = "8.7888983096";

/** The state of a device that has released nothing. */
export const emptyState = (budget = DEFAULT_BUDGET, collectorBudget = DEFAULT_COLLECTOR_BUDGET) => ({
  generation: 0,
  budget: natsText(parseNats(budget)),
  collector_budget: natsText(parseNats(collectorBudget)),
  data: [],
  policies: [],
});

/** Whether a text is a SHA-256 in hexadecimal digits, as a policy's id is. */
export const isPolicyId = (id) => typeof id === "string" && /^[0-9a-f]{64}$/.test(id);

/** Report fields in alphabetical order, as the Rust client writes them. */
export const sortedReport = (report) => {
  const fields = JSON.parse(JSON.stringify(report));
  return Object.fromEntries(Object.keys(fields).sort().map((name) => [name, fields[name]]));
};

/** Texts in the order of their code points, as the Rust client sorts them. */
function byCodePoint(a, b) {
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
export function encodeDevice(state) {
  return `${JSON.stringify({ undertone: DEVICE_VERSION, check: checkOf(state), state }, null, 2)}\n`;
}

/** Reads a device file, also one of an older version; anything doubtful is refused, never replaced by an empty state. */
export function decodeDevice(text) {
  try {
    const file = record(JSON.parse(text), "the file", ["undertone", "check", "state"]);
    const old = file.undertone === OLD_DEVICE_VERSION;
    if (!old && file.undertone !== DEVICE_VERSION) refuse("version", `version ${JSON.stringify(file.undertone)} is not known here`);
    const parts = ["budget", "data", "policies"];
    record(file.state, "the state", old ? parts : [...parts, "generation", "collector_budget"]);
    if (checkOf(file.state) !== file.check) refuse("check", "its check does not match its content");
    return checkedState(old ? migrated(file.state) : file.state);
  } catch (error) {
    throw damagedDevice(error.message);
  }
}

/** The error of a memory that cannot be relied on. */
export const damagedDevice = (why) =>
  new DeviceError("damaged", `the device's memory is damaged (${why}): nothing is released, because what has been spent is not known; restore it from a backup`);

/**
 * The state an older device kept. What was spent stays spent. A page named after the survey its reports went to says nothing about the
 * question; one with another name was named by a program and keeps it.
 */
function migrated({ budget, data, policies }) {
  const named = ({ datum, releases, answers }) => ({
    datum: answers.every(({ survey }) => survey === datum) ? oldSurveyDatum(datum) : datum,
    releases,
    answers,
  });
  const state = { ...emptyState(budget), data: data.map(named), policies };
  sortData(state);
  return state;
}

/** A state whose every part is what it must be. */
function checkedState(state) {
  const nats = (value, what) => {
    if (natsText(parseNats(textOf(value, what))) !== value) refuse("json", `${what} is not as printed`);
  };
  if (!Number.isSafeInteger(state.generation) || state.generation < 0) refuse("json", "generation must be an integer of at least 0");
  nats(state.budget, "budget");
  nats(state.collector_budget, "collector_budget");
  const seen = new Set();
  for (const page of state.data) {
    const { datum, releases, answers } = record(page, "a datum", ["datum", "releases", "answers"]);
    if (seen.has(textOf(datum, "datum"))) refuse("json", `${JSON.stringify(datum)} occurs twice`);
    seen.add(datum);
    for (const release of releases) {
      const { policy, cost } = record(release, "a release", ["policy", "cost"]);
      if (!isPolicyId(policy)) refuse("json", "a policy's id is not one");
      if (cost !== null) nats(cost, "cost");
    }
    for (const answer of answers) {
      const { curator, survey, report, delivery } = record(answer, "an answer", ["curator", "survey", "report", "delivery"]);
      [curator, survey].forEach((text) => textOf(text, "curator or survey"));
      if (delivery !== "waiting" && delivery !== "accepted") record(record(delivery, "delivery", ["refused"]).refused, "refused", ["status", "code", "detail"]);
      // What was sent must have been paid for.
      const { policy } = Report.fromJson(report);
      if (!releases.some((release) => release.policy === policy)) refuse("json", `${JSON.stringify(datum)} has a report that its ledger does not know`);
    }
  }
  if (!state.policies.every((digits) => fromHex(digits) !== null)) refuse("json", "a policy is not hexadecimal");
  return state;
}

// ---------------------------------------------------------------- what was spent

/** What was drawn for one datum; a page that is not in the state yet is empty. */
export const pageOf = (state, datum) => state.data.find((one) => one.datum === datum) ?? { datum, releases: [], answers: [] };

/** What a release cost in units of 10^-10 nats, or null without a finite level. */
export const costOf = ({ cost }) => (cost === null ? null : parseNats(cost));

/** What counts as released about a datum to a collector: what is noted under it, and what an older device sent there without noting the question. */
export function pagesOf(state, datum, collector) {
  const unworded = ({ datum: key, answers }) => key !== datum && isUnworded(key) && answers.some(({ curator }) => curator === collector);
  return [pageOf(state, datum), ...state.data.filter(unworded)];
}

/** The finite costs of all releases whose reports went to a collector. One without a finite level is held against consent and claims alone. */
export function spentAt(state, collector) {
  const costs = state.data.flatMap(({ releases, answers }) => {
    const sent = new Set(answers.filter(({ curator }) => curator === collector).map(({ report }) => report.policy));
    return releases.filter(({ policy }) => sent.has(policy)).map(costOf);
  });
  return sum(costs.filter((cost) => cost !== null));
}

/** Moves what an older device noted under a survey's id to the question that survey asks, now that it is known; whether anything moved. */
export function adopt(state, survey, collector) {
  const key = oldSurveyDatum(survey.id);
  const old = state.data.find(({ datum, answers }) => datum === key && answers.some((one) => one.curator === collector && one.survey === survey.id));
  if (old === undefined || key === survey.datum) return false;
  const page = pageOf(state, survey.datum);
  page.releases.push(...old.releases);
  page.answers.push(...old.answers);
  state.data = [...state.data.filter((one) => one !== old && one !== page), page];
  sortData(state);
  return true;
}
