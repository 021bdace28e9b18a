// What one device releases in all: about one question, to one collector, under any number of survey ids.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, Consent, decodeDevice, encodeDevice, FileDevice, MemoryDevice, natsText, Policy, questionDatum, toHex } from "../undertone.js";
import { startCurator } from "./lib/curator.mjs";

const vectors = new URL("../../../vectors/v1/policy/", import.meta.url);
const golden = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, vectors), "utf8")).document;
/** A golden policy under another identity. */
const marked = (name, n) => ({ ...golden(name), id: undefined, provenance: { n } });
const retry = { attempts: 2, first: 1, longest: 2 };

/** A curator to which surveys are added by id, question and policy document. */
async function startAsking(t) {
  const [surveys, policies] = [{}, {}];
  const curator = await startCurator(surveys, policies);
  t.after(() => curator.stop());
  const ask = async (id, question, document) => {
    const policy = await Policy.fromJson(document);
    policies[policy.id] = JSON.stringify(document);
    const groups = [{ group: "everyone", policy: policy.id, people: 1000 }];
    surveys[id] = { id, title: id, question, answers: policy.inputs, round: { number: 1, state: "open", groups } };
    return policy;
  };
  const client = (options = {}) => new Client(curator.base, { retry, ...options });
  return { curator, ask, client, surveys };
}

test("a datum is the wording of its question", () => {
  const { wordings } = JSON.parse(readFileSync(new URL("data/wordings.json", import.meta.url), "utf8"));
  assert.ok(wordings.length > 20);
  for (const [wording, key] of wordings) assert.equal(questionDatum(wording), key, wording);
});

test("fifteen surveys with one question share one budget", async (t) => {
  const { ask, client } = await startAsking(t);
  const one = client();
  const wordings = ["Do you smoke?", "do you SMOKE", "Do you  smoke ?!"];
  let released = 0;
  for (let at = 0; at < 15; at += 1) {
    await ask(`survey-${at}`, wordings[at % 3], marked("minimal", at));
    const asked = await one.survey(`survey-${at}`);
    await one.answer(asked, 0).then(
      () => (released += 1),
      (error) => assert.equal(error.level, "question", String(error)),
    );
  }
  assert.equal(released, 2);
  assert.equal(natsText((await one.spent("question:doyousmoke")).spent), "2.1972245774");
});

test("without a wording the title counts, and without that the survey's id", async (t) => {
  const { ask, client, surveys } = await startAsking(t);
  await ask("here", "?", golden("minimal"));
  assert.equal((await client().survey("here")).datum, "question:here");
  Object.assign(surveys.here, { question: undefined, title: "…" });
  assert.equal((await client().survey("here")).datum, "survey:here");
  assert.equal((await client().survey("here", { datum: "age" })).datum, "age");
});

test("a dummy answer is no new budget", async (t) => {
  const { ask, client } = await startAsking(t);
  await ask("two", "Do you smoke?", golden("minimal_names"));
  await ask("three", "Do you smoke?", golden("rare_dummy"));
  const one = client({ device: new MemoryDevice({ budgets: { question: "1.5" } }) });
  await one.answer(await one.survey("two"), 0);
  await assert.rejects(one.answer(await one.survey("three"), 0), { name: "OverBudget", level: "question" });
});

test("a collector has a budget over all its questions", async (t) => {
  const [{ curator, ask, client }, elsewhere] = [await startAsking(t), await startAsking(t)];
  const device = new MemoryDevice();
  const one = client({ device });
  let answered = 0;
  for (let at = 0; at < 12; at += 1) {
    await ask(`survey-${at}`, `Question number ${at}?`, marked("minimal", at));
    const asked = await one.survey(`survey-${at}`);
    await one.answer(asked, 0).then(
      () => (answered += 1),
      (error) => {
        assert.equal(error.level, "collector", String(error));
        assert.match(error.message, /8\.7888983096 are spent/);
      },
    );
  }
  assert.equal(answered, 8);
  const asked = await one.survey("survey-8");
  await assert.rejects(one.check(asked), { level: "collector" });
  const { question, collector } = await one.budgets(asked);
  assert.deepEqual([question.spent, natsText(question.budget)], [0n, "2.1972245774"]);
  assert.deepEqual([natsText(collector.spent), natsText(collector.budget)], ["8.7888983096", "8.7888983096"]);
  // A report another collector has already is news to this one, and is charged there.
  await elsewhere.ask("elsewhere", "Question number 0?", marked("minimal", 0));
  const two = elsewhere.client({ device });
  const there = await two.survey("elsewhere");
  assert.equal((await two.answer(there, 1)).repeated, true);
  assert.equal(natsText((await two.budgets(there)).collector.spent), "1.0986122887");
  await two.setBudgets({ collector: "1" });
  await elsewhere.ask("elsewhere", "Question number 1?", marked("minimal", 1));
  await assert.rejects(two.survey("elsewhere").then((survey) => two.answer(survey, 0)), { level: "collector" });
  // The person may raise it.
  await one.setBudgets({ collector: "9.9" });
  assert.equal((await one.answer(asked, 0)).delivery, "accepted");
  assert.equal(curator.stored.size, 9);
});

test("a release without a finite level does not lift the collector's budget", async (t) => {
  const { ask, client } = await startAsking(t);
  const one = client({ device: new MemoryDevice({ budgets: { collector: "2" } }), consent: new Consent({ ldp: null, lip: null }) });
  await ask("all", "What do you buy?", golden("watchdog_three"));
  await ask("first", "Do you smoke?", marked("minimal", 1));
  await ask("second", "Do you drink?", marked("minimal", 2));
  await one.answer(await one.survey("all"), 0);
  await one.answer(await one.survey("first"), 0);
  await assert.rejects(one.survey("second").then((survey) => one.answer(survey, 0)), { level: "collector" });
});

test("consent covers the sequence, whatever the order of answers", async (t) => {
  const consent = new Consent({ lip: null, ldp: null, secrets: [{ name: "first", ldp: "0" }] });
  const directory = mkdtempSync(join(tmpdir(), "undertone-"));
  const cases = [
    ["second_bit", "parity_reordered", false],
    ["second_bit", "second_bit_reordered", true],
    ["second_bit_noisy", "parity_noisy", false],
  ];
  for (const [first, then, allowed] of cases) {
    const { curator, ask, client } = await startAsking(t);
    await ask("first", "Which of four?", golden(first));
    await ask("then", "Which of four?", golden(then));
    const path = join(directory, `${first}-${then}.json`);
    const before = client({ device: await FileDevice.create(path), consent });
    await before.answer(await before.survey("first"), 2);
    // What was released is read back from the file.
    const after = client({ device: await FileDevice.open(path), consent });
    const answered = await after.survey("then").then((survey) => after.answer(survey, 2)).then(
      () => true,
      (error) => {
        assert.ok(error.number === "secret" || error.outcome === "not_composable_checked", String(error));
        return false;
      },
    );
    assert.equal(answered, allowed, `${first} ${then}`);
    assert.equal(curator.attempts.length, allowed ? 2 : 1);
  }
});

test("belief is limited over all answers", async (t) => {
  const { ask, client } = await startAsking(t);
  await ask("first", "Are you ill?", golden("rare_lip"));
  await ask("then", "Are you ill?", golden("rare_lip_again"));
  let refused = 0;
  for (let person = 0; person < 20; person += 1) {
    const one = client({ device: new MemoryDevice({ budgets: { question: "9" } }) });
    await one.answer(await one.survey("first"), 1);
    const asked = await one.survey("then");
    await assert.rejects(one.check(asked), { name: "AboveConsent" });
    await one.answer(asked, 1).catch((error) => {
      assert.ok(error.number === "lip" || error.number === "ldp", String(error));
      refused += 1;
    });
  }
  // After "yes" (three times in four) a second "yes" would reach 2.16; after "no" LDP is the limit.
  assert.equal(refused, 20);
});

/** The file an older version wrote, about this curator. */
function oldFile(base) {
  const text = readFileSync(new URL("data/device-1.json", import.meta.url), "utf8");
  const file = JSON.parse(text);
  assert.equal(file.undertone, "device/1");
  const state = JSON.stringify(file.state).replaceAll(file.state.data[0].answers[0].curator, base);
  let check = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(state)) check = BigInt.asUintN(64, (check ^ BigInt(byte)) * 0x100000001b3n);
  return JSON.stringify({ undertone: "device/1", check: check.toString(16).padStart(16, "0"), state: JSON.parse(state) });
}

test("an old file is migrated as Rust migrates it, and nothing is forgotten", async (t) => {
  const { curator, ask, client } = await startAsking(t);
  const path = join(mkdtempSync(join(tmpdir(), "undertone-")), "device.json");
  writeFileSync(path, oldFile(curator.base));
  const one = client({ device: await FileDevice.open(path) });
  // Two surveys known by their ids, and a datum a program had named.
  assert.deepEqual((await one.answers()).map(({ datum }) => datum), ["survey:commute", "survey:smoking", "weight in 2026"]);
  assert.equal(natsText((await one.spent("weight in 2026")).spent), "1.0986122887");
  // A new id with the old question, whose wording the old device did not keep: both old surveys may have asked it.
  await ask("renamed", "How do you commute?", marked("minimal", 5));
  await ask("commute", "How do you commute?", golden("minimal"));
  await ask("smoking", "Do you smoke?", golden("minimal"));
  const renamed = await one.survey("renamed");
  assert.equal(natsText((await one.budgets(renamed)).question.spent), "2.1972245774");
  await assert.rejects(one.check(renamed), { level: "question" });
  await assert.rejects(one.answer(renamed, 0), { level: "question" });
  // Answering the old surveys again is free and tells the device what they ask.
  const old = await one.survey("commute");
  assert.equal((await one.answered(old)).delivery, "accepted", "the page finds what an older device sent");
  for (const id of ["commute", "smoking"]) assert.equal((await one.answer(await one.survey(id), 0)).repeated, true);
  assert.equal(natsText((await one.spent("question:howdoyoucommute")).spent), "1.0986122887");
  assert.equal(natsText((await one.spent("question:doyousmoke")).spent), "1.0986122887");
  assert.equal((await one.answer(renamed, 0)).delivery, "accepted");
  assert.equal(natsText((await one.spent(renamed.datum)).spent), "2.1972245774");
  const text = readFileSync(path, "utf8");
  assert.ok(text.includes("device/3") && !text.includes('"survey:'), text);
  assert.ok(JSON.parse(text).state.generation >= 3, "every change was counted");
  // Another collector never heard of the old surveys.
  const other = await startAsking(t);
  await other.ask("renamed", "Do you commute by car?", marked("minimal", 6));
  const two = other.client({ device: await FileDevice.open(path) });
  assert.equal((await two.budgets(await two.survey("renamed"))).question.spent, 0n);
});

test("an old file as it was written is read, and written anew", () => {
  const text = readFileSync(new URL("data/device-1.json", import.meta.url), "utf8");
  const state = decodeDevice(text);
  assert.deepEqual([state.generation, state.budgets.collector], [0, { nats: "8.7888983096", days: null }]);
  assert.deepEqual(decodeDevice(encodeDevice(state)), state);
  assert.throws(() => decodeDevice(text.replace("1.0986122887", "0.0986122887")), { code: "damaged" });
});

test("the version before this one is read, and written as Rust writes it", () => {
  const read = (name) => readFileSync(new URL(`data/${name}.json`, import.meta.url), "utf8");
  assert.equal(encodeDevice(decodeDevice(read("device-2"))), read("device-2-as-3"));
});

test("what a file may not hold", () => {
  const good = decodeDevice(readFileSync(new URL("data/device.json", import.meta.url), "utf8"));
  const bad = [
    (state) => (state.extra = 1),
    (state) => (state.budgets.question.nats = "2.10"),
    (state) => (state.budgets.collector.nats = "much"),
    (state) => (state.budgets.device.days = 0),
    (state) => (state.budgets.device.days = 36_501),
    (state) => delete state.budgets.device,
    (state) => (state.day = 20_774),
    (state) => (state.day = 1e9),
    (state) => (state.moved = true),
    (state) => (state.moved.id = "01"),
    (state) => (state.generation = -1),
    (state) => (state.generation = 1.5),
    (state) => state.data.push(state.data[0]),
    (state) => (state.releases = []),
    (state) => (state.releases = state.releases.filter(({ part }) => part === null)),
    (state) => (state.releases[0].policy = "07"),
    (state) => (state.releases[0].id = "07"),
    (state) => (state.releases[0].data = []),
    (state) => (state.releases[0].day = 20_776),
    (state) => (state.releases[0].collectors[0].day = -1),
    (state) => (state.releases[0].collectors = [["https://curator.example", 1]]),
    (state) => (state.releases[3].part.item = -1),
    (state) => (state.plans[0].choice = [0.5]),
    (state) => (state.plans[0].memos[0].bits = "00"),
    (state) => (state.plans[0].memos[1].bits = "0g"),
    (state) => state.plans[0].memos.push(state.plans[0].memos[0]),
    (state) => state.plans.push(state.plans[0]),
    (state) => (state.plans[0].responses[0].response.answers[0].item = 1),
    (state) => (state.plans[0].responses[0].response.plan = "06".repeat(32)),
    (state) => (state.plans[0].responses[0].delivery = "lost"),
    (state) => (state.data[0].answers[0].delivery = "lost"),
    (state) => (state.data[0].answers[0].curator = 1),
    (state) => (state.data = {}),
    (state) => (state.policies = ["0g"]),
  ];
  for (const change of bad) {
    const state = structuredClone(good);
    change(state);
    assert.doesNotThrow(() => decodeDevice(encodeDevice(good)));
    assert.throws(() => decodeDevice(encodeDevice(state)), { name: "DeviceError", code: "damaged" }, String(change));
  }
  for (const text of ["", "null", "[]", '{"undertone":"device/4"}']) assert.throws(() => decodeDevice(text), { code: "damaged" }, text);
});

test("policies are kept as far as they are small and few, in the order of their ids", async (t) => {
  const { ask, client } = await startAsking(t);
  const device = new MemoryDevice();
  const one = client({ device, consent: new Consent({ ldp: null, lip: null }) });
  await ask("large", "A large one?", { ...marked("minimal", 1), inputs: { names: ["yes".repeat(30000), "no"] } });
  await one.record(await one.survey("large"), 0);
  assert.equal((await device.load()).state.policies.length, 0);
  // As if 255 others had been kept already.
  const { state: before, version } = await device.load();
  before.policies = (await Promise.all(Array.from({ length: 255 }, (_, n) => Policy.fromJson(marked("minimal", 1000 + n))))).map(({ bytes }) => toHex(bytes));
  await device.replace(version, before);
  for (const id of ["last", "one-more"]) {
    await ask(id, `Question ${id}?`, marked("minimal", id.length));
    await one.record(await one.survey(id), 0);
  }
  const { state } = await device.load();
  assert.equal(state.policies.length, 256);
  const ids = await Promise.all(state.policies.map(async (digits) => (await Policy.fromBytes(Buffer.from(digits, "hex"))).id));
  assert.deepEqual(ids, [...ids].sort());
  const last = await Policy.fromJson(marked("minimal", 4));
  assert.ok(ids.includes(last.id), "the 256th");
});
