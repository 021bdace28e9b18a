// Frequent values of open sets: every document of vectors/hitters-1.json, accepted and refused alike, and the reports drawn under them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { HittersPlan, NoCode } from "../hitters.js";
import { fromHex } from "../undertone.js";

const { good, bad } = JSON.parse(readFileSync(new URL("../../../vectors/hitters-1.json", import.meta.url), "utf8"));

/** Gives out these bytes and no more. */
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

for (const one of good) {
  test(`${one.values}: documents, hashes and reports are those of Rust`, async () => {
    const plan = await HittersPlan.fromJson(one.document);
    assert.deepEqual([plan.id, plan.prefixes, plan.hashBits, plan.seedBits, plan.reportBytes], [one.id, one.prefixes, one.hash_bits, one.seed_bits, one.report_bytes]);
    for (const { round, seed, value, symbol } of one.hashes) assert.equal(plan.symbol(round, fromHex(seed), value), symbol, `${value} in round ${round}`);
    for (const { value, reason } of one.no_code) {
      const refused = (error) => error instanceof NoCode && error.reason === reason && (value === "" || !error.message.includes(value));
      assert.throws(() => plan.report(value), refused, value);
    }
    for (const { random, value, report } of one.draws) {
      const given = stream(random);
      assert.equal(plan.report(value, given), report);
      assert.equal(given.consumed, random.length / 2);
    }
    // The system's randomness serves as well.
    assert.equal(plan.report(one.draws[0].value).length, 2 * one.report_bytes);
  });
}

test("documents that were changed are refused", async () => {
  const refused = (error) => ["DecodeError", "PlanRefusal", "PolicyRefused"].includes(error.name);
  for (const { from, to } of bad) {
    const changed = good[0].document.replace(from, () => to);
    assert.notEqual(changed, good[0].document);
    await assert.rejects(HittersPlan.fromJson(changed), refused, to);
  }
  for (const text of ["", "[]", "{}", "null", '{"undertone":"hitters/1"}']) await assert.rejects(HittersPlan.fromJson(text), refused, text);
  assert.throws(() => new HittersPlan());
});
