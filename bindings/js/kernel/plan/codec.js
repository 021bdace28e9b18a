/** Canonical bytes of a plan: one encoding, so that its hash is its identity. */

import { encoder, sameBytes } from "../bytes.js";
import { draftBytes, draftFromBytes, Reader, Writer } from "../codec.js";
import { refuse } from "../errors.js";
import { makePlanDraft, NATS_END } from "./draft.js";
import { makeRow, UNKNOWN_LAW } from "./law.js";

const MAGIC = encoder.encode("undertone/plan");
const ABOUT = ["person", "question", "secret"];
const GIVEN = ["all", "own"];

// ---------------------------------------------------------------- writing

function writeLaw(out, law) {
  out.u8({ unknown: 0, tree: 1, points: 2 }[law.kind]);
  for (const { parent, rows } of law.nodes ?? []) {
    out.u8(parent === null ? 0 : 1);
    if (parent === null) out.prior(rows[0]);
    else {
      out.u32(parent);
      out.list(rows, out.prior);
    }
  }
  if (law.kind !== "points") return;
  out.list(law.points, ({ weight, values }) => {
    out.u64s([weight]);
    for (const value of values) out.u32(value);
  });
}

/** The canonical bytes of a plan's draft. */
export function planBytes(draft) {
  const out = new Writer();
  out.bytes(MAGIC);
  out.u8(1);
  out.list(draft.questions, ({ name, wording, answers }) => {
    out.text(name);
    out.text(wording);
    out.alphabet(answers);
  });
  out.list(draft.secrets, ({ name, values }) => {
    out.text(name);
    out.alphabet(values);
  });
  writeLaw(out, draft.law);
  out.list(draft.items, ({ questions, policy, fresh, weight }) => {
    out.list(questions, out.u32);
    out.u32(policy);
    out.u8(fresh === null ? 0 : 1);
    if (fresh !== null) out.u32(fresh);
    out.u32(weight);
  });
  out.u32(draft.asked);
  out.u32(draft.periods);
  out.list(draft.claims, ({ about, which, given, ldp, lower, upper }) => {
    out.u8(ABOUT.indexOf(about));
    out.u32(which);
    out.u8(GIVEN.indexOf(given));
    out.u8(about === "person" ? 0 : 1);
    out.u64s(about === "person" ? [ldp] : [lower, upper]);
  });
  out.provenance(draft.provenance);
  out.list(draft.policies, (policy) => {
    const bytes = draftBytes(policy);
    out.u32(bytes.length);
    out.bytes(bytes);
  });
  return out.finish();
}

// ---------------------------------------------------------------- reading

const flag = (reader, what) => {
  const value = reader.u8();
  return value > 1 ? refuse("tag", `${what}: unknown kind`) : value === 1;
};

const row = (reader) => makeRow(reader.u64s(reader.count(8)));

function readNode(reader) {
  if (!flag(reader, "law.nodes")) return { parent: null, rows: [row(reader)] };
  const parent = reader.u32();
  return { parent, rows: reader.list(4, () => row(reader)) };
}

function readLaw(reader, variables) {
  switch (reader.u8()) {
    case 0:
      return UNKNOWN_LAW;
    case 1:
      return { kind: "tree", nodes: Array.from({ length: variables }, () => readNode(reader)) };
    case 2: {
      const point = () => {
        const weight = reader.u64();
        return { weight, values: Array.from({ length: variables }, () => reader.u32()) };
      };
      return { kind: "points", points: reader.list(8 + 4 * variables, point) };
    }
    default:
      return refuse("tag", "law: unknown kind");
  }
}

function readItem(reader) {
  const questions = reader.list(4, reader.u32);
  const policy = reader.u32();
  const fresh = flag(reader, "items.fresh") ? reader.u32() : null;
  return { questions, policy, fresh, weight: reader.u32() };
}

function readClaim(reader) {
  const [about, which, given, notion] = [ABOUT[reader.u8()], reader.u32(), GIVEN[reader.u8()], reader.u8()];
  const person = about === "person";
  // What a claim does not have is written as 0.
  const fits = about !== undefined && given !== undefined && notion === (person ? 0 : 1) && (about === "question" || given === "all") && (!person || which === 0);
  if (!fits) refuse("tag", "claim: unknown kind");
  const nats = () => {
    const units = reader.u64();
    return units < NATS_END ? units : refuse("nats", "a level is not below 1000000000 nats");
  };
  const first = nats();
  return person ? { about, which, given, ldp: first } : { about, which, given, lower: first, upper: nats() };
}

/** A plan's draft from its canonical bytes; any others are refused. */
export function planFromBytes(bytes) {
  const reader = new Reader(bytes);
  if (!sameBytes(reader.take(MAGIC.length), MAGIC)) refuse("not_a_plan", "these bytes are not an undertone plan");
  const version = reader.u8();
  if (version !== 1) refuse("version", `version ${version} is not known here`);
  const questions = reader.list(9, () => ({ name: reader.text(), wording: reader.text(), answers: reader.alphabet() }));
  const secrets = reader.list(5, () => ({ name: reader.text(), values: reader.alphabet() }));
  const law = readLaw(reader, questions.length + secrets.length);
  const items = reader.list(13, () => readItem(reader));
  const asked = reader.u32();
  const periods = reader.u32();
  const claims = reader.list(15, () => readClaim(reader));
  const provenance = reader.provenance();
  const policies = reader.list(4, () => draftFromBytes(reader.take(reader.u32())));
  if (reader.rest.length > 0) refuse("trailing", `${reader.rest.length} bytes follow the end`);
  const draft = makePlanDraft({ questions, secrets, law, items, asked, periods, claims, provenance, policies });
  if (!sameBytes(planBytes(draft), bytes)) refuse("not_canonical", "the bytes are not in canonical form");
  return draft;
}
