/** A plan before it is verified: its parts, and that they fit together. */

import { utf8Length } from "../bytes.js";
import { refuse } from "../errors.js";
import { checkProvenance, outputsOf } from "../document.js";
import { releasesBits } from "../incidence.js";
import { sameValue } from "../json.js";
import { checkLaw } from "./law.js";

const MAX_CLAIMS = 64;
const MAX_QUESTIONS = 256;
const MAX_SECRETS = 16;
const MAX_ITEMS = 4096;
const MAX_PERIODS = 100_000;
const MAX_COMBINED = 8;
const MAX_STATES = 1 << 24;
/** Levels are below this, in units of 10^-10 nats, so that they can be written. */
export const NATS_END = 10n ** 19n;

function counted(list, least, most, what) {
  if (list.length < least || list.length > most) refuse("plan", `${what}: ${least} to ${most} are needed, not ${list.length}`);
}

function checkText(text, least, most, what) {
  const size = utf8Length(text);
  if (size < least || size > most) refuse("plan", `${what} has ${size} bytes where ${least} to ${most} are needed`);
}

/** The alphabet of what an item randomises: its question's, or as many bare indices as there are combinations. */
function checkInputs({ questions: asked }, at, questions, { inputs }) {
  if (asked.length === 1) {
    if (!sameValue(questions[asked[0]].answers, inputs)) refuse("plan", `item ${at}: the policy's input alphabet is not that of question ${questions[asked[0]].name}`);
    return;
  }
  const states = asked.reduce((product, q) => product * questions[q].answers.size, 1);
  if (states > MAX_STATES) refuse("plan", `item ${at} has ${states} combinations where ${MAX_STATES} are the most`);
  if (inputs.kind !== "indices" || inputs.size !== states) refuse("plan", `item ${at}: the policy's input alphabet must be {"indices": ${states}}`);
}

function checkItem(item, at, { questions, policies }) {
  const { questions: asked, policy, fresh } = item;
  if (asked.length === 0 || asked.length > MAX_COMBINED) refuse("plan", `item ${at} has ${asked.length} questions where 1 to ${MAX_COMBINED} are needed`);
  for (const q of asked) if (q >= questions.length) refuse("plan", `item ${at}: there is no question ${q}`);
  if (asked.some((q, i) => i > 0 && asked[i - 1] >= q)) refuse("plan", `item ${at}: name each question once, in the order of the plan`);
  for (const index of [policy, fresh]) if (index !== null && index >= policies.length) refuse("plan", `item ${at}: there is no policy ${index}`);
  const draft = policies[policy];
  checkInputs(item, at, questions, draft);
  if (fresh === null) return;
  if (releasesBits(draft.channel)) refuse("plan", `item ${at}: bits cannot be randomised afresh`);
  if (!sameValue(outputsOf(draft), policies[fresh].inputs)) refuse("plan", `item ${at}: the input alphabet of policy ${fresh} is not the output alphabet of policy ${policy}`);
}

/** Whether everybody answers an item is its weight of 0. */
export const isDrawn = ({ weight }) => weight > 0;

function checkClaim(claim, at, { questions, secrets, law }) {
  if (claim.about === "person") return;
  if (law.kind === "unknown") refuse("plan", `claim ${at} is about belief but the law is unknown`);
  const of = claim.about === "question" ? questions : secrets;
  if (claim.which >= of.length) refuse("plan", `claim ${at}: there is no ${claim.about} ${claim.which}`);
}

/** Checks that the parts fit together. A variable is a question or a secret; `sizes` are theirs. */
export function makePlanDraft(parts) {
  const { questions, secrets, law, items, asked, periods, claims, provenance, policies } = parts;
  counted(claims, 1, MAX_CLAIMS, "claims");
  counted(questions, 1, MAX_QUESTIONS, "questions");
  counted(secrets, 0, MAX_SECRETS, "secrets");
  counted(items, 1, MAX_ITEMS, "items");
  if (periods < 1 || periods > MAX_PERIODS) refuse("plan", `periods must be 1 to ${MAX_PERIODS}`);
  questions.forEach(({ name, wording }, at) => {
    checkText(name, 1, 200, `the name of question ${at}`);
    checkText(wording, 0, 2000, `the wording of question ${at}`);
  });
  secrets.forEach(({ name }, at) => checkText(name, 1, 200, `the name of secret ${at}`));
  const variables = [...questions, ...secrets];
  if (new Set(variables.map(({ name }) => name)).size < variables.length) refuse("plan", "a name occurs twice among questions and secrets");
  const sizes = variables.map(({ answers, values }) => (answers ?? values).size);
  checkLaw(law, sizes, secrets.length > 0);
  items.forEach((item, at) => checkItem(item, at, parts));
  const missing = questions.findIndex((_, q) => !items.some((item) => item.questions.includes(q)));
  if (missing >= 0) refuse("plan", `question ${questions[missing].name} is in no item`);
  const idle = policies.findIndex((_, i) => !items.some(({ policy, fresh }) => policy === i || fresh === i));
  if (idle >= 0) refuse("plan", `policy ${idle} is used by no item`);
  const drawn = items.filter(isDrawn).length;
  if (drawn === 0 && asked !== 0) refuse("plan", "asked must be 0 where no item has a weight");
  if (drawn > 0 && (asked < 1 || asked >= drawn)) refuse("plan", `asked must be at least 1 and below ${drawn}, the number of items with a weight`);
  claims.forEach((claim, at) => checkClaim(claim, at, parts));
  checkProvenance(provenance, "plan");
  return Object.freeze({ ...parts, variables, sizes });
}
