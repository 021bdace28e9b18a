/** Everything one device has released about one datum, judged as one. */

import { lipRatio } from "./certificate.js";
import { largerRatio, natsText, RATIO_ONE, ratioAbove, ratioNats, smallerRatio, totalCost } from "./exact.js";
import { answerAt, columnCount, Frame, isImpossible, listedAnswers, noFactor, ODDS_ONE, oddsUp, orderIn, times } from "./frame.js";
import { accept } from "./report.js";

/** Most cells looked at for one answer: symbols, times the outputs of releases whose answers are unknown, times those of the next. */
const MAX_CELLS_LISTED = 2 ** 22;

/** Alphabets of more symbols are not looked at symbol by symbol: what their releases tell is bounded by what each attains. */
const MAX_SYMBOLS_HELD = 2 ** 22;

/** What a sequence attains at worst, over every transcript it may have. Levels are in units of 10^-10 nats, null without bound. */
export class Standing {
  constructor({ exact, ldp, lip, secrets, claims }) {
    // Whether every number is attained; otherwise some are upper bounds.
    this.exact = exact;
    this.ldp = ratioNats(ldp);
    // Undefined if no policy declared a context.
    this.lip = lip === null ? undefined : ratioNats(lip);
    this.secrets = new Map(Array.from(secrets, ([name, ratio]) => [name, ratioNats(ratio)]));
    // Whether all claims of all policies hold for the whole transcript; null if that cannot be said.
    this.claims = claims;
    Object.freeze(this);
  }

  /** What is told about a secret; one that no policy declared is bounded by the LDP of the input. */
  aboutSecret(name) {
    return this.secrets.has(name) ? this.secrets.get(name) : this.ldp;
  }

  /** Levels as printed, as in `vectors/v1/sequence`. */
  toJSON() {
    const shown = (units) => (units === null ? "unbounded" : natsText(units));
    const secrets = Object.fromEntries(Array.from(this.secrets, ([name, units]) => [name, shown(units)]));
    return { exact: this.exact, ldp: shown(this.ldp), lip: this.lip === undefined ? null : shown(this.lip), secrets, claims: this.claims };
  }
}

/** What one release attains by itself: its certificate. */
function standingAlone({ certificate: { input, secret }, draft }) {
  const secrets = secret === null ? [] : [[draft.context.name, secret.ldp.ratio]];
  return new Standing({ exact: input.exact, ldp: input.ldp.ratio, lip: lipRatio(input), secrets, claims: true });
}

/**
 * Everything one device has released about one datum, as far as the device still has it. A claim speaks of one release; what several
 * tell together is judged here, for every output the next one could have, under every context any of the policies declared.
 */
export class Sequence {
  #past = [];

  /** Adds a release whose policy and report are at hand; throws `Foreign` if the policy cannot have released the report. */
  released(policy, report) {
    accept(policy, report);
    this.#past.push({ id: policy.id, policy, answer: { token: report.token, bits: report.bits }, cost: policy.cost });
  }

  /** Adds a release under a policy that is at hand, whatever its answer was. */
  untold(policy) {
    this.#past.push({ id: policy.id, policy, answer: null, cost: policy.cost });
  }

  /** Adds a release of which only its entry in the ledger is left. */
  forgotten({ policy, cost }) {
    this.#past.push({ id: policy, policy: null, answer: null, cost });
  }

  /** Whether these are the releases a ledger has noted, in any order. */
  matches(noted) {
    const ids = (list) => list.slice().sort().join(" ");
    return ids(this.#past.map(({ id }) => id)) === ids(noted.map(({ policy }) => policy));
  }

  /** What everything released attains at worst once `next` has answered too, whatever its answer is. */
  after(next) {
    if (this.#past.length === 0) return standingAlone(next);
    const past = this.#past;
    const frames = [new Frame(next.inputs)];
    const nextContext = frames[0].declare(next.draft.context, orderIn(next.inputs, next.inputs));
    const members = past.flatMap((release) => (release.policy === null ? [] : [memberOf(frames, release)]));
    const listed = this.#listed(next);
    const told = new Set(members.filter(({ release }) => release.answer !== null || listed.includes(release)).map(({ release }) => release));
    // What is not in the transcript may have changed any likelihood by its attained LDP.
    const missing = frames.map((frame, at) => {
      if (frame.alphabet.size > MAX_SYMBOLS_HELD) return null;
      const absent = past.filter((release) => !(told.has(release) && frame.members.some((member) => member.release === release)));
      return oddsUp(totalCost([...absent.map(({ cost }) => cost), ...(at > 0 ? [next.cost] : [])]));
    });
    const atHand = frames.map((frame, at) => {
      if (missing[at] === null) return null;
      const answered = frame.members.filter(({ release }) => release.answer !== null);
      return answered.reduce((factor, { release, order }) => times(factor, release.policy.draft.channel, release.answer, order), noFactor(frame.alphabet.size));
    });
    frames.forEach((frame, at) => {
      // Answers that no symbol can have given: nothing is known about what they tell.
      if (missing[at] === null || isImpossible(atHand[at])) frame.unbounded();
    });
    let exact = missing.every((odds) => odds === ODDS_ONE);
    const look = (factors) =>
      frames.forEach((frame, at) => {
        const channel = at === 0 ? next.draft.channel : null;
        if (missing[at] !== null && !isImpossible(factors[at])) exact = frame.look(channel, factors[at], missing[at]) && exact;
      });
    everyTranscript(
      listed.map((release) => members.find((member) => member.release === release)),
      atHand,
      frames,
      look,
    );
    frames.forEach((frame, at) => {
      if (missing[at] !== null && missing[at] !== ODDS_ONE) frame.boundSecrets();
    });
    const costs = oddsUp(totalCost([...past.map(({ cost }) => cost), next.cost]));
    return summed(frames, costs, exact, claimsHold(frames, past, next, nextContext, exact));
  }

  /** The past releases whose answer is unknown and whose outputs are all tried, the fewest outputs first. */
  #listed(next) {
    const { channel } = next.draft;
    const candidates = this.#past
      .filter(({ policy, answer }) => policy !== null && answer === null)
      .map((release) => ({ release, count: listedAnswers(release.policy.draft.channel) }))
      .filter(({ count }) => count !== null)
      .sort((a, b) => a.count - b.count);
    let cells = channel.inputs * columnCount(channel);
    const within = ({ count }) => {
      cells *= count;
      return cells <= MAX_CELLS_LISTED;
    };
    const end = candidates.findIndex((candidate) => !within(candidate));
    return candidates.slice(0, end < 0 ? candidates.length : end).map(({ release }) => release);
  }

  /** What several policies attain together at worst, in any order, whatever they answer; null for none. */
  static together(policies) {
    if (policies.length === 0) return null;
    // The one whose outputs are hardest to list comes last, where they need not be listed.
    const hardness = ({ draft: { channel } }) => [Number(listedAnswers(channel) === null), Number(columnCount(channel) === 1), channel.outputs];
    const harder = (a, b) => {
      const at = a.findIndex((part, i) => part !== b[i]);
      return at < 0 || a[at] > b[at];
    };
    const last = policies.reduce((worst, policy, at) => (harder(hardness(policy), hardness(policies[worst])) ? at : worst), 0);
    const sequence = new Sequence();
    policies.forEach((policy, at) => {
      if (at !== last) sequence.untold(policy);
    });
    return sequence.after(policies[last]);
  }
}

/** Puts a past release into the frame of its alphabet, a new one if there is none. */
function memberOf(frames, release) {
  const { inputs, context } = release.policy.draft;
  let order = null;
  let frame = frames.find((one) => (order = orderIn(one.alphabet, inputs)) !== null);
  if (frame === undefined) {
    frame = new Frame(inputs);
    order = orderIn(inputs, inputs);
    frames.push(frame);
  }
  const member = { release, frame, order, found: frame.declare(context, order) };
  frame.members.push(member);
  return member;
}

/** Calls `look` with the factors of every transcript: all outputs of the `listed` releases. */
function everyTranscript(listed, factors, frames, look) {
  if (listed.length === 0) {
    look(factors);
    return;
  }
  const [{ release, frame, order }, ...others] = listed;
  const { channel } = release.policy.draft;
  const at = frames.indexOf(frame);
  if (factors[at] === null) {
    // Its symbols are too many to look at, whatever the answer.
    everyTranscript(others, factors, frames, look);
    return;
  }
  for (let number = 0; number < listedAnswers(channel); number += 1) {
    const factor = times(factors[at], channel, answerAt(channel, number), order);
    // An answer that cannot follow those before it is not part of any transcript.
    if (isImpossible(factor) && !isImpossible(factors[at])) continue;
    everyTranscript(
      others,
      factors.map((before, f) => (f === at ? factor : before)),
      frames,
      look,
    );
  }
}

/** The standing of all frames together, `costs` being what all costs add up to. */
function summed(frames, costs, exact, claims) {
  const sums = costs === null ? [] : [{ n: costs, d: ODDS_ONE }];
  const ldp = [...frames.map((frame) => frame.ldp), ...sums].reduce(smallerRatio);
  const found = frames.flatMap((frame) => frame.contexts);
  // Where the rest are bounds, LDP may be the better one: it bounds belief and every secret.
  const lip = found.length === 0 ? null : smallerRatio(found.map(({ upper, lower }) => largerRatio(upper, lower)).reduce(largerRatio), ldp);
  const secrets = new Map();
  for (const { context, secret } of found.filter((one) => one.context.kind === "secret")) {
    secrets.set(context.name, largerRatio(smallerRatio(secret, ldp), secrets.get(context.name) ?? RATIO_ONE));
  }
  return new Standing({ exact, ldp, lip, secrets, claims });
}

/**
 * Whether every claim of every policy holds for the whole; null where that cannot be said. A delta is a sum over outputs and does not
 * survive a choice made after the first answer.
 */
function claimsHold(frames, past, next, nextContext, exact) {
  if (past.some(({ policy }) => policy === null)) return null;
  const judge = (policy, frame, found) =>
    policy.draft.claims.map((claim) => {
      if (claim.delta > 0n || claim.notion === "di") return null;
      if (claim.notion === "ldp" && claim.about === "input") return !ratioAbove(frame.ldp, claim.epsilon);
      return found.holds(claim);
    });
  const verdicts = judge(next, frames[0], nextContext);
  for (const frame of frames) for (const { release, found } of frame.members) verdicts.push(...judge(release.policy, frame, found));
  if (verdicts.includes(null)) return null;
  // A bound that is too large proves nothing.
  return verdicts.every(Boolean) || (exact ? false : null);
}
