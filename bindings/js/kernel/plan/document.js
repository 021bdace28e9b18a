/** The document of a plan: types and fields of the whole are read first, then its parts are made. */

import { makeAlphabet, readAlphabetFields } from "../alphabet.js";
import { draftFields, pick, provenanceFields, tagged } from "../document.js";
import { refuse } from "../errors.js";
import { natsText, parseNats, U32 } from "../exact.js";
import { integer, integers, listOf, optional, record, textOf, texts } from "../json.js";
import { makePlanDraft } from "./draft.js";
import { makeRow, UNKNOWN_LAW } from "./law.js";

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
  record(value, what, [], ["weights", "parent", "rows"]);
  const weights = optional(value.weights, (list) => integers(list, `${what}.weights`));
  const parent = optional(value.parent, (name) => textOf(name, `${what}.parent`));
  const rows = optional(value.rows, (list) => listOf(list, `${what}.rows`, integers));
  return (numberOf) => {
    if (weights !== null && parent === null && rows === null) return { parent: null, rows: [makeRow(weights)] };
    if (weights !== null || parent === null || rows === null) refuse("json", `${what} has either weights, or parent and rows`);
    return { parent: numberOf(parent, "law", what), rows: rows.map(makeRow) };
  };
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
function levelOf(text, what) {
  if (!/^[0-9]{1,9}(\.[0-9]{1,10})?$/.test(text) || natsText(parseNats(text)) !== text) {
    refuse("nats", `${what}: ${JSON.stringify(text)} is not written as nats are printed, as in "1.5"`);
  }
  return parseNats(text);
}

/** For each notion the fields of its levels, and for each subject what it needs; no other field is given. */
const LEVELS = { ldp: ["nats"], lip: ["nats"], alip: ["lower", "upper"] };
const ABOUT = { person: [], question: ["name", "given"], secret: ["name"] };

function claimFields(value, what) {
  record(value, what, ["about", "notion"], ["name", "given", "nats", "lower", "upper"]);
  const [about, notion] = [textOf(value.about, `${what}.about`), textOf(value.notion, `${what}.notion`)];
  const given = {};
  for (const field of ["name", "given", "nats", "lower", "upper"]) given[field] = optional(value[field], (text) => textOf(text, `${what}.${field}`));
  const exactly = (fields, needed) => {
    if (fields.some((field) => (given[field] !== null) !== needed.includes(field))) refuse("json", `${what}: ${notion} about a ${about} has the fields ${needed.join(", ") || "of its level"} and no other`);
  };
  return (indexOf) => {
    const levels = pick(LEVELS, notion, `${what}.notion`);
    exactly(["nats", "lower", "upper"], levels);
    const nats = levels.map((field) => levelOf(given[field], `${what}.${field}`));
    if (notion === "alip" && nats[0] === nats[1]) refuse("json", `${what}: alip with two equal levels is written as lip`);
    exactly(["name", "given"], pick(ABOUT, about, `${what}.about`));
    if ((about === "person") !== (notion === "ldp")) refuse("json", `${what}: a claim about a person is ldp, any other is lip or alip`);
    if (about === "person") return { about, which: 0, given: "all", ldp: nats[0] };
    if (about === "question" && given.given !== "all" && given.given !== "own") refuse("json", `${what}.given must be all or own`);
    return { about, which: indexOf(about, given.name, what), given: given.given ?? "all", lower: nats[0], upper: nats.at(-1) };
  };
}

/**
 * Reads a document without checking any stated id, the plan's or that of one of its policies: `make` makes the draft, once those of the policies
 * were found to be theirs.
 */
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
  const documents = listOf(v.policies, "policies", draftFields);
  if (version !== "plan/1") refuse("version", `version ${JSON.stringify(version)} is not known here`);

  const [asQuestions, asSecrets] = [questions.map((one) => one()), secrets.map((one) => one())];
  const found = (list) => (name, reason, what) => {
    const at = list.findIndex((one) => one.name === name);
    return at < 0 ? refuse(reason, `${what}: nothing here is called ${JSON.stringify(name)}`) : at;
  };
  const parts = { questions: asQuestions, secrets: asSecrets, asked, periods };
  parts.law = law(found([...asQuestions, ...asSecrets]));
  parts.items = items.map((item) => item(found(asQuestions)));
  parts.claims = claims.map((claim) => claim((about, name, what) => found(about === "question" ? asQuestions : asSecrets)(name, "plan", what)));
  parts.provenance = provenance();
  const policies = documents.map((policy) => policy());
  return { id, policies, make: () => makePlanDraft({ ...parts, policies: policies.map(({ draft }) => draft) }) };
}
