// Every file of vectors/v1: accepted and refused alike.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  AboveConsent,
  accept,
  Consent,
  draw,
  epsilonNats,
  Exhausted,
  fromHex,
  Ledger,
  natsText,
  parseEpsilon,
  parseJson,
  parseNats,
  Policy,
  readOdds,
  Refusal,
  Report,
  Sequence,
  toHex,
} from "../undertone.js";

const root = new URL("../../../vectors/v1/", import.meta.url);
const read = (path) => parseJson(readFileSync(new URL(path, root), "utf8"));
const files = (directory) => readdirSync(new URL(`${directory}/`, root)).sort();
const plain = (value) => JSON.parse(JSON.stringify(value, (_, v) => (typeof v === "bigint" ? Number(v) : v)));

/** A generator that hands out given bytes and counts them. */
function stream(hex) {
  const bytes = fromHex(hex);
  const random = (count) => {
    assert.ok(random.consumed + count <= bytes.length, "the stream is too short");
    random.consumed += count;
    return bytes.subarray(random.consumed - count, random.consumed);
  };
  random.consumed = 0;
  return random;
}

const unlimited = new Consent({ ldp: null, lip: null });

const policies = new Map();
async function policy(name) {
  if (!policies.has(name)) policies.set(name, await Policy.fromJson(read(`policy/${name}`).document));
  return policies.get(name);
}

const [bad, good] = [[], []];
for (const name of files("policy")) (name.startsWith("bad_") ? bad : good).push(name);

test("accepted policies", async (t) => {
  assert.ok(good.length > 100, "the grid is there");
  for (const name of good) {
    await t.test(name, async () => {
      const file = read(`policy/${name}`);
      const found = await Policy.fromJson(file.document);
      assert.equal(toHex(found.bytes), file.bytes);
      assert.equal(found.id, file.id);
      assert.deepEqual(plain(found.attained), plain(file.attained));
      const again = await Policy.fromBytes(fromHex(file.bytes));
      assert.equal(again.id, file.id);
      const ordinary = JSON.parse(readFileSync(new URL(`policy/${name}`, root), "utf8")).document;
      assert.equal((await Policy.fromJson(ordinary)).id, file.id, "an ordinary parser's integers are exact too");
    });
  }
});

test("every proper prefix of canonical bytes is truncated", async () => {
  for (const name of good) {
    const { bytes } = await policy(name);
    // All prefixes of small policies, a spread of those of large ones.
    const step = Math.max(1, Math.floor(bytes.length / 400));
    for (let end = 0; end < bytes.length; end += step) {
      await assert.rejects(Policy.fromBytes(bytes.subarray(0, end)), { reason: "truncated" }, `${name} cut at ${end}`);
    }
  }
});

test("refused policies", async (t) => {
  assert.ok(bad.length > 150, "the refusals are there");
  for (const name of bad) {
    await t.test(name, async () => {
      const file = read(`policy/${name}`);
      const reading = async () => {
        if ("bytes" in file) return Policy.fromBytes(fromHex(file.bytes));
        return Policy.fromJson("text" in file ? file.text : file.document);
      };
      if (file.stage === "decode") {
        await assert.rejects(reading, { name: "DecodeError", reason: file.error });
        return;
      }
      const refusal = await reading().then(
        () => assert.fail("it was accepted"),
        (error) => error,
      );
      assert.ok(refusal instanceof Refusal, String(refusal));
      const { claim, side, attained, allowed } = refusal;
      const expected = plain(file.refusal);
      // Where several cells tie another might be named; this reader goes through them in the kernel's order.
      assert.deepEqual({ claim, side, attained, allowed, cell: refusal.cell }, expected);
    });
  }
});

test("drawing", async (t) => {
  for (const name of files("draw")) {
    await t.test(name, async () => {
      const file = read(`draw/${name}`);
      const drawn = await policy(file.policy);
      assert.equal(toHex(drawn.bytes), file.bytes);
      for (const item of file.cases) {
        const random = stream(item.stream);
        const { token, bits } = draw(drawn, Number(item.symbol), random);
        if ("bits" in item) assert.equal(toHex(bits), item.bits);
        else assert.equal(token, Number(item.token));
        assert.equal(random.consumed, Number(item.consumed));
      }
    });
  }
});

test("reports", async (t) => {
  for (const name of files("report").filter((name) => !name.startsWith("bad_"))) {
    await t.test(name, async () => {
      const file = read(`report/${name}`);
      const random = stream(file.stream);
      const made = Report.draw(await policy(file.policy), Number(file.symbol), random);
      assert.equal(random.consumed, Number(file.consumed));
      assert.deepEqual(made.toJSON(), plain(file.report));
      assert.equal(toHex(made.toBytes()), file.bytes);
      assert.deepEqual(Report.fromBytes(fromHex(file.bytes)), made);
      assert.deepEqual(Report.fromJson(file.report), made);
      accept(await policy(file.policy), made);
    });
  }
  for (const name of files("report").filter((name) => name.startsWith("bad_"))) {
    await t.test(name, async () => {
      const file = read(`report/${name}`);
      const readers = [];
      if ("bytes" in file) readers.push(() => Report.fromBytes(fromHex(file.bytes)));
      if ("report" in file) readers.push(() => Report.fromJson(file.report));
      if ("text" in file) readers.push(() => Report.fromJson(file.text));
      assert.ok(readers.length > 0);
      for (const reading of readers) {
        if (file.stage === "decode") {
          assert.throws(reading, { name: "DecodeError", reason: file.error });
        } else {
          const owner = await policy(file.policy);
          assert.throws(() => accept(owner, reading()), { name: "Foreign", reason: file.error });
        }
      }
    });
  }
});

test("epsilon", () => {
  const file = read("epsilon.json");
  for (const { text, odds, nats } of file.parsed) {
    const found = parseEpsilon(text);
    assert.deepEqual([found.n, found.d], odds, text);
    assert.equal(epsilonNats(found), nats, text);
  }
  for (const { odds, nats } of file.written) assert.equal(epsilonNats({ n: odds[0], d: odds[1] }), nats);
  for (const { text, error } of file.bad_texts) assert.throws(() => parseEpsilon(text), { reason: error }, text);
  for (const item of file.bad_odds) {
    const pair = item.odds ?? item;
    assert.throws(() => readOdds(pair), { reason: "epsilon" }, String(pair));
  }
});

test("ledger", async () => {
  const file = read("ledger.json");
  const shown = (units) => (units === null ? "unbounded" : natsText(units));
  for (const { about, budget, steps } of file.sequences) {
    const ledger = new Ledger(parseNats(budget));
    for (const step of steps) {
      const asked = await policy(step.policy);
      const past = new Sequence();
      if (step.earlier !== null) past.untold(await policy(step.earlier));
      let outcome;
      try {
        outcome = ledger[step.call](step.datum, asked, past, unlimited);
      } catch (error) {
        assert.ok(error instanceof Exhausted, String(error));
        outcome = error.outcome;
      }
      assert.equal(outcome, step.outcome, about);
      assert.equal(shown(asked.cost), step.cost, about);
      assert.equal(shown(ledger.spent(step.datum)), step.spent, about);
    }
  }
  for (const { spent, prior, lip } of file.consequences) {
    const ledger = new Ledger(0n, new Map([["x", [{ policy: "", cost: spent === "unbounded" ? null : parseNats(spent) }]]]));
    const found = ledger.lipConsequence("x", prior.weights ?? prior);
    assert.equal(shown(found), lip, spent);
  }
});

/** What a ledger with an unlimited budget says, in one word. */
function outcomeOf(noted, next, past, consent) {
  try {
    return new Ledger(1n << 64n, new Map([["datum", noted]])).spend("datum", next, past, consent);
  } catch (error) {
    if (error instanceof AboveConsent) return `consent_${error.number}`;
    assert.ok(error instanceof Exhausted, String(error));
    return error.outcome;
  }
}

test("sequences", async (t) => {
  const names = files("sequence");
  assert.ok(names.filter((name) => name.startsWith("bad_")).length > 30 && names.length > 45, "they are there");
  for (const name of names) {
    await t.test(name, async () => {
      const { past: entries, next: asked, standing, consent, outcome } = read(`sequence/${name}`);
      const next = await policy(asked);
      const [past, noted] = [new Sequence(), []];
      for (const entry of entries) {
        const earlier = await policy(entry.policy);
        noted.push({ policy: earlier.id, cost: earlier.cost });
        if ("cost" in entry) past.forgotten({ policy: earlier.id, cost: entry.cost === "unbounded" ? null : parseNats(entry.cost) });
        else if ("token" in entry || "bits" in entry) {
          const answer = "bits" in entry ? { bits: entry.bits } : { token: entry.token };
          past.released(earlier, Report.fromJson({ undertone: "report/1", policy: earlier.id, id: "07".repeat(16), ...answer }));
        } else past.untold(earlier);
      }
      assert.deepEqual(JSON.parse(JSON.stringify(past.after(next))), plain(standing));
      const secrets = Object.entries(consent.secrets).map(([secret, ldp]) => ({ name: secret, ldp }));
      const agreed = new Consent({ ldp: consent.ldp, lip: consent.lip, secrets });
      assert.equal(outcomeOf(noted, next, past, agreed), outcome);
      assert.equal(outcome !== "fresh", name.startsWith("bad_"));
    });
  }
});
