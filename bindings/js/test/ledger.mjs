// The ledger of a person: three levels, windows, plans' choices, and the way to another device, also one in Rust.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Charges, yearlyOf } from "../device/budget.js";
import { choiceOf, memoOf, noteChoice, noteMemo, noteRelease, see } from "../device/ledger.js";
import { changeState } from "../device/state.js";
import { symbolsOf } from "../kernel/plan/response.js";
import { Client, dayText, decodeDevice, encodeDevice, exportLedger, FileDevice, importLedger, MemoryDevice, natsText, Policy, systemDay } from "../undertone.js";
import { startCurator } from "./lib/curator.mjs";
import { example } from "./lib/examples.mjs";
import { mulberry } from "./lib/random.mjs";

const minimal = JSON.parse(readFileSync(new URL("../../../vectors/v1/policy/minimal.json", import.meta.url), "utf8")).document;
const retry = { attempts: 2, first: 1, longest: 2 };
const START = 20_000;
const LN_3 = "1.0986122887";

/** A curator, and `answer(device, n, day)`, which asks question n at ln 3 and answers it. */
async function startAsking(t) {
  const [surveys, policies, bytes] = [{}, {}, {}];
  const curator = await startCurator(surveys, policies, bytes);
  t.after(() => curator.stop());
  const answer = async (device, n, after = 0, question = `Question number ${n}?`) => {
    const document = { ...minimal, id: undefined, provenance: { n } };
    const policy = await Policy.fromJson(document);
    [policies[policy.id], bytes[policy.id]] = [JSON.stringify(document), policy.bytes];
    const groups = [{ group: "everyone", policy: policy.id, people: 1000 }];
    surveys[`survey-${n}`] = { id: `survey-${n}`, title: "", question, answers: policy.inputs, round: { number: 1, state: "open", groups } };
    const client = new Client(curator.base, { device, retry, today: () => START + after });
    const survey = await client.survey(`survey-${n}`);
    return { ...(await client.answer(survey, 0)), budgets: await client.budgets(survey) };
  };
  return { curator, answer };
}

test("days are dates", () => {
  assert.deepEqual([0, 59, 11_016, 20_775, 2_932_896].map(dayText), ["1970-01-01", "1970-03-01", "2000-02-29", "2026-11-18", "9999-12-31"]);
  assert.ok(systemDay() > START);
});

test("a window counts its days and no more, and the yearly total is what the greediest reach", () => {
  const budget = (units, days) => ({ nats: natsText(units), days });
  const charges = new Charges([{ day: 112, cost: 4n }, { day: 100, cost: 3n }, { day: 105, cost: 2n }, { day: 105, cost: null }]);
  assert.deepEqual([109, 110, 114, 115, 121, 122].map((day) => charges.spent(budget(9n, 10), day)), [9n, 6n, 6n, 4n, 4n, 0n]);
  assert.deepEqual([114, 115].map((day) => charges.uncounted(budget(9n, 10), day)), [1, 0]);
  assert.deepEqual([3n, 5n, 6n, 10n].map((cost) => charges.refills(budget(9n, 10), cost)), [110, 115, 122, null]);
  assert.equal(charges.refills(budget(9n, null), 1n), null);
  for (const days of [1, 2, 30, 31, 182, 183, 364, 365, 366]) {
    const spent = [];
    for (let day = 1000; day < 1365; day += 1) while (new Charges(spent).fits(budget(5n, days), 1n, day)) spent.push({ day, cost: 1n });
    const budgets = { question: budget(5n, days), device: budget(10_000n, null) };
    assert.equal(yearlyOf(budgets, "question"), BigInt(spent.length), String(days));
    assert.equal(yearlyOf({ ...budgets, device: budget(4n, null) }, "question"), 4n);
  }
});

test("one question at two collectors has one budget", async (t) => {
  const [one, two] = [await startAsking(t), await startAsking(t)];
  const device = new MemoryDevice();
  let released = 0;
  for (let n = 0; n < 6; n += 1) {
    await [one, two][n % 2].answer(device, n, 0, "Do you smoke?").then(
      () => (released += 1),
      (error) => assert.deepEqual([error.name, error.level, error.whose, error.refills], ["OverBudget", "question", "question:doyousmoke", null]),
    );
  }
  assert.equal(released, 2);
});

test("the device has a budget over three collectors", async (t) => {
  const collectors = [await startAsking(t), await startAsking(t), await startAsking(t)];
  const device = new MemoryDevice({ budgets: { device: { nats: "10", days: 365 } } });
  for (let n = 0; n < 9; n += 1) await collectors[n % 3].answer(device, n);
  for (let n = 9; n < 24; n += 1) {
    await assert.rejects(collectors[n % 3].answer(device, n), {
      name: "OverBudget",
      level: "device",
      // The same words as in Rust.
      message: `the budget of everything this device tells anybody is 10 nats in 365 days, 9.8875105983 are spent and this release costs ${LN_3}: wait until 2025-10-04, or raise the device's budget`,
    });
  }
  // The same report to another collector is news to that one alone.
  const { repeated, budgets } = await collectors[2].answer(device, 0);
  assert.deepEqual([repeated, natsText(budgets.device.spent), natsText(budgets.device.left), natsText(budgets.collector.spent)], [true, "9.8875105983", "0.1124894017", "4.3944491548"]);
});

test("windows refill, and a clock set back does not", async (t) => {
  const { answer } = await startAsking(t);
  const device = new MemoryDevice({ budgets: { collector: { nats: "2.5", days: 30 } } });
  await answer(device, 0, 0);
  await answer(device, 1, 10);
  await assert.rejects(answer(device, 2, 29), { level: "collector", refills: START + 30 });
  assert.equal((await answer(device, 1, 29)).repeated, true, "a repeated answer is free");
  await answer(device, 2, 30);
  await assert.rejects(answer(device, 3, 0), { spent: "2.1972245774", refills: START + 40 });
  const { budgets } = await answer(device, 3, 40);
  assert.deepEqual([natsText(budgets.collector.spent), natsText(budgets.collector.yearly), budgets.collector.days], ["2.1972245774", "32.5", 30]);
  const { state } = await device.load();
  assert.deepEqual(state.releases.map(({ day }) => day - START), [0, 10, 30, 40]);
});

test("releases of unknown days count from the first day seen", async (t) => {
  const { answer } = await startAsking(t);
  const path = join(mkdtempSync(join(tmpdir(), "undertone-")), "device.json");
  writeFileSync(path, readFileSync(new URL("data/device-2.json", import.meta.url)));
  const device = await FileDevice.open(path);
  await answer(device, 0, 100);
  const { state } = await device.load();
  assert.deepEqual(state.releases.map(({ day }) => day - START), [100, 100, 100, 100]);
  assert.ok(state.releases.every(({ collectors }) => collectors.every(({ day }) => day === START + 100)));
  assert.ok(encodeDevice(state) === readFileSync(path, "utf8"));
});

test("a budget that cannot be", async () => {
  const client = new Client("https://one.example", {});
  for (const device of [{ nats: "1", days: 0 }, { nats: "1", days: 36_501 }, { nats: "1", days: 1.5 }]) await assert.rejects(client.setBudgets({ device }), { name: "RangeError" });
  await assert.rejects(client.setBudgets({ device: "much" }), { name: "DecodeError" });
  await client.setBudgets({ device: { nats: "1", days: 7 } });
  assert.deepEqual((await client.device.load()).state.budgets.device, { nats: "1", days: 7 });
});

// ---------------------------------------------------------------- plans

const PLAN = "03".repeat(32);

test("a choice is written once, and what was not paid for is not remembered", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "undertone-")), "device.json");
  const device = await FileDevice.create(path);
  const choose = (items) => changeState(device, (state) => (noteChoice(state, PLAN, items), {}));
  await choose([4, 7]);
  // The process ends here; nothing was spent, and the choice stays.
  const { state } = await (await FileDevice.open(path)).load();
  assert.deepEqual([choiceOf(state, PLAN), choiceOf(state, "04".repeat(32)), state.releases], [[4, 7], null, []]);
  for (const items of [[4, 7], [1, 2]]) await assert.rejects(choose(items), { code: "chosen" });
  const part = { plan: PLAN, item: 4, period: 0 };
  noteMemo(state, part, { token: 1 });
  assert.equal(memoOf(state, part), null);
  see(state, START);
  noteRelease(state, { id: "05".repeat(16), data: ["age", "sex"], policy: "06".repeat(32), cost: 7n, collector: "https://one.example", part });
  noteMemo(state, part, { token: 1 });
  noteMemo(state, part, { token: 2 });
  assert.deepEqual(memoOf(decodeDevice(encodeDevice(state)), part), { token: 1 });
});

// ---------------------------------------------------------------- moving

test("a ledger moves to a new device, and the old one is silent", async (t) => {
  const { curator, answer } = await startAsking(t);
  const old = new MemoryDevice({ budgets: { question: "3", collector: { nats: "7", days: 90 } } });
  await answer(old, 0);
  const text = await exportLedger(old, { today: () => START + 1 });
  const sent = curator.attempts.length;
  const moved = { name: "DeviceError", code: "moved", message: /moved to another device on 2024-10-05/ };
  await assert.rejects(exportLedger(old), moved);
  await assert.rejects(importLedger(old, text), { code: "own_ledger" });
  for (const n of [0, 1]) await assert.rejects(answer(old, n), moved);
  await assert.rejects(new Client(curator.base, { device: old }).flush(), moved);
  assert.equal(curator.attempts.length, sent);

  const fresh = new MemoryDevice();
  await importLedger(fresh, text);
  const { repeated, budgets } = await answer(fresh, 0, 3);
  assert.deepEqual([repeated, natsText(budgets.question.budget), natsText(budgets.collector.budget), natsText(budgets.device.spent)], [true, "3", "7", LN_3]);
  await answer(fresh, 1, 3);
  await importLedger(old, await exportLedger(fresh, { today: () => START + 4 }));
  assert.equal(natsText((await answer(old, 2, 4)).budgets.device.spent), "3.2958368661");
});

test("two ledgers that meet count the costs of both, once", async (t) => {
  const { answer } = await startAsking(t);
  const [one, two] = [new MemoryDevice(), new MemoryDevice({ budgets: { question: "5" } })];
  for (const [device, n, after] of [[one, 0, 0], [one, 1, 0], [two, 0, 9], [two, 2, 9]]) await answer(device, n, after);
  const choose = (device, items) => changeState(device, (state) => (noteChoice(state, PLAN, items), {}));
  await choose(one, [1]);
  await choose(two, [2]);
  const text = await exportLedger(one, { today: () => START + 1 });
  for (let times = 0; times < 2; times += 1) {
    await importLedger(two, text);
    const { state } = await two.load();
    assert.deepEqual([state.releases.length, state.data.flatMap(({ answers }) => answers).length], [4, 4]);
    assert.deepEqual([choiceOf(state, PLAN), state.budgets.question.nats], [[1], "5"]);
    assert.equal(state.policies.length, 3);
  }
  const { question } = (await answer(two, 0, 9)).budgets;
  assert.equal(natsText(question.spent), "2.1972245774");
});

test("what is no ledger changes nothing", async () => {
  const device = new MemoryDevice();
  const text = await exportLedger(new MemoryDevice());
  const before = device.text;
  for (const bad of ["", "{}", text.replace("35.", "36."), text.replace("ledger/1", "ledger/2"), before]) await assert.rejects(importLedger(device, bad), { code: "no_ledger" });
  assert.equal(device.text, before);
  assert.throws(() => decodeDevice(text), { code: "damaged", message: /import/ });
});

test("ledgers move between the languages", async (t) => {
  const recorder = example("undertone-client", "recorder");
  if (recorder === null) return t.skip("no cargo");
  const { answer: answerOn } = await startAsking(t);
  // Rust's half reads the system's clock.
  const now = systemDay() - START;
  const answer = (device, n) => answerOn(device, n, now);
  const directory = mkdtempSync(join(tmpdir(), "undertone-"));
  const at = (name) => join(directory, name);
  const rust = (...words) => {
    const { status, stdout, stderr } = spawnSync(recorder, { input: `${words.join(" ")}\n`, encoding: "utf8" });
    return status === 0 ? stdout.trim() : stderr;
  };
  const [here, there] = [await FileDevice.create(at("here.json")), await FileDevice.create(at("there.json"))];
  await answer(here, 0);
  await answer(there, 1);
  writeFileSync(at("ledger.json"), await exportLedger(here));
  assert.equal(rust("take", at("there.json"), at("ledger.json")), "taken");
  assert.match(rust("take", at("here.json"), at("ledger.json")), /OwnLedger/);
  assert.equal(natsText((await answer(there, 2)).budgets.device.spent), "3.2958368661");
  assert.equal(rust("move", at("there.json"), at("back.json")), "moved");
  assert.match(rust("move", at("there.json"), at("again.json")), /Moved/);
  await importLedger(here, readFileSync(at("back.json"), "utf8"));
  const { state } = await here.load();
  assert.deepEqual([state.moved, state.releases.length], [null, 3]);
  // What both languages make of the same two ledgers is the same file.
  const [left, right] = [await FileDevice.create(at("left.json")), await FileDevice.create(at("right.json"))];
  for (const device of [left, right]) writeFileSync(device.path, readFileSync(at("here.json")));
  const other = new MemoryDevice();
  await answer(other, 5);
  await answer(other, 0);
  writeFileSync(at("other.json"), await exportLedger(other));
  await importLedger(left, readFileSync(at("other.json"), "utf8"));
  assert.equal(rust("take", at("right.json"), at("other.json")), "taken");
  assert.equal(readFileSync(at("left.json"), "utf8"), readFileSync(at("right.json"), "utf8"));
});

// ---------------------------------------------------------------- answering a plan

/** Random bytes that are the same every time. */
const mulberryBytes = (seed) => {
  const random = mulberry(seed);
  return (count) => Uint8Array.from({ length: count }, () => Math.floor(256 * random()));
};

/** As a verified plan: one question for everybody, two together as one symbol at ln 5, and one that is drawn and repeats a wording. */
async function somePlan(fresh) {
  const policy = await Policy.fromJson(minimal);
  const masses = [0, 1, 2, 3].map((x) => [0, 1, 2, 3].map((y) => (x === y ? 5 : 1) * 2 ** 45));
  const pair = await Policy.fromJson({ ...minimal, id: undefined, inputs: { indices: 4 }, channel: { shape: "table", masses }, claims: [{ notion: "ldp", about: "input", epsilon: { nats: "1.6094379125", odds: [5, 1] } }] });
  const question = (name, wording) => ({ name, wording, answers: policy.inputs });
  const item = (questions, index, weight = 0) => ({ questions, policy: index, fresh: fresh && index === 0 ? 0 : null, weight });
  const questions = [question("smoke", "Do you smoke?"), question("drink", "Do you drink?"), question("drive", ""), question("again", "do you SMOKE")];
  const draft = { questions, items: [item([0], 0), item([1, 2], 1), item([3], 0, 1), item([3], 0, 1)], asked: 1, periods: 2 };
  return { id: PLAN, policies: [policy, pair], draft, symbols: (answers) => symbolsOf(draft, answers), choose: (random) => [0, 1, 2 + (random(8)[0] % 2)] };
}

test("a plan is answered in one message, paid for in one write, and repeated", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "undertone-")), "device.json");
  const device = await FileDevice.create(path);
  const plan = await somePlan(false);
  const at = (base, after = 0) => new Client(base, { device, today: () => START + after });
  const all = { smoke: 0, drink: 1, drive: 1, again: 0 };
  const first = await at("https://one.example").respond(plan, all);
  const { state } = await device.load();
  assert.deepEqual([first.repeated, first.refused.length, first.response.answers.map(({ item }) => item)], [false, 0, choiceOf(state, PLAN)]);
  assert.equal(state.generation, 2, "one write for the choice and one for the message");
  assert.deepEqual(state.releases.map(({ id, data, cost, part }) => [id, data, cost, part.item]), [
    [first.response.id, ["question:doyousmoke"], LN_3, 0],
    [first.response.id, ["question:doyoudrink", "question:drive"], "1.6094379125", 1],
    [first.response.id, ["question:doyousmoke"], LN_3, choiceOf(state, PLAN)[2]],
  ]);
  const again = await at("https://one.example", 9).respond(plan, { smoke: 1 });
  assert.deepEqual([again.response, again.repeated], [first.response, true]);
  // Another collector gets the same tokens in a message of its own, and is charged for them.
  const there = await at("https://two.example", 9).respond(plan, all);
  assert.deepEqual(there.response.answers, first.response.answers);
  assert.notEqual(there.response.id, first.response.id);
  // The next period costs again, which is too much for every question.
  const next = await at("https://one.example", 9).respond(plan, all, { period: 1 });
  assert.deepEqual(next.refused.map(({ item, error }) => [item, error.level]), choiceOf(state, PLAN).map((item) => [item, "question"]));
  assert.deepEqual([next.response.answers, choiceOf((await device.load()).state, PLAN)], [[], choiceOf(state, PLAN)]);
  await assert.rejects(at("https://one.example").respond(plan, all, { period: 2 }), { code: "period" });
  await assert.rejects(at("https://one.example").respond(plan, { ...all, drive: 2 }), { name: "RangeError" });
  await assert.rejects(at("https://one.example").respond(plan, { ...all, driev: 1 }), { message: 'there is no question "driev": the plan asks smoke, drink, drive, again' });
  decodeDevice(readFileSync(path, "utf8"));
});

test("fresh reports are drawn from the memo and cost nothing more", async () => {
  const [device, plan] = [new MemoryDevice(), await somePlan(true)];
  const client = new Client("https://one.example", { device, today: () => START });
  const random = mulberryBytes(3);
  const ids = new Set();
  for (let times = 0; times < 30; times += 1) {
    const { response, repeated, refused } = await client.respond(plan, { smoke: 0, drink: 0, again: 1 }, { random });
    assert.deepEqual([repeated, refused.length, response.answers.some(({ item }) => item === 1)], [false, 0, false]);
    ids.add(response.id);
    await client.noteResponse(response, "accepted");
  }
  const { state } = await device.load();
  assert.deepEqual([ids.size, state.releases.length, state.plans[0].responses.length], [30, 2, 1]);
  assert.equal(natsText((await client.spent("question:doyousmoke")).spent), "2.1972245774");
});
