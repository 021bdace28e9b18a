/** The document of a plan: types and fields of the whole are read first, then its parts are made. */

import { makeAlphabet, readAlphabetFields } from "../alphabet.js";
import { draftFromFields, pick, provenanceFields, tagged } from "../document.js";
import { refuse } from "../errors.js";
import { natsText, parseNats, U32 } from "../exact.js";
import { integer, integers, isObject, listOf, optional, record, textOf, texts } from "../json.js";
import { makePlanDraft } from "./draft.js";
import { UNKNOWN_LAW } from "./law.js";

const small = (value, what) => Number(integer(value, what, U32));
const or = (value, fallback, read) => (value === undefined ? fallback : read(value));

function questionFields(value, what) {
  record(value, what, ["name", "answers"], ["wording"]);
  const name = textOf(value.name, `${what}.name`);
  const wording = or(value.wording, "", (text) => textOf(text, `${what}.wording`));
  const answers = readAlphabetFields(value.answers, `${what}.answers`);
  return () => ({ name, wording, answers: makeAlphabet(answers) });
}

function secretFields(value, what) {
  record(value, what, ["name", "values"]);
  const name = textOf(value.name, `${what}.name`);
  const values = readAlphabetFields(value.values, `${what}.values`);
  return () => ({ name, values: makeAlphabet(values) });
}

function itemFields(value, what) {
  record(value, what, ["questions", "policy"], ["fresh", "weight"]);
  const names = texts(value.questions, `${what}.questions`);
  const policy = small(value.policy, `${what}.policy`);
  const fresh = optional(value.fresh, (index) => small(index, `${what}.fresh`));
  const weight = or(value.weight, 0, (n) => small(n, `${what}.weight`));
  return (numberOf) => ({ questions: names.map((name) => numberOf(name, "plan", what)), policy, fresh, weight });
}

function nodeFields(value, what) {
  if (isObject(value) && "weights" in value) {
    record(value, what, ["weights"]);
    const weights = integers(value.weights, `${what}.weights`);
    return () => ({ parent: null, rows: [weights] });
  }
  record(value, what, ["parent", "rows"]);
  const parent = textOf(value.parent, `${what}.parent`);
  const rows = listOf(value.rows, `${what}.rows`, integers);
  return (numberOf) => ({ parent: numberOf(parent, "law", what), rows });
}

function pointFields(value, what) {
  record(value, what, ["weight", "values"]);
  const weight = integer(value.weight, `${what}.weight`);
  return { weight, values: listOf(value.values, `${what}.values`, small) };
}

/** For each kind of law, its fields by type only, and then the function that makes it. */
const lawFields = {
  unknown: (v) => {
    record(v, "law", ["kind"]);
    return () => UNKNOWN_LAW;
  },
  tree: (v) => {
    record(v, "law", ["kind", "nodes"]);
    const nodes = listOf(v.nodes, "law.nodes", nodeFields);
    return (numberOf) => ({ kind: "tree", nodes: nodes.map((node) => node(numberOf)) });
  },
  points: (v) => {
    record(v, "law", ["kind", "points"]);
    const points = listOf(v.points, "law.points", pointFields);
    return () => ({ kind: "points", points });
  },
};

/** A level exactly as it is printed. */
function natsField(value, what) {
  const text = textOf(value, what);
  return () => {
    if (!/^[0-9]{1,9}(\.[0-9]{1,10})?$/.test(text) || natsText(parseNats(text)) !== text) {
      refuse("nats", `${what}: ${JSON.stringify(text)} is not written as nats are printed, as in "1.5"`);
    }
    return parseNats(text);
  };
}

const LEVELS = { ldp: ["nats"], lip: ["nats"], alip: ["lower", "upper"] };
const ABOUT = { person: [], question: ["name", "given"], secret: ["name"] };

function claimFields(value, what) {
  const about = tagged(value, "about", what);
  const notion = tagged(value, "notion", what);
  const subject = pick(ABOUT, about, `${what}.about`);
  const levels = pick(LEVELS, notion, `${what}.notion`);
  record(value, what, ["about", "notion", ...subject, ...levels]);
  if ((about === "person") !== (notion === "ldp")) refuse("json", `${what}: a claim about a person is ldp, any other is lip or alip`);
  const name = about === "person" ? null : textOf(value.name, `${what}.name`);
  const given = about === "question" ? textOf(value.given, `${what}.given`) : "all";
  if (given !== "all" && given !== "own") refuse("json", `${what}.given must be all or own`);
  const read = levels.map((field) => natsField(value[field], `${what}.${field}`));
  return (indexOf) => {
    const nats = read.map((one) => one());
    const which = name === null ? 0 : indexOf(about, name, what);
    return about === "person" ? { about, which, given, ldp: nats[0] } : { about, which, given, lower: nats[0], upper: nats.at(-1) };
  };
}

/** Reads a document without checking any stated id: the plan's, or that of one of its policies. */
export function planFromFields(document) {
  const required = ["undertone", "claims", "questions", "law", "items", "policies"];
  const v = record(document, "the plan", required, ["id", "secrets", "asked", "periods", "provenance"]);
  const version = textOf(v.undertone, "undertone");
  const id = optional(v.id, (value) => textOf(value, "id"));
  const claims = listOf(v.claims, "claims", claimFields);
  const questions = listOf(v.questions, "questions", questionFields);
  const secrets = or(v.secrets, [], (value) => listOf(value, "secrets", secretFields));
  const law = pick(lawFields, tagged(v.law, "kind", "law"), "law.kind")(v.law);
  const items = listOf(v.items, "items", itemFields);
  const asked = or(v.asked, 0, (value) => small(value, "asked"));
  const periods = or(v.periods, 1, (value) => small(value, "periods"));
  const provenance = provenanceFields(v.provenance);
  const documents = listOf(v.policies, "policies", (value) => value);
  if (version !== "plan/1") refuse("version", `version ${JSON.stringify(version)} is not known here`);

  const names = [...questions, ...secrets].map((one) => one());
  const asQuestions = names.slice(0, questions.length);
  const asSecrets = names.slice(questions.length);
  const found = (list, name, reason, what) => {
    const at = list.findIndex((one) => one.name === name);
    return at < 0 ? refuse(reason, `${what}: nothing here is called ${JSON.stringify(name)}`) : at;
  };
  const policies = documents.map(draftFromFields);
  const draft = makePlanDraft({
    questions: asQuestions,
    secrets: asSecrets,
    law: law((name, reason, what) => found(names, name, reason, what)),
    items: items.map((item) => item((name, reason, what) => found(asQuestions, name, reason, what))),
    asked,
    periods,
    claims: claims.map((claim) => claim((about, name, what) => found(about === "question" ? asQuestions : asSecrets, name, "plan", what))),
    provenance: provenance(),
    policies: policies.map((policy) => policy.draft),
  });
  return { draft, id, policyIds: policies.map((policy) => policy.id) };
}
