/** Plans: what is left of a document once every policy and every claim about the person was found to hold. */

import { sha256 } from "../bytes.js";
import { Refusal } from "../certificate.js";
import { draftBytes } from "../codec.js";
import { refuse } from "../errors.js";
import { natsText, ratioNats } from "../exact.js";
import { listedAnswers } from "../frame.js";
import { parseDocument } from "../json.js";
import { Policy } from "../policy.js";
import { beliefOf } from "./belief.js";
import { planBytes, planFromBytes } from "./codec.js";
import { planFromFields } from "./document.js";
import { inARow, isExact, personLdp } from "./person.js";
import { acceptResponse, chooseItems, drawResponse, symbolsOf } from "./response.js";

const shown = (nats) => (nats === null ? "unbounded" : natsText(nats));

/** A claim about a person that is false, where, and by how much. Levels are nats as text. */
export class PlanRefusal extends Error {
  constructor(claim, side, attained, allowed, where) {
    super(`claim ${claim} about ${where.name ?? "the person"} is false (${side}): ${shown(attained)} nats are attained and ${shown(allowed)} are allowed${placeText(where)}`);
    this.name = "PlanRefusal";
    Object.assign(this, { claim, side, attained: shown(attained), allowed: shown(allowed), where });
  }
}

function placeText({ label, items, outcomes }) {
  const value = label === null ? "" : `, at the value ${label}`;
  if (items === null) return value;
  return `${value}, by ${items.map((item, at) => `item ${item}${outcomes === null ? "" : ` answered ${outcomes[at]}`}`).join(", ")}`;
}

/** A policy of a plan that is refused by itself; `refusal` says why. */
export class PolicyRefused extends Error {
  constructor(policy, refusal) {
    super(`policy ${policy}: ${refusal.message}`);
    this.name = "PolicyRefused";
    Object.assign(this, { policy, refusal });
  }
}

const made = Symbol("a plan is made by verifying");

/** A verified plan. There is no way to one but `verifyPlan`, which checks every policy and every claim. */
export class Plan {
  #items;
  #beliefs = new Map();

  constructor(key, draft, bytes, id, policies) {
    if (key !== made) throw new TypeError("a plan is made by verifyPlan");
    Object.assign(this, { draft, bytes, id, policies });
    // Items as the checks see them: the likelihoods are those of `policy`, because any number of fresh answers tells no more than the memo.
    this.#items = draft.items.map(({ questions, policy, fresh, weight }, index) => {
      const { channel } = policies[policy].draft;
      const { ratio } = policies[policy].certificate.input.ldp;
      return { index, questions, weight, fresh, channel, ratio, cost: ratioNats(ratio), outputs: listedAnswers(channel) };
    });
    this.costs = this.#items.map(({ cost }) => cost);
    this.person = personLdp(this.#items, draft.asked, draft.periods);
    Object.freeze(this);
  }

  /**
   * How far belief in a question or a secret can rise and fall, in units of 10^-10 nats, null without bound; null where the law is unknown. It is found when it is first asked for.
   * `given` is `all`, or `own` for questions: the answer to any one item that has it, alone.
   */
  belief(name, given = "all") {
    const { draft } = this;
    const variable = draft.variables.findIndex((one) => one.name === name);
    if (variable < 0) throw new RangeError(`the plan has no question or secret ${JSON.stringify(name)}`);
    if (given !== "all" && (given !== "own" || variable >= draft.questions.length)) throw new RangeError("given is all, or own for a question");
    if (draft.law.kind === "unknown") return null;
    const key = `${given} ${variable}`;
    if (!this.#beliefs.has(key)) this.#beliefs.set(key, Object.freeze(beliefOf(draft, this.#items, variable, given)));
    return this.#beliefs.get(key);
  }

  /** The LDP of one report of an item, in units of 10^-10 nats, and whether it is exact: of both channels in a row where reports are drawn from a kept answer. */
  firstReport(item) {
    const { policy, fresh } = this.draft.items[item];
    if (fresh === null) return { ldp: this.costs[item], exact: isExact(this.#items[item]) };
    return inARow(this.policies[policy], this.policies[fresh]);
  }

  /** What everything attains, whatever is claimed, as text. */
  get attained() {
    const { questions, secrets } = this.draft;
    const text = (belief) => belief && { upper: shown(belief.upper), lower: shown(belief.lower), exact: belief.exact };
    const both = ({ name }) => [name, { all: text(this.belief(name)), own: text(this.belief(name, "own")) }];
    return {
      costs: this.costs.map(shown),
      first_reports: this.costs.map((_, item) => {
        const { ldp, exact } = this.firstReport(item);
        return { ldp: shown(ldp), exact };
      }),
      person: { ldp: shown(this.person.ldp), exact: this.person.exact },
      questions: Object.fromEntries(questions.map(both)),
      secrets: Object.fromEntries(secrets.map(({ name }) => [name, text(this.belief(name))])),
    };
  }

  /** The items a device answers, in order. Drawn once, stored before anything is sent, never drawn again. */
  choose(random) {
    return chooseItems(this.draft, random);
  }

  /** The symbol each item randomises, null where one of its questions has no answer: `answers` has numbers or texts by the questions' names. */
  symbols(answers) {
    return symbolsOf(this.draft, answers);
  }

  /** Draws a response: `answers` as for `symbols`; `items` is the device's choice, `memos` what it keeps of this period. */
  respond(answers, { items, memos, random } = {}) {
    if (!Array.isArray(items)) throw new TypeError("give the items this device answers: { items: plan.choose() }, drawn once, stored, and never drawn again");
    return drawResponse(this, answers, { items, memos, random });
  }

  /** Refuses a response that the plan cannot have released. */
  accepts(response) {
    acceptResponse(this, response);
  }
}

/** Holds every claim against what is attained. */
function checkClaims(plan) {
  const { claims, variables, questions } = plan.draft;
  const above = (attained, allowed) => attained === null || attained > allowed;
  claims.forEach((claim, index) => {
    if (claim.about === "person") {
      const { ldp, items } = plan.person;
      if (above(ldp, claim.ldp)) throw new PlanRefusal(index, "ldp", ldp, claim.ldp, { name: null, value: null, label: null, items, outcomes: null });
      return;
    }
    const variable = claim.about === "question" ? claim.which : questions.length + claim.which;
    const { name, answers, values } = variables[variable];
    const belief = plan.belief(name, claim.given);
    const check = (side, at) => {
      if (!above(belief[side], claim[side])) return;
      const { value = null, items = null, outcomes = null } = at ?? {};
      const label = value === null ? null : (answers ?? values).label(value);
      throw new PlanRefusal(index, side, belief[side], claim[side], { name, value, label, items, outcomes });
    };
    check("upper", belief.riseAt);
    check("lower", belief.fallAt);
  });
}

async function verifiedPolicies(drafts) {
  const policies = [];
  for (const draft of drafts) {
    try {
      policies.push(await Policy.fromDraft(draft));
    } catch (error) {
      throw error instanceof Refusal ? new PolicyRefused(policies.length, error) : error;
    }
  }
  return policies;
}

/** Refuses a document whose content does not have its stated id. */
function checkId(stated, found, what) {
  if (stated !== null && stated !== found) refuse("id", `${what} was changed; its id is ${found}`);
}

/** Verifies a plan from its document, as text (read strictly) or as parsed JSON, or from its canonical bytes. */
export async function verifyPlan(source) {
  if (source instanceof Uint8Array) return verified(planFromBytes(source), null);
  const { id, policies, make } = planFromFields(typeof source === "string" ? parseDocument(source) : source);
  for (const [at, policy] of policies.entries()) checkId(policy.id, await sha256(draftBytes(policy.draft)), `policy ${at}`);
  return verified(make(), id);
}

async function verified(draft, stated) {
  const bytes = planBytes(draft);
  const id = await sha256(bytes);
  checkId(stated, id, "the content");
  const plan = new Plan(made, draft, bytes, id, await verifiedPolicies(draft.policies));
  checkClaims(plan);
  return plan;
}
