// Families of blocks against their definitions: who is in which block, in which order blocks are numbered, and sums over all of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { draw, Policy } from "../undertone.js";
import { makeIncidence } from "../kernel/incidence.js";
import { randomFamily } from "./lib/blocks.mjs";
import { mulberry } from "./lib/random.mjs";

const SEED = 18;

/** Random families whose blocks are numbered, with as many symbols as there is room for, or fewer. */
function* numbered(count) {
  const random = mulberry(SEED);
  for (let found = 0; found < count; ) {
    const [family, least, room] = randomFamily(random);
    const symbols = Math.max(least, random() < 0.5 ? room : Math.ceil(room * random()));
    if (family.kind === "subsets" || symbols > 200) continue;
    found += 1;
    yield { family, symbols, ...makeIncidence(symbols, 1n << 47n, family) };
  }
}

test("every block of a kind has one number", () => {
  for (const { members, symbols, family } of numbered(150)) {
    for (let x = 0; x < symbols; x += Math.ceil(symbols / 7)) {
      for (const inside of [true, false]) {
        const count = inside ? members.replication : members.blocks - members.replication;
        const found = Array.from({ length: count }, (_, number) => members.nth(x, inside, number)).sort((a, b) => a - b);
        const expected = Array.from({ length: members.blocks }, (_, block) => block).filter((block) => members.contains(block, x) === inside);
        assert.deepEqual(found, expected, `${JSON.stringify(family)} ${x} ${inside}`);
      }
    }
  }
});

test("sums over all blocks are sums", () => {
  for (const { members, symbols, family } of numbered(150)) {
    // Weights that no symmetry forgives.
    const weights = Float64Array.from({ length: symbols }, (_, x) => 1 + ((x * x * 7919) % 10_007));
    const expected = Array.from({ length: members.blocks }, (_, block) => weights.reduce((sum, weight, x) => sum + (members.contains(block, x) ? weight : 0), 0));
    assert.deepEqual(Array.from(members.blockSums(weights)), expected, JSON.stringify(family));
  }
});

const vague = { notion: "ldp", about: "input", epsilon: { nats: "22.1807097777", odds: [2 ** 32 - 1, 1] } };

/** A policy over many symbols under a prior that falls off. */
function large(symbols, family) {
  const weights = Array.from({ length: symbols }, (_, x) => Math.floor(2 ** 32 / (20 * (x + 10))));
  weights[0] += 2 ** 32 - weights.reduce((a, b) => a + b, 0);
  const channel = { shape: "incidence", symbols, coin: 3 * 2 ** 46, family };
  return { undertone: "policy/1", claims: [vague], context: { kind: "prior", weights }, inputs: { indices: symbols }, channel };
}

test("a hundred thousand symbols are verified under a prior, and drawn from", async () => {
  const families = [
    { kind: "geometry", order: 2, dimension: 17, classes: 1, cosets: 0, zero: true },
    { kind: "geometry", order: 47, dimension: 4, classes: 1, cosets: 0, zero: true },
    { kind: "geometry", order: 7, dimension: 7, classes: 3, cosets: 1, zero: false },
    { kind: "hashing", buckets: 4, dimension: 9 },
    { kind: "subsets", size: 30_000 },
  ];
  for (const family of families) {
    const policy = await Policy.fromJson(large(100_000, family));
    const { channel } = policy.draft;
    for (const symbol of [0, 1, 54_321, 99_999]) {
      const { token, bits } = draw(policy, symbol);
      if (bits === undefined) assert.ok(token < channel.outputs);
      else assert.equal(bits.reduce((count, byte) => count + byte.toString(2).replaceAll("0", "").length, 0), 30_000);
    }
  }
});

test("coins that are certain release what they say", async () => {
  const random = mulberry(SEED);
  const bytes = (count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
  for (const { family, symbols, members } of numbered(60)) {
    for (const inside of [true, false]) {
      const channel = makeIncidence(symbols, inside ? 1n << 48n : 0n, family);
      const policy = { draft: { channel } };
      for (let x = 0; x < symbols; x += 1) assert.equal(members.contains(draw(policy, x, bytes).token, x), inside);
    }
  }
});
