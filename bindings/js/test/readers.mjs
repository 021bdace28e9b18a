// Whatever comes in, Rust and JavaScript make the same of it: accepted under the same id, or refused at the same stage for the same reason.
//
//     FUZZ=1000000 SEED=7 node --test bindings/js/test/readers.mjs     # more, and others

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { DecodeError, fromHex, PlanRefusal, Policy, PolicyRefused, Refusal, Report, Response, toHex, verifyPlan } from "../undertone.js";
import { randomBlocks } from "./lib/blocks.mjs";
import { example } from "./lib/examples.mjs";
import { Mutator } from "./lib/mutate.mjs";
import { randomPlan } from "./lib/plans.mjs";
import { mulberry } from "./lib/random.mjs";

const COUNT = Number(process.env.FUZZ ?? 20_000);
const SEED = Number(process.env.SEED ?? 14);
const root = new URL("../../../vectors/v1/", import.meta.url);
const seeds = (directory) =>
  readdirSync(new URL(`${directory}/`, root))
    .sort()
    .map((name) => readFileSync(new URL(`${directory}/${name}`, root), "utf8"))
    // Small ones are read often.
    .filter((text) => text.length < 6000)
    .map((text) => JSON.parse(text));
const policies = seeds("policy");
const reports = seeds("report");
const documents = policies.filter(({ document }) => document !== undefined && !Array.isArray(document)).map(({ document }) => JSON.stringify({ ...document, id: undefined }));
const withId = policies.filter(({ id }) => id !== undefined).map(({ document }) => JSON.stringify(document));
const policyBytes = policies.filter(({ bytes }) => bytes !== undefined).map(({ bytes }) => fromHex(bytes));
const reportTexts = reports.filter(({ report }) => report !== undefined && !Array.isArray(report)).map(({ report }) => JSON.stringify(report));
const reportBytes = reports.filter(({ bytes }) => bytes !== undefined && bytes !== "").map(({ bytes }) => fromHex(bytes));

/** Small random plans as documents, and as bytes those that hold. */
const planTexts = [];
const planBytes = [];
const responses = [];
const planRandom = mulberry(SEED + 1);
while (planBytes.length < 60) {
  const document = randomPlan(planRandom, { most: 3, blocks: true });
  planTexts.push(JSON.stringify(document));
  const plan = await verifyPlan(document).catch(() => null);
  if (plan === null) continue;
  planBytes.push(plan.bytes);
  const answers = Object.fromEntries(plan.draft.questions.map(({ name }) => [name, 0]));
  responses.push(plan.respond(answers, { items: plan.choose() }).response);
}

/** All that a plan attains, in the order of crates/core/examples/verdicts.rs. */
function attainedLine({ attained: { costs, person, questions, secrets }, draft }) {
  const belief = (found) => (found === null ? "none" : `${found.upper}/${found.lower}/${found.exact}`);
  // By name: an object lists a question called 11 before one called q0.
  const both = draft.questions.map(({ name }) => questions[name]).flatMap(({ all, own }) => [belief(all), belief(own)]);
  return [...costs, `${person.ldp}/${person.exact}`, ...both, ...draft.secrets.map(({ name }) => belief(secrets[name]))].join(" ");
}

/** What JavaScript makes of an item, in the words of crates/core/examples/verdicts.rs. */
async function verdict(reader, item) {
  try {
    if (reader === "p") return `ok ${(await Policy.fromJson(item.toString("utf8"))).id}`;
    if (reader === "b") return `ok ${(await Policy.fromBytes(item)).id}`;
    if (reader === "l" || reader === "m") {
      const plan = await verifyPlan(reader === "l" ? item.toString("utf8") : Uint8Array.from(item));
      return `ok ${plan.id} ${attainedLine(plan)}`;
    }
    if (reader === "n" || reader === "o") return `ok ${toHex((reader === "n" ? Response.fromJson(item.toString("utf8")) : Response.fromBytes(item)).toBytes())}`;
    return `ok ${toHex((reader === "r" ? Report.fromJson(item.toString("utf8")) : Report.fromBytes(item)).toBytes())}`;
  } catch (error) {
    if (error instanceof PolicyRefused) return `policy ${error.policy}`;
    if (error instanceof PlanRefusal || error instanceof Refusal) return `verify ${error.claim} ${error.side} ${error.attained} ${error.allowed}`;
    if (error instanceof DecodeError) return `decode ${error.reason}`;
    throw error;
  }
}

/** What Rust makes of many items. */
function rustVerdicts(program, items) {
  const input = Buffer.concat(
    items.flatMap(([reader, item]) => {
      const head = Buffer.alloc(5);
      head.write(reader);
      head.writeUInt32BE(item.length, 1);
      return [head, item];
    }),
  );
  const { status, signal, stdout, stderr } = spawnSync(program, { input, encoding: "utf8", maxBuffer: 1 << 30 });
  assert.equal(status, 0, `${signal} ${stderr}`);
  return stdout.trimEnd().split("\n");
}

function makeItem(mutator) {
  const kind = mutator.random();
  if (kind < 0.1) return ["l", Buffer.from(mutator.text(mutator.pick(planTexts)))];
  if (kind < 0.16) return ["m", mutator.bytes(mutator.pick(planBytes))];
  if (kind < 0.18) return ["n", Buffer.from(mutator.text(JSON.stringify(mutator.pick(responses))))];
  if (kind < 0.2) return ["o", mutator.bytes(mutator.pick(responses).toBytes())];
  if (kind < 0.6) return ["p", Buffer.from(mutator.text(mutator.pick(mutator.chance(0.9) ? documents : withId)))];
  if (kind < 0.75) return ["b", mutator.bytes(mutator.pick(policyBytes))];
  if (kind < 0.9) return ["r", Buffer.from(mutator.text(mutator.pick(reportTexts)))];
  return ["s", mutator.bytes(mutator.pick(reportBytes))];
}

const program = example("undertone-core", "verdicts");

const BLOCKS = Math.max(500, COUNT / 20);

test(`both kernels find the same levels of ${BLOCKS} random families of blocks`, { skip: program === null && "no cargo", timeout: 3_600_000 }, async () => {
  const random = mulberry(SEED + 2);
  const items = Array.from({ length: BLOCKS }, () => ["p", Buffer.from(JSON.stringify(randomBlocks(random)))]);
  const expected = rustVerdicts(program, items);
  const stages = new Map();
  for (const [at, [reader, item]] of items.entries()) {
    const found = await verdict(reader, item);
    assert.equal(found, expected[at], item.toString("utf8"));
    const side = found.split(" ").slice(0, 3).join(" ");
    stages.set(side, (stages.get(side) ?? 0) + 1);
  }
  for (const side of ["ldp", "upper", "lower", "di"]) assert.ok(stages.get(`verify 0 ${side}`) > BLOCKS / 50, JSON.stringify([...stages]));
});

test(`both readers agree on ${COUNT} documents`, { skip: program === null && "no cargo", timeout: 3_600_000 }, async () => {
  const mutator = new Mutator(mulberry(SEED));
  const stages = new Map();
  const disagreements = [];
  for (let left = COUNT; left > 0; left -= 5000) {
    const items = Array.from({ length: Math.min(left, 5000) }, () => makeItem(mutator));
    const expected = rustVerdicts(program, items);
    assert.equal(expected.length, items.length);
    for (const [at, [reader, item]] of items.entries()) {
      const found = await verdict(reader, item);
      const stage = `${reader} ${found.split(" ").slice(0, found.startsWith("decode") ? 2 : 1).join(" ")}`;
      stages.set(stage, (stages.get(stage) ?? 0) + 1);
      if (found !== expected[at]) disagreements.push({ rust: expected[at], javascript: found, item: "prln".includes(reader) ? item.toString("utf8") : `${reader} ${item.toString("hex")}` });
    }
  }
  assert.deepEqual(disagreements.slice(0, 5), [], `${disagreements.length} disagreements`);
  // The mutator reaches what it is for.
  const reached = ["p ok", "p verify", "b ok", "b verify", "r ok", "s ok", "s decode truncated", "s decode trailing", "s decode tag", "s decode version", "r decode version", "b decode truncated", "b decode tag", "b decode not_canonical", "b decode not_text", "b decode decimal"];
  const reasons = ["json", "version", "nats", "alphabet", "prior", "context", "channel", "epsilon", "delta", "decimal", "draft", "id"];
  const ofPlans = ["l ok", "l policy", "l decode json", "l decode law", "l decode plan", "l decode nats", "l decode channel", "m ok", "m decode truncated", "m decode tag", "m decode law", "m decode plan", "n ok", "n decode json", "o ok", "o decode truncated"];
  for (const stage of [...reached, ...ofPlans, ...reasons.map((reason) => `p decode ${reason}`)]) assert.ok(stages.has(stage), `${stage} is not reached: ${JSON.stringify([...stages])}`);
});
