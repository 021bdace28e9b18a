/** Talking to a curator: fetch and verify, randomise, remember, send. */

import { MemoryDevice } from "./device.js";
import { budgetFrom, LEVELS, OverBudget } from "./device/budget.js";
import { systemDay } from "./device/day.js";
import { accountOf, afford, choiceOf, costOf, hasReleased, memoOf, noteChoice, noteMemo, noteRelease, refuseMoved, releaseOfPart, releasesFor, see, tell } from "./device/ledger.js";
import { addAnswer, adopt, byCodePoint, changeState, damagedDevice, isPolicyId, KEPT_POLICIES, KEPT_POLICY, oldSurveyDatum, pageOf, planDatum, planOf, questionDatum, sortedFields, UNKNOWN_ID } from "./device/state.js";
import { readAlphabet } from "./kernel/alphabet.js";
import { fromHex, sha256, toHex } from "./kernel/bytes.js";
import { Writer } from "./kernel/codec.js";
import { ClientError, DecodeError } from "./kernel/errors.js";
import { ascending, parseNats, totalCost } from "./kernel/exact.js";
import { parsed } from "./kernel/json.js";
import { AboveConsent, Consent, Exhausted, Ledger } from "./kernel/ledger.js";
import { Policy } from "./kernel/policy.js";
import { draw, Foreign, Report, systemRandom } from "./kernel/report.js";
import { Sequence } from "./kernel/sequence.js";

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The most reports in one body. */
const MAX_BATCH = 10_000;
/** The most bytes of a survey, of a policy, and of any other answer; whatever is longer is not read to its end. */
const LIMITS = { survey: 16 << 20, policy: 16 << 20, answer: 1 << 20 };
/** The status of a body that is too large. */
const TOO_LARGE = 413;

/** What is spent is held against budgets before the kernel's ledger looks at claims and consent, so that one has a budget without end. */
const ENDLESS = 10n ** 30n;

/** Whether sending the same again cannot help. Time-outs, too many requests and everything else may. */
const isFinal = (status) => status >= 400 && status < 500 && ![408, 425, 429].includes(status);

/** Whether a text can be a survey's id. */
const isSurveyId = (id) => /^[a-z0-9-]{1,64}$/.test(id);

/** A device, its owner's consent, and a curator. */
export class Client {
  constructor(base, { device = new MemoryDevice(), consent = new Consent(), retry = {}, limits = {}, form = "json", fetch = globalThis.fetch, today = systemDay } = {}) {
    const url = new URL(base);
    if (!/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
      throw new ClientError("address", `${base} is not a curator's address`);
    }
    this.base = url.href.replace(/\/+$/, "");
    this.device = device;
    this.consent = consent;
    this.form = form;
    /** Gives the day it is. */
    this.today = today;
    this.retry = { attempts: 4, first: 200, longest: 10_000, ...retry };
    this.limits = { ...LIMITS, ...limits };
    /** The length of the shortest body that was refused for its length; longer ones are not tried. */
    this.tooLarge = Infinity;
    this.fetch = (...request) => fetch(...request);
    this.verified = new Map();
    // Ids of the policies a device has kept, by their digits.
    this.ids = new Map();
  }

  /** Sends until there is a final answer or patience ends; `read` turns a response into a value or throws. */
  async #withRetry(path, request, read) {
    for (let done = 0; ; done += 1) {
      let [reason, wait] = ["", 0];
      try {
        const response = await this.fetch(`${this.base}${path}`, {
          credentials: "omit",
          redirect: "error",
          referrerPolicy: "no-referrer",
          signal: AbortSignal.timeout(60_000),
          ...request,
        });
        const value = await read(response);
        if (value !== undefined) return value;
        if (isFinal(response.status)) {
          const { code = "", detail = "" } = parsed(await bounded(response, this.limits.answer, "the answer")) ?? {};
          const refused = { status: response.status, code: String(code), detail: String(detail) };
          throw new ClientError("refused", `the curator refuses: ${refused.status} (${refused.code}): ${refused.detail}`, refused);
        }
        reason = `the answer has status ${response.status}`;
        if (!response.bodyUsed) await response.body?.cancel();
        wait = 1000 * (Number(response.headers.get("retry-after")) || 0);
      } catch (error) {
        if (error instanceof ClientError || error instanceof DecodeError) throw error;
        reason = error.message;
      }
      if (done + 1 >= this.retry.attempts) throw new ClientError("unavailable", `the curator cannot be reached or is busy: ${reason}`);
      const doubled = Math.min(this.retry.first * 2 ** done, this.retry.longest) * (1 + Math.random() / 2);
      await sleep(Math.min(Math.max(doubled, wait), this.retry.longest));
    }
  }

  #get(path, what, limit) {
    return this.#withRetry(path, { method: "GET" }, (response) => (response.status === 200 ? bounded(response, limit, what) : undefined));
  }

  /**
   * Fetches a survey and its policy, checks every claim, that it is the policy asked for, and that it asks what it encodes. The datum it asks
   * about is by default the wording of its question, whatever the survey is called.
   */
  async survey(id, { group = null, datum = null } = {}) {
    if (!isSurveyId(id)) throw new ClientError("survey_id", `${id} is not a survey's id: it has 1 to 64 of a-z, 0-9 and -`);
    const found = parsed(await this.#get(`/v1/surveys/${id}`, "the survey", this.limits.survey));
    if (found?.id !== id || !Array.isArray(found.round?.groups)) throw new ClientError("malformed", "what came is not the survey asked for");
    const { groups } = found.round;
    const own = group === null ? (groups.length === 1 ? groups[0] : undefined) : groups.find((one) => one.group === group);
    if (!own) throw Object.assign(new ClientError("group", `the survey has the groups ${groups.map((one) => one.group).join(", ")}: name yours`), { groups });
    const policy = await this.policy(own.policy);
    if (JSON.stringify(readAlphabet(found.answers)) !== JSON.stringify(policy.inputs)) {
      throw new ClientError("answers", "the survey's answers are not the policy's inputs: nothing is sent under it");
    }
    const worded = [found.question, found.title].map((text) => questionDatum(String(text ?? ""))).find((key) => key !== null);
    return { ...found, open: found.round.state === "open", group: own.group, people: own.people, policy, datum: datum ?? worded ?? oldSurveyDatum(id) };
  }

  /** Fetches and verifies a policy, once. */
  async policy(id) {
    if (!isPolicyId(id)) throw new ClientError("malformed", `${id} is not a policy's id`);
    if (!this.verified.has(id)) {
      const policy = await Policy.fromJson(await this.#get(`/v1/policies/${id}`, "the policy", this.limits.policy));
      if (policy.id !== id) throw new ClientError("other_policy", `policy ${id} was asked for and ${policy.id} came`);
      this.verified.set(id, policy);
    }
    return this.verified.get(id);
  }

  /** Changes the device's state; drawn again if another tab was faster, before anything is sent. */
  #change(action) {
    return changeState(this.device, action);
  }

  /** The policies that a state keeps, as hexadecimal digits by id. */
  async #kept(state) {
    const entries = state.policies.map(async (digits) => {
      if (!this.ids.has(digits)) this.ids.set(digits, await sha256(fromHex(digits)));
      return [this.ids.get(digits), digits];
    });
    return new Map(await Promise.all(entries));
  }

  /** The kernel's ledger of a datum, and everything that counts as released about it. */
  async #ledgerOf(state, datum) {
    const [releases, kept, past] = [releasesFor(state, datum, this.base), await this.#kept(state), new Sequence()];
    for (const release of releases) {
      // What was told under a plan, about several data at once or by fresh reports of a memo, counts with its attained LDP.
      const known = release.part === null && release.data.length === 1 && kept.has(release.policy);
      const policy = known ? await this.#verifiedBytes(release.policy, kept.get(release.policy)) : null;
      const answers = release.data.flatMap((key) => pageOf(state, key).answers);
      const drawn = answers.find(({ report }) => report.policy === release.policy && report.id === release.id);
      replay(past, release, policy, drawn && Report.fromJson(drawn.report));
    }
    const noted = releases.map((release) => ({ policy: release.policy, cost: costOf(release) }));
    return { ledger: new Ledger(ENDLESS, new Map([[datum, noted]])), past };
  }

  /** A policy the device has kept, verified once. */
  async #verifiedBytes(id, digits) {
    if (!this.verified.has(id)) {
      const policy = await Policy.fromBytes(fromHex(digits)).catch((error) => {
        throw damagedDevice(error.message);
      });
      this.verified.set(id, policy);
    }
    return this.verified.get(id);
  }

  /**
   * Throws what stands against a release about some data under a policy: `OverBudget`, `Exhausted` or `AboveConsent`. It depends on what was released and on
   * public policies, never on the answer.
   */
  async #allow(state, data, policy) {
    afford(state, data, this.base, policy.cost, this.today());
    for (const datum of data) {
      const { ledger, past } = await this.#ledgerOf(state, datum);
      // A combined symbol is not one of the datum's: what was told before counts with its attained LDP.
      ledger.spend(datum, policy, data.length === 1 ? past : new Sequence(), this.consent);
    }
  }

  /** Throws what stands against a new answer to a survey. */
  async #allowSurvey(state, { policy, datum, open, round }) {
    refuseMoved(state);
    if (!open) throw new ClientError("not_open", `round ${round.number} of this survey is not open: nothing was drawn`);
    if (hasReleased(state, datum, policy.id)) {
      throw new ClientError("forgotten", "the ledger says this policy has answered, but the report is not on the device");
    }
    await this.#allow(state, [datum], policy);
  }

  /** Throws what would keep this device from drawing a new answer: `ClientError`, `DeviceError`, `OverBudget`, `Exhausted` or `AboveConsent`. */
  async check(survey) {
    const { state } = await this.device.load();
    adopt(state, survey, this.base);
    await this.#allowSurvey(state, survey);
  }

  /** The report this device has drawn for a survey under its policy, or null. */
  async answered(survey) {
    await this.#change((state) => ({ unchanged: !adopt(state, survey, this.base) }));
    const answers = await this.answers();
    return answers.find((one) => one.datum === survey.datum && this.#isFor(survey, one)) ?? null;
  }

  #isFor(survey, { survey: id, curator, report }) {
    return id === survey.id && curator === this.base && report.policy === survey.policy.id;
  }

  /** Draws (or remembers) a report and writes it down without sending it. */
  async record(survey, symbol, { random = systemRandom } = {}) {
    const { policy, datum } = survey;
    const entry = (report) => ({ curator: this.base, survey: survey.id, report: sortedFields(report), delivery: "waiting" });
    return this.#change(async (state) => {
      refuseMoved(state);
      const adopted = adopt(state, survey, this.base);
      const { answers } = pageOf(state, datum);
      const same = answers.find(({ report }) => report.policy === policy.id);
      if (same !== undefined) {
        const here = answers.find((one) => this.#isFor(survey, one));
        if (here) return { report: Report.fromJson(here.report), repeated: true, delivery: here.delivery, unchanged: !adopted };
        // Another survey under the same policy: what was drawn goes there too, and may be news to its collector. Under an id of its own, by which two
        // collectors who compare notes do not find one person twice.
        const { token, bits } = Report.fromJson(same.report);
        const report = new Report(policy.id, toHex(random(16)), token, bits);
        see(state, this.today());
        tell(state, state.releases.find((release) => release.part === null && release.policy === policy.id && release.data.includes(datum)), this.base);
        addAnswer(state, datum, entry(report));
        return { report, repeated: true, delivery: "waiting", unchanged: false };
      }
      await this.#allowSurvey(state, survey);
      const report = Report.draw(policy, symbol, random);
      see(state, this.today());
      noteRelease(state, { id: report.id, data: [datum], policy: policy.id, cost: policy.cost, collector: this.base });
      addAnswer(state, datum, entry(report));
      await this.#keep(state, policy);
      return { report, repeated: false, delivery: "waiting", unchanged: false };
    });
  }

  /** Keeps a policy if there is room. */
  async #keep(state, policy) {
    const kept = await this.#kept(state);
    if (kept.has(policy.id) || policy.bytes.length > KEPT_POLICY || kept.size >= KEPT_POLICIES) return;
    kept.set(policy.id, toHex(policy.bytes));
    state.policies = Array.from(kept).sort(([a], [b]) => ascending(a, b)).map(([, digits]) => digits);
  }

  /**
   * Draws this device's response to a verified plan in one period, pays for it, and writes it down, all in one write; nothing is sent. `answers` gives the number or the
   * text of the answer to each question by its name; an item with a question that is left out is left out, and one that is not allowed is listed in `refused` and not replaced.
   *
   * The choice of items is drawn and written first, once. A period's response is repeated as it was, unless items have fresh reports: those are drawn again from the
   * memos, which costs nothing.
   */
  async respond(plan, answers, { period = 0, random = systemRandom } = {}) {
    const { items, periods } = plan.draft;
    if (!Number.isSafeInteger(period) || period < 0 || period >= periods) throw new ClientError("period", `the plan has ${periods} periods, numbered from 0: there is no period ${period}`);
    const symbols = plan.symbols(answers);
    const { choice } = await this.#change((state) => {
      refuseMoved(state);
      const known = choiceOf(state, plan.id);
      if (known !== null) return { choice: known, unchanged: true };
      noteChoice(state, plan.id, plan.choose(random));
      return { choice: choiceOf(state, plan.id) };
    });
    if (choice.some((item) => item >= items.length)) throw damagedDevice("a plan's choice is none it can have made");
    return this.#change(async (state) => {
      refuseMoved(state);
      see(state, this.today());
      const notes = planOf(state, plan.id);
      const kept = notes.responses.find((one) => one.period === period && one.collector === this.base)?.response;
      if (kept && kept.answers.every(({ item }) => items[item].fresh === null)) return { response: kept, refused: [], repeated: true, unchanged: true };
      const [before, drawn, refused] = [state.releases.length, [], []];
      for (const item of choice) {
        const part = { plan: plan.id, item, period };
        try {
          const memo = memoOf(state, part) === null ? await this.#newMemo(state, plan, part, symbols[item], random) : this.#oldMemo(state, part);
          if (memo !== null) drawn.push({ item, ...(items[item].fresh === null ? memo : written(draw(plan.policies[items[item].fresh], memo.token, random))) });
        } catch (error) {
          if (![OverBudget, Exhausted, AboveConsent].some((kind) => error instanceof kind)) throw error;
          refused.push({ item, error });
        }
      }
      const response = sortedFields({ undertone: "response/1", plan: plan.id, id: toHex(random(16)), answers: drawn });
      // Nothing was told, so that a person who raises a budget may still answer.
      if (drawn.length === 0) return { response, refused, repeated: false, unchanged: true };
      for (const release of state.releases.slice(before)) release.id = response.id;
      // What was delivered to this collector in this period before is not needed any more.
      notes.responses = notes.responses.filter((one) => one.delivery === "waiting" || one.period !== period || one.collector !== this.base);
      notes.responses.push({ collector: this.base, period, response, delivery: "waiting" });
      return { response, refused, repeated: false };
    });
  }

  /** What was drawn for an item before; a collector that was not told is charged. */
  #oldMemo(state, part) {
    tell(state, releaseOfPart(state, part), this.base);
    return memoOf(state, part);
  }

  /** Pays for an item of a plan and draws it; null if one of its questions was left out. */
  async #newMemo(state, plan, part, symbol, random) {
    if (symbol === null) return null;
    const { questions, policy: index } = plan.draft.items[part.item];
    const policy = plan.policies[index];
    // Two questions of one wording are one datum.
    const data = Array.from(new Set(questions.map((q) => planDatum(plan.draft.questions[q])))).sort(byCodePoint);
    await this.#allow(state, data, policy);
    noteRelease(state, { id: UNKNOWN_ID, data, policy: policy.id, cost: policy.cost, collector: this.base, part });
    noteMemo(state, part, written(draw(policy, symbol, random)));
    return memoOf(state, part);
  }

  /** Notes where a response is. */
  async noteResponse({ plan, id }, delivery) {
    await this.#change((state) => {
      for (const kept of planOf(state, plan).responses) if (kept.response.id === id) kept.delivery = delivery;
      return {};
    });
  }

  /** Sends the report that was recorded for a survey; gives its delivery and, if it waits, why. */
  async send(survey) {
    const answers = await this.answers();
    const own = answers.find((one) => one.datum === survey.datum && this.#isFor(survey, one));
    if (!own) throw new ClientError("nothing", "there is no answer to send");
    if (own.delivery === "accepted") return { delivery: "accepted", obstacle: null };
    refuseMoved((await this.device.load()).state);
    return this.#deliver(survey.id, [own]);
  }

  /** Draws (or remembers), writes down, and sends. A report that cannot be sent now waits on the device. */
  async answer(survey, symbol, options) {
    const { report, repeated } = await this.record(survey, symbol, options);
    return { report, repeated, ...(await this.send(survey)) };
  }

  /** Every report drawn on this device. */
  async answers() {
    const { state } = await this.device.load();
    return state.data.flatMap(({ datum, answers }) => answers.map((one) => ({ ...one, datum, report: Report.fromJson(one.report) })));
  }

  /** What was ever spent on a datum, null if a release had no finite level, and the budget of a question, in units of 10^-10 nats. */
  async spent(datum) {
    const { state } = await this.device.load();
    const releases = state.releases.filter(({ data }) => data.includes(datum));
    return { spent: totalCost(releases.map(costOf)), budget: parseNats(state.budgets.question.nats) };
  }

  /**
   * What stands on the three budgets an answer to a survey is charged to: `{ spent, budget, left, yearly }` in units of 10^-10 nats, `days` (null if it does
   * not refill), and how many releases are `uncounted` because they have no finite level.
   */
  async budgets(survey) {
    const { state } = await this.device.load();
    adopt(state, survey, this.base);
    return Object.fromEntries(LEVELS.map((level) => [level, accountOf(state, { level, datum: survey.datum, collector: this.base }, this.today())]));
  }

  /** Changes the budget of each datum to one that does not refill; what has been spent stays spent. */
  setBudget(text) {
    return this.setBudgets({ question: text });
  }

  /**
   * Changes the budgets of each question, of each collector and of the device, or some of them: `{ nats, days }`, or nats as text for one that does not
   * refill. What has been spent stays spent.
   */
  async setBudgets(given) {
    const next = Object.fromEntries(LEVELS.filter((level) => (given[level] ?? null) !== null).map((level) => [level, budgetFrom(given[level])]));
    await this.#change((state) => {
      Object.assign(state.budgets, next);
      return {};
    });
  }

  /**
   * Sends reports of one survey; returns once the curator has acknowledged all of them, else throws `ClientError`. Reports
   * that are too many bytes for one body go in parts; if a part fails, sending all of them again is harmless.
   */
  async submit(survey, reports) {
    if (!isSurveyId(survey)) throw new ClientError("survey_id", `${survey} is not a survey's id`);
    if (reports.length === 0 || reports.length > MAX_BATCH) throw new ClientError("body", `send 1 to ${MAX_BATCH} reports at a time`);
    const { type, body } = encodeBody(reports, this.form);
    // JSON of reports is ASCII, so its characters are its bytes.
    if (reports.length === 1 || body.length < this.tooLarge) {
      const request = { method: "POST", headers: { "content-type": type }, body };
      try {
        await this.#withRetry(`/v1/surveys/${survey}/reports`, request, async (response) => {
          if (response.status !== 202) return undefined;
          const { accepted } = parsed(await bounded(response, this.limits.answer, "the answer")) ?? {};
          return accepted === reports.length ? true : undefined;
        });
        return;
      } catch (error) {
        if (reports.length === 1 || error.problem?.status !== TOO_LARGE) throw error;
        this.tooLarge = Math.min(this.tooLarge, body.length);
      }
    }
    const middle = Math.floor(reports.length / 2);
    await this.submit(survey, reports.slice(0, middle));
    await this.submit(survey, reports.slice(middle));
  }

  /** Tries to send a batch; what came of it is noted unless it may go again in parts. */
  async #deliver(survey, batch) {
    let [delivery, obstacle] = ["accepted", null];
    try {
      await this.submit(survey, batch.map(({ report }) => report));
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      if (error.code === "refused" && batch.length > 1) return { delivery: "split", obstacle };
      if (error.code === "refused") delivery = { refused: error.problem };
      else [delivery, obstacle] = ["waiting", error.message];
    }
    const done = new Set(batch.map(({ datum, report }) => `${report.id} ${datum}`));
    await this.#change((state) => {
      for (const { datum, answers } of state.data) {
        for (const one of answers) {
          if (one.survey === survey && one.curator === this.base && done.has(`${one.report.id} ${datum}`)) one.delivery = delivery;
        }
      }
      return {};
    });
    return { delivery, obstacle };
  }

  /** Sends everything that waits for this curator, in batches of one policy; a refused batch goes again one by one. */
  async flush() {
    refuseMoved((await this.device.load()).state);
    const groups = new Map();
    for (const one of await this.answers()) {
      if (one.delivery !== "waiting" || one.curator !== this.base) continue;
      const key = `${one.survey} ${one.report.policy}`;
      groups.set(key, [...(groups.get(key) ?? []), one]);
    }
    const flushed = { accepted: 0, refused: 0, waiting: 0, obstacle: null };
    const send = async (batch) => {
      if (flushed.obstacle !== null) {
        flushed.waiting += batch.length;
        return;
      }
      const { delivery, obstacle } = await this.#deliver(batch[0].survey, batch);
      if (delivery === "split") {
        for (const one of batch) await send([one]);
        return;
      }
      flushed[typeof delivery === "object" ? "refused" : delivery] += batch.length;
      flushed.obstacle = obstacle;
    };
    for (const group of groups.values()) {
      for (let at = 0; at < group.length; at += MAX_BATCH) await send(group.slice(at, at + MAX_BATCH));
    }
    return flushed;
  }
}

/** The text of an answer; `ClientError` if it has more than `limit` bytes, of which no more than that are kept. */
async function bounded(response, limit, what) {
  const pieces = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (let step = await reader?.read(); step && !step.done; step = await reader.read()) {
    length += step.value.length;
    if (length > limit) {
      await reader.cancel().catch(() => {});
      throw new ClientError("too_large", `${what} has more than ${limit} bytes: it is not fetched`);
    }
    pieces.push(step.value);
  }
  const bytes = new Uint8Array(length);
  pieces.reduce((at, piece) => (bytes.set(piece, at), at + piece.length), 0);
  return new TextDecoder().decode(bytes);
}

/** What was drawn, as a device keeps it. */
const written = ({ token, bits }) => (bits === undefined ? { token } : { bits: toHex(bits) });

/** Adds a release to a sequence as far as its policy and its report are still on the device. */
function replay(past, { policy: id, cost }, policy, report) {
  if (policy === null) {
    past.forgotten({ policy: id, cost: cost === null ? null : parseNats(cost) });
    return;
  }
  try {
    if (report) {
      past.released(policy, report);
      return;
    }
  } catch (error) {
    // A report the policy cannot have released says nothing about the answer.
    if (!(error instanceof Foreign)) throw error;
  }
  past.untold(policy);
}

/** The compact body for reports of one policy and kind. */
export function encodeReports(reports) {
  const [first] = reports;
  const out = new Writer();
  out.u8(1);
  out.bytes(fromHex(first.policy));
  out.u8(first.bits === null ? 0 : 1);
  out.u32(reports.length);
  for (const report of reports) {
    if (report.policy !== first.policy || report.bits?.length !== first.bits?.length) {
      throw new ClientError("body", "a compact body holds reports of one policy and one kind");
    }
    out.bytes(fromHex(report.id));
    if (report.bits === null) out.u32(report.token);
    else out.bytes(report.bits);
  }
  return out.finish();
}

/** The body that would be sent for some reports, and its media type. */
export function encodeBody(reports, form = "json") {
  if (form === "binary") return { type: "application/vnd.undertone.reports", body: encodeReports(reports) };
  return { type: "application/json", body: JSON.stringify(reports.length === 1 ? reports[0] : { reports }) };
}
