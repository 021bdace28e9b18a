/** Consent, what a person allows everything released about one datum to tell, and the ledger of what was spent on each. */

import { expUp, lnUp, min, natsText, ONE, parseNats, totalCost, WEIGHT_ONE } from "./exact.js";
import { Sequence, Standing } from "./sequence.js";

/**
 * A release with which everything released about one datum would tell more than the person agreed to: `number` is
 * `ldp`, `lip` or `secret`, and for the last `secret` is its name.
 */
export class AboveConsent extends Error {
  constructor(number, attained, allowed, secret = null) {
    const reached = attained === null ? "no finite level" : `${natsText(attained)} nats`;
    const everything = "of everything released about this datum could reach";
    const said = {
      ldp: `with this release the LDP ${everything} ${reached}`,
      lip: `with this release belief about this datum could change by ${reached} in all`,
      secret: `with this release the LDP about ${JSON.stringify(secret)} ${everything} ${reached}`,
    }[number];
    super(`${said}, and you agreed to ${natsText(allowed)} nats`);
    this.name = "AboveConsent";
    this.number = number;
    this.attained = attained === null ? null : natsText(attained);
    this.allowed = natsText(allowed);
    this.secret = secret;
  }
}

/**
 * Limits in nats as text; null sets no limit. They bound what everything one device ever releases about one datum *attains* together,
 * without any delta; what policies claim does not matter.
 *
 * - `ldp`: any two likelihoods of the whole transcript differ by at most this.
 * - `lip`: belief about the input, under every prior of every context any of the policies declared, rises or falls by at most this from
 *   where it was before the first release. Where no policy declared a context and `ldp` sets no limit, LDP is held against this number.
 * - `secrets`: for each `{ name, ldp }`, the likelihoods of any two values of that secret differ by at most this, under every law any of
 *   the policies declared for it. A secret that no policy declared is judged by the LDP of the input. `secret` is a list of one.
 *
 * The defaults are ln 3, 2 ln 3 and none.
 */
export class Consent {
  constructor({ lip = "1.0986122887", ldp = "2.1972245774", secret = null, secrets = [] } = {}) {
    this.lip = lip === null ? null : parseNats(lip);
    this.ldp = ldp === null ? null : parseNats(ldp);
    const named = secret === null ? secrets : [...secrets, secret];
    this.secrets = named.map((one) => ({ name: one.name, ldp: parseNats(one.ldp) }));
  }

  /** Throws `AboveConsent` if what is released, the next answer included, might pass a limit. */
  check(standing) {
    // A policy has no such numbers, and would pass unseen.
    if (!(standing instanceof Standing)) throw new TypeError("consent is held against what Sequence.after gives");
    const exceeds = (attained, allowed) => allowed !== null && (attained === null || attained > allowed);
    if (exceeds(standing.ldp, this.ldp)) throw new AboveConsent("ldp", standing.ldp, this.ldp);
    // Without a context LDP stands in for LIP, unless it was judged by itself already.
    const lip = standing.lip === undefined && this.ldp === null ? standing.ldp : standing.lip;
    if (lip !== undefined && exceeds(lip, this.lip)) throw new AboveConsent("lip", lip, this.lip);
    for (const { name, ldp } of this.secrets) {
      const attained = standing.aboutSecret(name);
      if (exceeds(attained, ldp)) throw new AboveConsent("secret", attained, ldp, name);
    }
  }
}

/** Why the ledger releases nothing: `budget`, `not_composable` or `not_composable_checked`. */
export class Exhausted extends Error {
  constructor(outcome, message) {
    super(message);
    this.name = "Exhausted";
    this.outcome = outcome;
  }
}

/** Budgets of attained LDP per datum, in units of 10^-10 nats. A cost of null has no finite level. */
export class Ledger {
  constructor(budget, data = new Map()) {
    Object.assign(this, { budget, data });
  }

  releases(datum) {
    return this.data.get(datum) ?? [];
  }

  /** What was spent on a datum, or null if a release had no finite level. */
  spent(datum) {
    return totalCost(this.releases(datum).map(({ cost }) => cost));
  }

  /** `fresh`, or `repeat` for a policy that has answered; throws `Exhausted` or `AboveConsent`. */
  request(datum, policy, past = new Sequence(), consent = new Consent()) {
    if (this.releases(datum).some((release) => release.policy === policy.id)) return "repeat";
    return this.spend(datum, policy, past, consent);
  }

  /**
   * Pays for an independent new answer. `past` is what was released about the datum, as far as the device still has it; where it is
   * not what this ledger has noted, only the noted costs are relied on.
   */
  spend(datum, policy, past = new Sequence(), consent = new Consent()) {
    const [noted, spent, cost] = [this.releases(datum), this.spent(datum), policy.cost];
    const addsUp = spent !== null && cost !== null;
    if (addsUp && spent + cost > this.budget) {
      const of = `the budget is ${natsText(this.budget)} nats, ${natsText(spent)} are spent`;
      throw new Exhausted("budget", `${of} and this release costs ${natsText(cost)}: answer less often or raise the budget`);
    }
    const standing = (past.matches(noted) ? past : forgottenSequence(noted)).after(policy);
    if (!addsUp && noted.length > 0 && standing.claims !== true) {
      const before = "this datum was already released";
      if (standing.claims === false) {
        throw new Exhausted("not_composable_checked", `${before} under a policy whose promise does not add up, and all releases together break a claim`);
      }
      const once = "such a policy is used once per datum, unless the earlier policies are at hand and the claims of all hold together";
      throw new Exhausted("not_composable", `${before} and one of the policies has no finite LDP level: ${once}`);
    }
    consent.check(standing);
    this.data.set(datum, [...noted, { policy: policy.id, cost }]);
    return "fresh";
  }

  /** What the LDP spent means for belief under a prior (weights in units of 2^-32), or null. */
  lipConsequence(datum, weights) {
    const spent = this.spent(datum);
    if (spent === null) return null;
    const raisedBy = expUp(spent);
    if (raisedBy === null) return spent;
    const lightest = weights.reduce(min);
    return min(lnUp(lightest * ONE + (WEIGHT_ONE - lightest) * raisedBy, WEIGHT_ONE * ONE), spent);
  }
}

/** The releases a ledger has noted, of which nothing else is left. */
function forgottenSequence(noted) {
  const sequence = new Sequence();
  noted.forEach((release) => sequence.forgotten(release));
  return sequence;
}
