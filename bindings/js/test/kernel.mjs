// Independent checks of the faster paths: keep against the same channel as a table, and a false claim by one unit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Alphabet, epsilonNats, parseJson, Policy } from "../undertone.js";

/** A small seeded generator. */
function mulberry(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` integers that are multiples of `step` and sum to `one`; some may be zero. */
function parts(random, count, one, step) {
  const shares = Array.from({ length: count }, () => (random() < 0.15 ? 0 : random()));
  shares[0] += 0.1;
  const total = shares.reduce((a, b) => a + b, 0);
  const found = shares.map((share) => Math.floor((share / total) * (one / step)) * step);
  found[0] += one - found.reduce((a, b) => a + b, 0);
  return found;
}

const level = (n, d) => ({ nats: epsilonNats({ n: BigInt(n), d: BigInt(d) }), odds: [n, d] });

function context(random, k) {
  const weights = () => parts(random, k, 2 ** 32, 1);
  switch (Math.floor(random() * 5)) {
    case 0:
      return { kind: "unknown" };
    case 1:
      return { kind: "prior", weights: weights() };
    case 2:
      return { kind: "priors", list: [weights(), weights(), weights()] };
    case 3: {
      const middle = weights();
      const radius = Math.floor(random() * 2 ** 30);
      return { kind: "box", lower: middle.map((w) => Math.max(w - radius, 0)), upper: middle.map((w) => w + radius) };
    }
    default: {
      const of = parts(random, 3, 2 ** 32, 1);
      return { kind: "secret", name: "s", weights: of, rows: [weights(), weights(), weights()] };
    }
  }
}

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
    const known = context(random, k);
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
