/**
 * The kernel: exact arithmetic, policies and their verification, drawing, reports, sequences of releases, plans, consent and the ledger. Every
 * check is made in BigInt on the integers that are sampled; no float decides anything, and there are no clocks and no storage in it. The
 * formats are those of `vectors/v1`, with all of which it is tested. It is `crates/core` again.
 */

export { Alphabet, readAlphabet } from "./kernel/alphabet.js";
export { fromHex, toHex } from "./kernel/bytes.js";
export { Refusal } from "./kernel/certificate.js";
export { readOdds } from "./kernel/document.js";
export { ClientError, DecodeError } from "./kernel/errors.js";
export { epsilonAtMost, epsilonNats, natsText, parseEpsilon, parseNats } from "./kernel/exact.js";
export { parseJson } from "./kernel/json.js";
export { AboveConsent, Consent, Exhausted, Ledger } from "./kernel/ledger.js";
export { Plan, PlanRefusal, PolicyRefused, verifyPlan } from "./kernel/plan/plan.js";
export { Response } from "./kernel/plan/response.js";
export { Policy } from "./kernel/policy.js";
export { accept, draw, Foreign, Report, systemRandom } from "./kernel/report.js";
export { Sequence, Standing } from "./kernel/sequence.js";
