// One device's file, many processes, two languages, and some that are killed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, decodeDevice, FileDevice, Policy } from "../undertone.js";
import { startCurator } from "./lib/curator.mjs";
import { example } from "./lib/examples.mjs";
import { mulberry } from "./lib/random.mjs";

/** Where a device in Rust keeps surveys for offline use, beside its file. */
const KEPT_SURVEYS = "device.json.surveys";

const recorders = { node: [process.execPath, fileURLToPath(new URL("lib/recorder.mjs", import.meta.url))] };
const minimal = JSON.parse(readFileSync(new URL("../../../vectors/v1/policy/minimal.json", import.meta.url), "utf8")).document;
const SURVEYS = 6;
/** The default budget of a question holds two answers of the policies used. */
const ANSWERS = 2;
/** Where processes cannot be seen nothing is taken over. */
const skip = existsSync("/proc/self/stat") ? false : "no /proc";
let curator;
let dead;

before(async () => {
  const rust = example("undertone-client", "recorder");
  if (rust === null) console.log("# Rust's half skipped: no cargo");
  else recorders.rust = [rust];
  const [surveys, policies, bytes] = [{}, {}, {}];
  for (let n = 0; n < SURVEYS; n += 1) {
    const document = { ...minimal, id: undefined, provenance: { n } };
    const policy = await Policy.fromJson(document);
    [policies[policy.id], bytes[policy.id]] = [JSON.stringify(document), policy.bytes];
    const groups = [{ group: "everyone", policy: policy.id, people: 1000 }];
    surveys[`survey-${n}`] = { id: `survey-${n}`, title: "", question: "Do you smoke?", answers: policy.inputs, round: { number: 1, state: "open", groups } };
  }
  curator = await startCurator(surveys, policies, bytes);
  if (skip) return;
  // A process that has ended: what locks of the dead name.
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  dead = { pid: child.pid, started: startOf(child.pid) };
  await killed(child);
});
after(async () => {
  await Promise.all([...running].map(killed));
  await curator.stop();
});

const startOf = (pid) => readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\)/s, "").trim().split(" ")[19];

const running = new Set();

async function killed(child) {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** A process that answers one command at a time; a command whose process ends gives null. */
function start(language) {
  const [program, ...words] = recorders[language];
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {});
  running.add(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const tell = async (...command) => {
    child.stdin.write(`${command.join(" ")}\n`);
    const { value } = await lines.next();
    return value ?? null;
  };
  return { child, tell, language };
}

const folder = () => mkdtempSync(join(tmpdir(), "undertone-lock-"));
const releasesIn = (path) => decodeDevice(readFileSync(path, "utf8")).releases;

/** Locks of the dead on a device: one, and for some trials one on the right to replace it. */
function leaveLocks(path, random) {
  const tag = () => Array.from({ length: 16 }, () => Math.floor(random() * 16).toString(16)).join("");
  const lock = (name, owner) => writeFileSync(name, JSON.stringify(owner));
  const owner = { ...dead, tag: tag() };
  lock(`${path}.held`, owner);
  const right = `${path}.held.${owner.tag}`;
  const second = { ...dead, tag: tag() };
  if (random() < 0.5) lock(right, second);
  if (random() < 0.25) lock(`${right}.${second.tag}`, { ...dead, tag: tag() });
  // As of another process that has the same number now.
  if (random() < 0.25) lock(`${path}.held`, { pid: process.pid, started: "1", tag: owner.tag });
}

/** Waits until the lock a dead owner left is another's, or is gone because that other has recorded and let go of it. */
async function takenOver(path, left) {
  const now = () => {
    try {
      return readFileSync(`${path}.held`, "utf8");
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
      return null;
    }
  };
  while (now() === left) await new Promise((resolve) => setTimeout(resolve, 1));
}

test("of many processes that find the lock of a dead one, none spends what another has spent", { skip, timeout: 300_000 }, async () => {
  const random = mulberry(5);
  const languages = Object.keys(recorders);
  const workers = Array.from({ length: SURVEYS }, (_, at) => start(languages[at % languages.length]));
  // All at once, and with each language ahead of the rest: who is quicker by itself must not decide what is tested.
  const turns = [null, ...languages];
  for (let trial = 0; trial < 60; trial += 1) {
    const directory = folder();
    const path = join(directory, "device.json");
    await FileDevice.create(path);
    leaveLocks(path, random);
    const first = turns[trial % turns.length];
    const left = readFileSync(`${path}.held`, "utf8");
    const told = new Map();
    const tellThose = (which) =>
      workers.forEach((worker, at) => {
        if (which(worker)) told.set(at, worker.tell("record", path, curator.base, `survey-${at}`));
      });
    tellThose(({ language }) => first === null || language === first);
    if (first !== null) {
      await takenOver(path, left);
      tellThose(({ language }) => language !== first);
    }
    const outcomes = await Promise.all(workers.map((_, at) => told.get(at)));
    assert.deepEqual([...outcomes].sort(), ["recorded", "recorded", "refused", "refused", "refused", "refused"], `trial ${trial}`);
    assert.equal(releasesIn(path).length, ANSWERS);
    assert.equal(decodeDevice(readFileSync(path, "utf8")).generation, ANSWERS);
    assert.deepEqual(readdirSync(directory).filter((name) => name !== KEPT_SURVEYS), ["device.json"], "no lock is left");
    // Whoever took over from the dead, before anybody of the other language was told, has recorded.
    assert.ok(first === null || outcomes.some((outcome, at) => outcome === "recorded" && workers[at].language === first), `trial ${trial}: ${first} was first`);
    rmSync(directory, { recursive: true });
  }
  await Promise.all(workers.map(({ child }) => killed(child)));
});

test("processes that are killed at any moment leave a whole ledger and no lock that lasts", { skip, timeout: 300_000 }, async () => {
  const random = mulberry(6);
  const languages = Object.keys(recorders);
  const workers = Array.from({ length: SURVEYS }, (_, at) => start(languages[at % languages.length]));
  // Every process has started before the first is killed.
  const idle = join(folder(), "device.json");
  await FileDevice.create(idle);
  await Promise.all(workers.map(({ tell }) => tell("record", idle, curator.base, "survey-0")));
  for (let trial = 0; trial < 25; trial += 1) {
    const directory = folder();
    const path = join(directory, "device.json");
    await FileDevice.create(path);
    if (random() < 0.5) leaveLocks(path, random);
    const told = workers.map(({ tell }, at) => tell("record", path, curator.base, `survey-${at}`));
    const victims = [Math.floor(random() * SURVEYS), Math.floor(random() * SURVEYS)];
    for (const at of victims) {
      await new Promise((resolve) => setTimeout(resolve, random() * 30));
      await killed(workers[at].child);
    }
    const outcomes = await Promise.all(told);
    const noted = releasesIn(path).length;
    const recorded = outcomes.filter((outcome) => outcome === "recorded").length;
    assert.ok(recorded <= noted && noted <= ANSWERS, `trial ${trial}: ${outcomes}, ${noted} noted`);
    assert.ok(outcomes.every((outcome, at) => outcome === "recorded" || outcome === "refused" || (outcome === null && victims.includes(at))), String(outcomes));
    for (const at of new Set(victims)) workers[at] = start(workers[at].language);
    // One more dead owner, and whoever replaces it finds the rest: nothing of a lock is left.
    leaveLocks(path, random);
    const client = new Client(curator.base, { device: await FileDevice.open(path) });
    await client.setBudget("3");
    // A process may have been killed before the first byte of a file of its own.
    const left = readdirSync(directory).filter((name) => name !== "device.json" && name !== KEPT_SURVEYS && !(name.endsWith(".new") && statSync(join(directory, name)).size === 0));
    assert.deepEqual(left, [], `trial ${trial}`);
    assert.equal(releasesIn(path).length, noted);
    rmSync(directory, { recursive: true });
  }
  await Promise.all(workers.map(({ child }) => killed(child)));
});

test("somebody alive is not replaced, in either language, and somebody dead is", { skip, timeout: 120_000 }, async () => {
  const path = join(folder(), "device.json");
  const device = await FileDevice.create(path);
  const client = new Client(curator.base, { device });
  const languages = Object.keys(recorders);
  for (const language of languages) {
    const holder = start(language);
    assert.equal(await holder.tell("hold", path), "held");
    await assert.rejects(client.setBudget("4"), { code: "in_use" });
    await killed(holder.child);
    await client.setBudget("5");
    for (const other of languages) {
      const second = start(language);
      assert.equal(await second.tell("hold", path), "held");
      await killed(second.child);
      const taker = start(other);
      assert.match(await taker.tell("record", path, curator.base, "survey-0"), /^(recorded|repeated)$/);
      await killed(taker.child);
    }
    assert.deepEqual(readdirSync(join(path, "..")).filter((name) => name.includes(".held")), []);
  }
  assert.equal(releasesIn(path).length, 1);
});

test("a lock that is none of ours is left alone, and two names of one file are one device", async () => {
  const directory = folder();
  const path = join(directory, "device.json");
  const device = await FileDevice.create(path);
  writeFileSync(`${path}.held`, "mine");
  await assert.rejects(new Client(curator.base, { device }).setBudget("4"), { code: "io", message: /no lock of ours/ });
  assert.equal(readFileSync(`${path}.held`, "utf8"), "mine");
  rmSync(`${path}.held`);
  const link = join(directory, "link.json");
  symlinkSync(path, link);
  const linked = await FileDevice.open(link);
  await new Client(curator.base, { device: linked }).setBudget("4");
  assert.equal((await device.load()).state.budgets.question.nats, "4");
  await assert.rejects(FileDevice.create(link), { code: "exists" });
});

test("a file that changed since it was read is not written over", async () => {
  const path = join(folder(), "device.json");
  const device = await FileDevice.create(path);
  const { state, version } = await device.load();
  assert.equal(await device.replace(version, { ...state, budgets: { ...state.budgets, question: { nats: "3", days: null } } }), true);
  assert.equal(await device.replace(version, { ...state, budgets: { ...state.budgets, question: { nats: "4", days: null } } }), false);
  assert.deepEqual([(await device.load()).state.budgets.question.nats, (await device.load()).state.generation], ["3", 1]);
});
