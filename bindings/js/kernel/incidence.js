/**
 * The shape incidence: a coin decides whether the released block of symbols contains the input, then one block of that kind is taken. Blocks are those of a
 * family: all subsets of a size, released as bits, or blocks that are numbered.
 */

import { MAX_SYMBOLS } from "./alphabet.js";
import { refuse } from "./errors.js";
import { ceilDiv, MASS_ONE } from "./exact.js";
import { Geometry } from "./geometry.js";
import { Listed } from "./listed.js";

const INDEX_ONE = 1n << 64n;

/** For each kind of family, the numbered blocks it stands for. */
const numbered = {
  subsets: () => null,
  geometry: ({ order, dimension, classes, cosets, zero }) => new Geometry(order, dimension, classes, cosets, zero, false),
  hashing: ({ buckets, dimension }) => new Geometry(buckets, dimension + 1, 1, 0, true, true),
  listed: ({ blocks }, symbols) => new Listed(symbols, blocks),
};

/** How many elements of a subset are drawn from the symbols other than the input. */
const drawnOf = ({ size }, inside) => (inside ? size - 1 : size);

/** The likelihoods of a block from inside and outside, each rounded down and up: of numbered blocks in units of 2^-112, of subsets in a unit of their own. */
function levelsOf(symbols, coin, family, members) {
  const level = (inside) => {
    const chance = inside ? coin : MASS_ONE - coin;
    if (members !== null) {
      const kind = BigInt(inside ? members.replication : members.blocks - members.replication);
      return [chance * (INDEX_ONE / kind), chance * ceilDiv(INDEX_ONE, kind)];
    }
    const [others, drawn] = [BigInt(symbols - 1), BigInt(drawnOf(family, inside))];
    const left = INDEX_ONE - (drawn * others - (drawn * (drawn > 0n ? drawn - 1n : 0n)) / 2n);
    const value = (chance * BigInt(inside ? symbols - family.size : family.size)) << 24n;
    return [(value * left) >> 64n, ceilDiv(value << 64n, left)];
  };
  const [inside, outside] = [level(true), level(false)];
  return { inside, outside, exact: inside[0] === inside[1] && outside[0] === outside[1] };
}

/** The shape incidence; `coin` is in units of 2^-48, `family` has the fields of a document. */
export function makeIncidence(symbols, coin, family) {
  if (symbols < 2 || symbols > MAX_SYMBOLS) refuse("channel", `blocks tell 2 to ${MAX_SYMBOLS} symbols apart`);
  if (coin > MASS_ONE) refuse("channel", "the coin is above one");
  if (family.kind === "subsets" && (family.size < 1 || family.size >= symbols)) refuse("channel", "subsets are neither empty nor everything");
  const members = numbered[family.kind](family, symbols);
  if (members instanceof Geometry && members.points < symbols) refuse("channel", `the geometry has ${members.points} points for ${symbols} symbols`);
  const levels = levelsOf(symbols, coin, family, members);
  return { shape: "incidence", inputs: symbols, outputs: members === null ? symbols : members.blocks, coin, family, members, levels };
}

/** About how many steps it takes to check blocks under so many laws of the input, or about a secret with so many values. */
export function checkSteps({ inputs, members }, laws, secret) {
  if (members !== null) return laws * members.sumSteps;
  return secret ? laws * (laws + 2) * 256 * inputs : laws * 32 * inputs;
}

/** Whether a channel releases one bit per symbol instead of an index. */
export const releasesBits = ({ shape, members }) => shape === "bits" || (shape === "incidence" && members === null);

/** Whether an answer's block contains a symbol: `{ token }` is its number, `{ bits }` a subset. */
export const isInside = ({ members }, { token, bits }, x) => (members === null ? (bits[x >> 3] & (0x80 >> (x & 7))) !== 0 : members.contains(token, x));

/** Whether packed bits are one of the subsets of a family. */
export function isSubset({ family }, bits) {
  let set = 0;
  for (const byte of bits) for (let rest = byte; rest > 0; rest &= rest - 1) set += 1;
  return set === family.size;
}

/** An index below `count` from eight bytes: floor(v count / 2^64). */
function indexBelow(bytes, count) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
  return Number((view.getBigUint64(0) * BigInt(count)) >> 64n);
}

/** Draws a block: 6 bytes for the coin, then 8 for the index; for subsets 8 for each of their elements, all of which are read. */
export function drawBlock(channel, symbol, random) {
  const { coin, family, members, inputs } = channel;
  const inside = random(6).reduce((value, byte) => 256 * value + byte, 0) < Number(coin);
  if (members !== null) {
    const kind = inside ? members.replication : members.blocks - members.replication;
    return { token: members.nth(symbol, inside, indexBelow(random(8), kind)) };
  }
  const bits = new Uint8Array(Math.ceil(inputs / 8));
  const indices = random(8 * family.size);
  // Candidates skip the input itself.
  const place = (candidate) => (candidate >= symbol ? candidate + 1 : candidate);
  const drawn = drawnOf(family, inside);
  for (let at = 0; at < drawn; at += 1) {
    const last = inputs - 1 - drawn + at;
    const candidate = place(indexBelow(indices.subarray(8 * at), last + 1));
    const taken = bits[candidate >> 3] & (0x80 >> (candidate & 7)) ? place(last) : candidate;
    bits[taken >> 3] |= 0x80 >> (taken & 7);
  }
  if (inside) bits[symbol >> 3] |= 0x80 >> (symbol & 7);
  return { bits };
}
