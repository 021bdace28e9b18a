// What a plan of several rounds costs one person, and which levels fit what people's devices allow.
//
// Levels are whole numbers of 0.0001 nats here, so that sums are exact.

/**
 * What a device allows unless its owner says otherwise, for all answers to one question together: beliefs change by a factor of
 * at most 3 (LIP ln 3), odds by at most 9 (LDP 2 ln 3). Rounded down.
 */
export const DEVICE = { lip: 10986, ldp: 21972 };

/** 0.0001 nats as decimal text. */
export const written = (units) => {
  const digits = String(units).padStart(5, "0");
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, "");
};

/** Decimal text as whole 0.0001 nats, rounded up; NaN if it is not a level. */
export const read = (text) => (/^[0-9]*\.?[0-9]+$/.test(text) ? Math.ceil(Number(text) * 1e4 - 1e-6) : Number.NaN);

/**
 * The most that answering every round can cost one person.
 *
 * A round that knows nothing is LDP at the level. One that knows a prior is LIP at the level, and so LDP at no more than twice it
 * or the cap. LDP adds up. Beliefs change by no more than the LDP of all rounds but one and the LIP of that one: a factor of e^d
 * between likelihoods, whatever it is multiplied with, moves a belief by no more than e^d further.
 */
export function cost({ level, cap = null, rounds, prior }) {
  const aware = Math.min(2 * level, cap ?? 2 * level);
  const each = Array.from({ length: rounds }, (_, round) => (round === 0 && !prior ? { ldp: level, lip: level } : { ldp: aware, lip: Math.min(level, aware) }));
  const ldp = each.reduce((sum, one) => sum + one.ldp, 0);
  const spared = Math.max(...each.map((one) => one.ldp - one.lip));
  // Without any prior there is no belief to hold it against, and LDP says it all.
  return { ldp, lip: rounds > 1 || prior ? ldp - spared : null };
}

/** Whether a device with the usual limits answers every round. */
export function fits(plan) {
  const { ldp, lip } = cost(plan);
  return ldp <= DEVICE.ldp && (lip === null || lip <= DEVICE.lip);
}

/** The largest whole number from 0 to `most` that holds, where everything below one that holds does too. */
function largest(most, holds) {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * The plan itself if it fits. Else the highest level at which all rounds fit with their LDP capped at the level, and then the highest
 * cap, which is null where twice the level fits.
 */
export function fitted(plan) {
  if (fits(plan)) return { ...plan, cap: null, lowered: false };
  const level = largest(plan.level, (one) => fits({ ...plan, level: one, cap: one }));
  const cap = largest(2 * level, (one) => fits({ ...plan, level, cap: one }));
  return { ...plan, level, cap: cap === 2 * level ? null : cap, lowered: true };
}
