// Independent checks of the faster paths: keep against the same channel as a table, and a false claim by one unit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Alphabet, epsilonNats, parseJson, Policy } from "../undertone.js";
import { mulberry, parts, randomContext } from "./lib/random.mjs";

const level = (n, d) => ({ nats: epsilonNats({ n: BigInt(n), d: BigInt(d) }), odds: [n, d] });

test("keep attains what the same channel attains as a table", async () => {
  const random = mulberry(7);
  const kinds = new Set();
  for (let round = 0; round < 300; round += 1) {
    const k = 1 + Math.floor(random() * 6);
    // Multiples that make every likelihood a multiple of 2^-48.
    const keep = Array.from({ length: k }, () => (random() < 0.1 ? 0 : Math.floor(random() * 2 ** 20) * 2 ** 20));
    const base = parts(random, k, 2 ** 48, 2 ** 20);
    const masses = keep.map((kept, x) =>
      base.map((b, y) => Number((BigInt(2 ** 40 - kept) * BigInt(b) + (x === y ? BigInt(kept) << 48n : 0n)) >> 40n)),
    );
    const known = randomContext(random, k);
    kinds.add(known.kind);
    const delta = 2 ** 48 - 1;
    const [n, d] = [3 + Math.floor(random() * 50), 3];
    const epsilon = level(n, d);
    const claims = [{ notion: "ldp", about: "input", epsilon, delta }];
    if (known.kind !== "unknown") claims.push({ notion: "alip", about: "input", lower: level(n + 1, d), upper: epsilon, delta });
    if (known.kind === "secret") claims.push({ notion: "lip", about: "secret", epsilon, delta }, { notion: "ldp", about: "secret", epsilon, delta });
    const document = { undertone: "policy/1", claims, context: known, inputs: { indices: k } };
    // A least delta of exactly one is above what can be claimed: both shapes must say so alike.
    const attained = (channel) =>
      Policy.fromJson({ ...document, channel }).then(
        (policy) => policy.attained,
        (refusal) => [refusal.name, refusal.claim, refusal.side, refusal.attained],
      );
    assert.deepEqual(await attained({ shape: "keep", keep, base }), await attained({ shape: "table", masses }), JSON.stringify(document));
  }
  assert.equal(kinds.size, 5);
});

test("identifiability of keep is that of the same table", async () => {
  const random = mulberry(11);
  for (let round = 0; round < 200; round += 1) {
    const k = 2 + Math.floor(random() * 5);
    const keep = Array.from({ length: k }, () => Math.floor(random() * 2 ** 20) * 2 ** 20);
    const base = parts(random, k, 2 ** 48, 2 ** 20);
    const masses = keep.map((kept, x) =>
      base.map((b, y) => Number((BigInt(2 ** 40 - kept) * BigInt(b) + (x === y ? BigInt(kept) << 48n : 0n)) >> 40n)),
    );
    const weights = parts(random, k, 2 ** 32, 1);
    // Odds of one are false for nearly every channel, and the refusal says what is attained.
    const claims = [{ notion: "di", about: "input", epsilon: level(1, 1) }];
    const document = { undertone: "policy/1", claims, context: { kind: "prior", weights }, inputs: { indices: k } };
    const refusal = (channel) => Policy.fromJson({ ...document, channel }).then(() => "accepted", ({ attained }) => attained);
    assert.equal(await refusal({ shape: "keep", keep, base }), await refusal({ shape: "table", masses }));
  }
});

test("strict JSON", () => {
  const good = [["9007199254740993", 9007199254740993n], ["[1, 2.5, -3]", [1n, 2.5, -3]], [' {"a" : null } ', { a: null }], ['"\\u00e9\\n"', "é\n"]];
  for (const [text, value] of good) assert.deepEqual(JSON.stringify(parseJson(text), big), JSON.stringify(value, big));
  const bad = ["", "{", '{"a":1,"a":2}', "[1,]", "01", "1.", "+1", "nul", '"\u0001"', '"\\ud800"', "[1] 2", "'a'", "NaN", "[".repeat(200) + "]".repeat(200)];
  for (const text of bad) assert.throws(() => parseJson(text), { reason: "json" }, text);
});

const big = (_, value) => (typeof value === "bigint" ? `${value}n` : value);

test("what has no symbol is refused and not repeated", () => {
  const number = (digits, scale) => ({ digits, scale });
  const points = Alphabet.points([number(0n, 0), number(1n, 0)]);
  const bins = Alphabet.bins([number(0n, 0), number(1n, 0)], [number(5n, 1)]);
  for (const alphabet of [Alphabet.names(["well"]), Alphabet.indices(3), points, bins]) {
    const refused = (error) => error.message.includes("not in the alphabet") && !error.message.includes("diabetes");
    assert.throws(() => alphabet.symbol("diabetes"), refused);
  }
});

test("a policy cannot be made without verifying", () => {
  assert.throws(() => new Policy(Symbol("forged"), {}, new Uint8Array(), "", {}), TypeError);
});
