// The client against a curator that loses answers, is busy, refuses, or is not there.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client, Consent, decodeDevice, encodeBody, encodeDevice, FileDevice, MemoryDevice, natsText, Policy } from "../undertone.js";
import { startCurator } from "./lib/curator.mjs";

const vectors = new URL("../../../vectors/v1/policy/", import.meta.url);
const document = (name) => JSON.parse(readFileSync(new URL(name, vectors), "utf8")).document;
const retry = { attempts: 3, first: 1, longest: 5 };

/** A survey over one of the golden policies. */
function survey(id, policy, state = "open", question = `What about ${id}?`) {
  const groups = [{ group: "everyone", policy: policy.id, people: 1000 }];
  return { id, title: id, question, answers: policy.inputs, round: { number: 1, state, groups } };
}

let curator;
let [surveys, policies] = [{}, {}];
before(async () => {
  const add = async (id, name, state) => {
    const policy = await Policy.fromJson(document(name));
    surveys[id] = survey(id, policy, state);
    policies[policy.id] = JSON.stringify(document(name));
  };
  await add("one", "minimal.json");
  await add("again", "minimal.json");
  await add("two", "table_prior_lip.json");
  await add("sealed", "minimal.json", "sealed");
  await add("bits", "bits_11.json");
  await add("names", "alphabet_names.json");
  await add("watchdog", "watchdog_three.json");
  curator = await startCurator(surveys, policies);
});
after(() => curator.stop());

const client = (options = {}) => new Client(curator.base, { retry, ...options });
const fresh = () => {
  curator.stored.clear();
  curator.attempts.length = 0;
  curator.faults.length = 0;
};

test("an answer is randomised, remembered and sent once", async () => {
  fresh();
  const one = client();
  const asked = await one.survey("one");
  const first = await one.answer(asked, 0);
  assert.equal(first.delivery, "accepted");
  assert.equal(first.repeated, false);
  const again = await one.answer(asked, 1);
  assert.deepEqual(again.report, first.report, "the same report, whatever the answer is now");
  assert.equal(again.repeated, true);
  assert.deepEqual([...curator.stored.values()], [1]);
  assert.equal(asked.datum, "question:whataboutone");
  assert.equal(natsText((await one.spent(asked.datum)).spent), "1.0986122887");
});

test("a lost response is repeated with the same report id", async () => {
  fresh();
  curator.faults.push("lose", "busy");
  const one = client();
  const { delivery } = await one.answer(await one.survey("one"), 0);
  assert.equal(delivery, "accepted");
  assert.equal(curator.attempts.length, 3);
  assert.equal(new Set(curator.attempts.flat()).size, 1);
  assert.deepEqual([...curator.stored.values()], [2], "the curator counts it once by its id");
});

test("what is not an acknowledgement is none", async () => {
  fresh();
  curator.faults.push("portal");
  const one = client();
  const { delivery } = await one.answer(await one.survey("one"), 0);
  assert.equal(delivery, "accepted");
  assert.equal(curator.attempts.length, 2);
});

test("final refusals are not repeated", async () => {
  fresh();
  curator.faults.push({ status: 409, code: "round_sealed" });
  const one = client();
  const { delivery } = await one.answer(await one.survey("one"), 0);
  assert.deepEqual(delivery, { refused: { status: 409, code: "round_sealed", detail: "as told" } });
  assert.equal(curator.attempts.length, 1);
  assert.equal((await one.flush()).accepted, 0, "a refused report does not wait");
});

test("offline reports wait and are flushed in batches, in both forms", async () => {
  for (const form of ["json", "binary"]) {
    for (const id of ["one", "bits"]) {
      fresh();
      let online = false;
      const fetch = (...request) => (online ? globalThis.fetch(...request) : Promise.reject(new TypeError("offline")));
      const asked = await client().survey(id);
      const one = client({ fetch, form, consent: new Consent({ ldp: "100" }), device: new MemoryDevice({ budgets: { question: "100", collector: "100", device: "100" } }) });
      for (let person = 0; person < 5; person += 1) {
        const { delivery, obstacle } = await one.answer({ ...asked, datum: `person ${person}` }, 1);
        assert.equal(delivery, "waiting");
        assert.match(obstacle, /offline/);
      }
      assert.deepEqual(await one.flush(), { accepted: 0, refused: 0, waiting: 5, obstacle: "the curator cannot be reached or is busy: offline" });
      online = true;
      curator.faults.push({ status: 422, code: "token_out_of_range" }, { status: 422, code: "token_out_of_range" });
      assert.deepEqual(await one.flush(), { accepted: 4, refused: 1, waiting: 0, obstacle: null });
      assert.deepEqual(curator.attempts.map((ids) => ids.length), [5, 1, 1, 1, 1, 1]);
      assert.equal(curator.stored.size, 4);
    }
  }
});

test("a batch that is too large goes in parts", async () => {
  for (const [id, form] of [["one", "json"], ["bits", "binary"]]) {
    fresh();
    const one = client({ form, consent: new Consent({ ldp: null, lip: null }), device: new MemoryDevice({ budgets: { question: "100", collector: "1000", device: "1000" } }) });
    const asked = await one.survey(id);
    const record = async (from, to) => {
      for (let person = from; person < to; person += 1) await one.record({ ...asked, datum: `person ${person}` }, 1);
    };
    // Eleven reports fit into a body and twelve do not.
    await record(0, 50);
    const reports = (await one.answers()).map(({ report }) => report);
    curator.largest = encodeBody(reports.slice(0, 11), form).body.length;
    assert.deepEqual(await one.flush(), { accepted: 50, refused: 0, waiting: 0, obstacle: null });
    assert.deepEqual(curator.attempts.map((ids) => ids.length), [50, 25, 12, 6, 6, 6, 7, 6, 6, 6, 7], "halves, and no length twice");
    assert.deepEqual([...curator.stored.values()], Array(50).fill(1));
    // What was learnt is kept: the next batch is not tried at lengths that were refused.
    curator.attempts.length = 0;
    await record(50, 70);
    assert.equal((await one.flush()).accepted, 20);
    assert.deepEqual(curator.attempts.map((ids) => ids.length), [10, 10]);
    // One report that is too large is refused for good.
    curator.largest = 1;
    await record(70, 72);
    assert.equal((await one.flush()).refused, 2);
    assert.equal((await one.flush()).refused, 0);
    curator.largest = Infinity;
  }
});

test("what has no end is not fetched", async () => {
  const limit = 1 << 20;
  for (const limits of [undefined, { survey: limit, policy: limit, answer: limit }]) {
    const most = limits ? limit : 16 << 20;
    for (const path of ["/v1/surveys/one", `/v1/policies/${surveys.one.round.groups[0].policy}`]) {
      [curator.taken, curator.requests.length] = [0, 0];
      curator.endless.add(path);
      await assert.rejects(client({ limits }).survey("one"), { name: "ClientError", code: "too_large", message: /^the (survey|policy) has more than [0-9]+ bytes/ });
      assert.equal(curator.requests.filter(({ url }) => url === path).length, 1, "and is not tried again");
      // Buffers of both ends hold a few megabytes beside.
      assert.ok(curator.taken < most + (16 << 20), `${curator.taken} bytes were taken`);
      curator.endless.clear();
    }
  }
  // Neither is an acknowledgement.
  const one = client({ limits: { answer: limit } });
  const asked = await one.survey("one");
  curator.endless.add("/v1/surveys/one/reports");
  const { delivery, obstacle } = await one.answer(asked, 0);
  curator.endless.clear();
  assert.deepEqual([delivery, /more than/.test(obstacle)], ["waiting", true]);
});

test("consent is held against what is attained", async () => {
  const refused = async (id, consent, number) => {
    const one = client({ consent: new Consent(consent) });
    const asked = await one.survey(id);
    fresh();
    await assert.rejects(one.answer(asked, 0), { name: "AboveConsent", number });
    assert.equal(curator.attempts.length, 0);
    assert.deepEqual(await one.answers(), []);
  };
  await refused("one", { ldp: "1.0986122886" }, "ldp");
  await refused("two", { ldp: "100", lip: "0.01" }, "lip");
  await refused("one", { secret: { name: "income", ldp: "0.5" } }, "secret");
  await refused("watchdog", {}, "ldp");
  await refused("one", { ldp: null, lip: "1" }, "lip");
  const free = client({ consent: new Consent({ ldp: null, lip: null }) });
  assert.equal((await free.answer(await free.survey("watchdog"), 0)).delivery, "accepted");
  const one = client({ consent: new Consent({ lip: "0", ldp: "1.0986122887" }) });
  assert.equal((await one.answer(await one.survey("one"), 0)).delivery, "accepted", "no context: judged by LDP alone");
});

test("the budget of a datum is shared by surveys about it", async () => {
  const one = client({ device: new MemoryDevice({ budgets: { question: "1.1" } }), consent: new Consent({ lip: "3", ldp: "3" }) });
  await one.answer(await one.survey("one", { datum: "age" }), 0);
  await assert.rejects(one.answer(await one.survey("two", { datum: "age" }), 0), { name: "OverBudget", level: "question" });
  assert.equal((await one.answer(await one.survey("two", { datum: "weight" }), 0)).delivery, "accepted");
  await one.setBudget("3");
  assert.equal((await one.answer(await one.survey("two", { datum: "age" }), 0)).delivery, "accepted");
  assert.equal(natsText((await one.spent("age")).budget), "3");
});

test("two surveys that compare report ids do not find one person", async () => {
  const one = client();
  const [here, there] = [await one.survey("one", { datum: "age" }), await one.survey("again", { datum: "age" })];
  const first = await one.answer(here, 0);
  const second = await one.answer(there, 1);
  assert.equal(second.report.token, first.report.token, "what was drawn is drawn once");
  assert.notEqual(second.report.id, first.report.id);
  assert.deepEqual((await one.answer(there, 1)).report, second.report);
  assert.deepEqual((await one.answer(here, 1)).report, first.report);
});

test("a closed round costs nothing", async () => {
  const one = client();
  await assert.rejects(one.answer(await one.survey("sealed"), 0), { code: "not_open" });
  assert.deepEqual(await one.answers(), []);
});

test("a policy that is not the one asked for, or asks something else, is refused", async () => {
  const { id } = await Policy.fromJson(document("minimal.json"));
  const honest = policies[id];
  policies[id] = JSON.stringify({ ...document("table_prior_lip.json"), id: undefined });
  await assert.rejects(client().survey("one"), { code: "other_policy" });
  policies[id] = honest;
  const answers = surveys.names.answers;
  surveys.names.answers = { names: [...answers.names].reverse() };
  await assert.rejects(client().survey("names"), { code: "answers" });
  surveys.names.answers = answers;
  await assert.rejects(client().survey("../admin"), { code: "survey_id" });
  await assert.rejects(client().survey("missing"), { code: "refused" });
});

test("two tabs on one device spend once", async () => {
  fresh();
  const device = new MemoryDevice();
  const [a, b] = [client({ device }), client({ device })];
  const asked = await a.survey("one");
  const [left, right] = await Promise.all([a.answer(asked, 0), b.answer(asked, 1)]);
  assert.deepEqual(left.report, right.report);
  assert.equal(curator.stored.size, 1);
});

test("a file survives the process, and damage is refused", async () => {
  fresh();
  const path = join(mkdtempSync(join(tmpdir(), "undertone-")), "device.json");
  await assert.rejects(FileDevice.open(path), { code: "missing" });
  const device = await FileDevice.create(path);
  await assert.rejects(FileDevice.create(path), { code: "exists" });
  const first = client({ device });
  const asked = await first.survey("one");
  // The process ends between writing and sending.
  const { report } = await first.record(asked, 0);
  const second = client({ device: await FileDevice.open(path) });
  assert.deepEqual(await second.flush(), { accepted: 1, refused: 0, waiting: 0, obstacle: null });
  assert.deepEqual([...curator.stored.keys()], [report.id]);
  const text = readFileSync(path, "utf8");
  assert.ok(!text.includes('"symbol"'), "the raw answer is not kept");
  for (const damaged of ["", text.slice(0, -20), text.replace("1.0986122887", "0.0986122887"), text.replace("accepted", "waiting")]) {
    writeFileSync(path, damaged);
    await assert.rejects(FileDevice.open(path), { code: "damaged" });
    assert.equal(readFileSync(path, "utf8"), damaged, "and left as it is");
  }
});

test("the Rust client's file is read, and written byte for byte", () => {
  const text = readFileSync(new URL("data/device.json", import.meta.url), "utf8");
  assert.equal(encodeDevice(decodeDevice(text)), text);
});
