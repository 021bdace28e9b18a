// Random policies that release blocks, in every context, with claims that are false, so that what is attained is told.

import { randomContext } from "./random.mjs";

const upTo = (random, least, most) => least + Math.floor(random() * (most - least + 1));
const pick = (random, list) => list[Math.floor(random() * list.length)];

/** Fields and the classes that divide their elements other than nought. */
const FIELDS = [
  [2, [1]],
  [3, [1, 2]],
  [4, [1, 3]],
  [5, [1, 2, 4]],
  [7, [1, 2, 3, 6]],
  [8, [1, 7]],
  [9, [1, 2, 4, 8]],
  [16, [1, 3, 5]],
  [25, [1, 3, 8]],
  [27, [1, 13]],
];

/** A family of blocks, and the fewest and the most symbols it goes with. */
export function randomFamily(random) {
  const kind = random();
  if (kind < 0.25) {
    const symbols = upTo(random, 2, 12);
    return [{ kind: "subsets", size: upTo(random, 1, symbols - 1) }, symbols, symbols];
  }
  const [order, classes] = pick(random, FIELDS);
  const dimension = upTo(random, 2, order < 4 ? 4 : order < 10 ? 3 : 2);
  if (kind < 0.45) return [{ kind: "hashing", buckets: order, dimension: dimension - 1 }, 2, order ** (dimension - 1)];
  if (kind < 0.55) {
    // A block for every symbol that lacks it; a block may be empty, or everything.
    const symbols = upTo(random, 2, 6);
    const all = Array.from({ length: symbols }, (_, x) => x);
    const blocks = [...all.map((x) => all.filter((z) => z !== x)), [], all].sort(() => random() - 0.5);
    return [{ kind: "listed", blocks }, symbols, symbols];
  }
  const [division, zero] = [pick(random, classes), random() < 0.5];
  const cosets = upTo(random, zero ? 0 : 1, zero ? division - 1 : division);
  const points = (order ** dimension - 1) / (order - 1);
  return [{ kind: "geometry", order, dimension, classes: division, cosets, zero }, 2, points];
}

const NOTHING = { nats: "0", odds: [1, 1] };
const MOST = { nats: "22.1807097777", odds: [2 ** 32 - 1, 1] };

/** A policy document whose one claim is nearly always false. */
export function randomBlocks(random) {
  const [family, least, room] = randomFamily(random);
  const symbols = upTo(random, least, Math.min(room, random() < 0.9 ? 40 : room));
  const coin = random() < 0.05 ? 0 : random() < 0.05 ? 2 ** 48 : random() < 0.3 ? upTo(random, 1, 15) * 2 ** 44 : Math.floor(random() * 2 ** 48);
  const assumed = randomContext(random, symbols, "hidden");
  const about = assumed.kind === "secret" && random() < 0.5 ? "secret" : "input";
  const kinds = [{ notion: "ldp", epsilon: NOTHING }];
  if (assumed.kind !== "unknown") kinds.push({ notion: "alip", lower: MOST, upper: NOTHING }, { notion: "alip", lower: NOTHING, upper: MOST });
  if (assumed.kind === "prior" || assumed.kind === "priors") kinds.push({ notion: "di", epsilon: NOTHING });
  const claim = { about, ...pick(random, kinds) };
  return { undertone: "policy/1", claims: [claim], context: assumed, inputs: { indices: symbols }, channel: { shape: "incidence", symbols, coin, family } };
}
