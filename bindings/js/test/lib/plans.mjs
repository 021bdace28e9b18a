// Random plans, and what they attain by the definition: every combination of values, every set of items, every outcome, in fractions.

import { check } from "../../kernel/certificate.js";
import { lnUp, ratioNats } from "../../kernel/exact.js";
import { listedAnswers } from "../../kernel/frame.js";
import { viewOf } from "../../kernel/likelihood.js";
import { planFromFields } from "../../kernel/plan/document.js";
import { parts } from "./random.mjs";

const upTo = (random, least, most) => least + Math.floor(random() * (most - least + 1));
/** Masses of which some are nought, some are tiny and many are simple fractions, whose products need no rounding. */
function masses(random, count, empty) {
  const step = random() < 0.3 ? 2 ** 44 : random() < 0.2 ? 2 ** 20 : 1;
  return parts(random, count, 2 ** 48, step, empty);
}

/** A family of blocks with room for some symbols. */
function family(random, size) {
  const kind = random();
  if (kind < 0.3 || size < 2) return { kind: "subsets", size: upTo(random, 1, Math.max(1, size - 1)) };
  if (kind < 0.6) return { kind: "hashing", buckets: [2, 3, 4, 5][upTo(random, 0, 3)], dimension: upTo(random, size > 5 ? 3 : 2, 3) };
  if (kind < 0.7) return { kind: "listed", blocks: [[], ...Array.from({ length: size }, (_, x) => Array.from({ length: size }, (_x, z) => z).filter((z) => z !== x))] };
  const [order, classes] = [[2, 1], [3, 2], [4, 3], [5, 4], [7, 3], [8, 7], [9, 4]][upTo(random, 0, 6)];
  const cosets = upTo(random, 0, classes);
  return { kind: "geometry", order, dimension: upTo(random, size > 3 ? 3 : 2, 3), classes, cosets, zero: cosets === 0 || (cosets < classes && random() < 0.5) };
}

function channel(random, size, blocks) {
  if (blocks && size > 1 && random() < 0.4) {
    const coin = random() < 0.1 ? 0 : random() < 0.1 ? 2 ** 48 : random() < 0.3 ? 2 ** 47 : Math.floor(random() * 2 ** 48);
    return { shape: "incidence", symbols: size, coin, family: family(random, size) };
  }
  const kind = random();
  if (kind < 0.6) {
    const outputs = upTo(random, random() < 0.1 ? 1 : 2, 3);
    return { shape: "table", masses: Array.from({ length: size }, () => masses(random, outputs, 0.08)) };
  }
  if (kind < 0.8) {
    const keep = Array.from({ length: size }, () => (random() < 0.1 ? 2 ** 40 : Math.floor(random() * 2 ** 40)));
    return { shape: "keep", keep, base: masses(random, size, 0.1) };
  }
  const part = () => (random() < 0.12 ? 0 : random() < 0.12 ? 2 ** 32 : Math.floor(random() * 2 ** 32));
  return { shape: "bits", symbols: size, own: part(), other: part() };
}

/** A claim that holds for nearly every table; what is refused by itself is of no interest where plans are compared with their definition. */
const vague = { notion: "ldp", about: "input", epsilon: { nats: "22.1807097777", odds: [2 ** 32 - 1, 1] } };

function policy(random, inputs, blocks) {
  const made = channel(random, inputs.indices, blocks);
  const outputs = made.shape === "table" ? { outputs: { indices: made.masses[0].length } } : {};
  return { undertone: "policy/1", claims: [vague], context: { kind: "unknown" }, inputs, ...outputs, channel: made };
}

/** A tree over variables: some are roots, the parent may come before or after. */
function tree(random, names, sizes, binaryChance) {
  const order = names.map((_, v) => v).sort(() => random() - 0.5);
  const positive = (rows, size) => rows.every((row) => row.length === size) && Array.from({ length: size }, (_, z) => rows.some((row) => row[z] > 0)).every(Boolean);
  const nodes = new Array(names.length);
  order.forEach((v, at) => {
    const parent = at > 0 && random() < binaryChance ? order[Math.floor(random() * at)] : null;
    const count = parent === null ? 1 : sizes[parent];
    let rows;
    do rows = Array.from({ length: count }, () => masses(random, sizes[v], parent === null ? 0 : 0.12));
    while (!positive(rows, sizes[v]));
    nodes[v] = parent === null ? { weights: rows[0] } : { parent: names[parent], rows };
  });
  return { kind: "tree", nodes };
}

function points(random, sizes) {
  let all = [[]];
  for (const size of sizes) all = all.flatMap((values) => Array.from({ length: size }, (_, x) => [...values, x]));
  for (;;) {
    const taken = all.filter(() => random() < 0.7);
    if (sizes.some((size, v) => !Array.from({ length: size }, (_, x) => taken.some((values) => values[v] === x)).every(Boolean))) continue;
    const weights = parts(random, taken.length, 2 ** 48, 1, 0).map((weight, at, list) => (weight > 0 ? weight : at === 0 ? list[0] : 1));
    weights[0] += 2 ** 48 - weights.reduce((a, b) => a + b, 0);
    return { kind: "points", points: taken.map((values, at) => ({ weight: weights[at], values })) };
  }
}

/** A plan of at most five items that claims hardly anything; with `blocks`, some items release blocks. */
export function randomPlan(random, { kind = null, combined = random() < 0.3, binary = random() < 0.5, most = 5, blocks = false } = {}) {
  const count = upTo(random, 1, most - 1);
  const size = () => (binary ? 2 : random() < 0.08 ? 1 : upTo(random, 2, 3));
  const questions = Array.from({ length: count }, (_, q) => ({ name: `q${q}`, wording: `Question ${q}?`, answers: { indices: size() } }));
  const secrets = random() < 0.4 ? [{ name: "hidden", values: { indices: size() } }] : [];
  const sizes = [...questions.map(({ answers }) => answers.indices), ...secrets.map(({ values }) => values.indices)];
  const names = [...questions, ...secrets].map(({ name }) => name);
  const law = (kind ?? (random() < 0.7 ? "tree" : "points")) === "tree" ? tree(random, names, sizes, random() < 0.2 ? 0.3 : 0.95) : points(random, sizes);
  const items = [];
  const policies = [];
  const add = (asked) => {
    const symbols = asked.reduce((product, q) => product * sizes[q], 1);
    items.push({ questions: asked.map((q) => names[q]), policy: policies.length });
    policies.push(policy(random, { indices: symbols }, blocks));
  };
  let q = 0;
  while (q < count) {
    if (combined && q + 1 < count && random() < 0.6) {
      add([q, q + 1]);
      q += random() < 0.3 ? 1 : 2;
    } else {
      add([q]);
      q += 1;
    }
  }
  while (items.length < most && random() < 0.4) add([Math.floor(random() * count)]);
  const plan = { undertone: "plan/1", claims: [{ about: "person", notion: "ldp", nats: "999999999" }], questions, secrets, law, items, asked: 0, policies };
  if (items.length > 1 && random() < 0.6) {
    const weighty = items.filter(() => random() < 0.7);
    if (weighty.length > 1) {
      for (const item of weighty) item.weight = upTo(random, 1, 1000);
      plan.asked = upTo(random, 1, weighty.length - 1);
    }
  }
  return plan;
}

/** A plan's draft, and its items as the checks see them, whether or not its policies and claims hold. */
export function unchecked(document) {
  const draft = planFromFields(document).make();
  const items = draft.items.map(({ questions, policy: which, fresh, weight }, index) => {
    const { channel: made } = draft.policies[which];
    const { ratio } = check(viewOf(made), made, { kind: "unknown", inputs: null }, []).input.ldp;
    return { index, questions, weight, fresh, channel: made, ratio, cost: ratioNats(ratio), outputs: listedAnswers(made) };
  });
  return { draft, items };
}

// ---------------------------------------------------------------- by definition

/** The probability of each answer of a policy for each input, as integers over one denominator; bits as all their patterns. */
function rowsOf({ channel: made }) {
  if (made.shape === "table") return made.masses.map((row) => row.map(BigInt));
  if (made.shape === "keep") return made.keep.map((kept, x) => made.base.map((b, y) => (x === y ? BigInt(kept) << 48n : 0n) + BigInt(2 ** 40 - kept) * BigInt(b)));
  const [own, other, one] = [BigInt(made.own), BigInt(made.other), 1n << 32n];
  return Array.from({ length: made.symbols }, (_, x) =>
    Array.from({ length: 2 ** made.symbols }, (_y, y) =>
      Array.from({ length: made.symbols }, (_b, i) => {
        const chance = i === x ? own : other;
        return (y >> i) & 1 ? chance : one - chance;
      }).reduce((a, b) => a * b),
    ),
  );
}

/** Every combination of values with its probability as an integer over one denominator. */
export function jointLaw({ questions, secrets = [], law }) {
  const variables = [...questions, ...secrets];
  if (law.kind === "points") return law.points.map(({ weight, values }) => ({ weight: BigInt(weight), values: values.map(Number) }));
  const sizes = variables.map(({ answers, values }) => (answers ?? values).indices);
  let all = [[]];
  for (const size of sizes) all = all.flatMap((values) => Array.from({ length: size }, (_, x) => [...values, x]));
  const at = (name) => variables.findIndex((one) => one.name === name);
  const chance = (values, node, v) => BigInt(node.weights ? node.weights[values[v]] : node.rows[values[at(node.parent)]][values[v]]);
  return all.map((values) => ({ values, weight: law.nodes.reduce((product, node, v) => product * chance(values, node, v), 1n) }));
}

/** The sets of items a person can answer, by the definition: all without a weight, and any of the others up to `asked`. */
export function answerable({ items, asked = 0 }) {
  let sets = [[]];
  items.forEach((item, at) => {
    sets = sets.flatMap((set) => (item.weight ? [set, [...set, at]] : [[...set, at]]));
  });
  return sets.filter((set) => set.filter((at) => items[at].weight).length <= asked);
}

const above = (a, b) => a.n * b.d > b.n * a.d;

/** The largest rise and fall of belief in a variable over all outcomes of some sets of items, as printed nats; null without bound. */
export function bruteBelief(plan, variable, sets) {
  const { questions, items, policies } = plan;
  const law = jointLaw(plan);
  const size = [...questions, ...(plan.secrets ?? [])].map(({ answers, values }) => (answers ?? values).indices)[variable];
  const before = new Array(size).fill(0n);
  for (const { weight, values } of law) before[values[variable]] += weight;
  const one = before.reduce((a, b) => a + b);
  const channels = items.map((item) => {
    const rows = rowsOf(policies[item.policy]);
    const asked = item.questions.map((name) => questions.findIndex((question) => question.name === name));
    return law.map(({ values }) => rows[asked.reduce((symbol, q) => symbol * questions[q].answers.indices + values[q], 0)]);
  });
  let [rise, fall] = [{ n: 1n, d: 1n }, { n: 1n, d: 1n }];
  const judge = (vector) => {
    const joint = new Array(size).fill(0n);
    vector.forEach((mass, point) => {
      joint[law[point].values[variable]] += mass;
    });
    const total = joint.reduce((a, b) => a + b);
    if (total === 0n) return;
    joint.forEach((mass, a) => {
      const [up, down] = [{ n: mass * one, d: before[a] * total }, { n: total * before[a], d: mass * one }];
      if (above(up, rise)) rise = up;
      if (fall.d !== 0n && (down.d === 0n || above(down, fall))) fall = down;
    });
  };
  const visit = (set, depth, vector) => {
    if (depth === set.length) return judge(vector);
    const rows = channels[set[depth]];
    for (let y = 0; y < rows[0].length; y += 1) visit(set, depth + 1, vector.map((mass, point) => mass * rows[point][y]));
  };
  const start = law.map(({ weight }) => weight);
  for (const set of sets) visit(set, 0, start);
  return { upper: lnUp(rise.n, rise.d), lower: fall.d === 0n ? null : lnUp(fall.n, fall.d) };
}

/** The largest ratio of the likelihoods of everything sent, for any two persons, as printed nats; null without bound. */
export function bruteLdp({ questions, items, policies, ...plan }) {
  let all = [[]];
  for (const { answers } of questions) all = all.flatMap((values) => Array.from({ length: answers.indices }, (_, x) => [...values, x]));
  const rows = items.map((item) => {
    const likelihoods = rowsOf(policies[item.policy]);
    const asked = item.questions.map((name) => questions.findIndex((question) => question.name === name));
    return all.map((values) => likelihoods[asked.reduce((symbol, q) => symbol * questions[q].answers.indices + values[q], 0)]);
  });
  let worst = { n: 1n, d: 1n };
  const visit = (set, depth, vector) => {
    if (depth < set.length) {
      const item = rows[set[depth]];
      for (let y = 0; y < item[0].length; y += 1) visit(set, depth + 1, vector.map((mass, person) => mass * item[person][y]));
      return;
    }
    const [n, d] = [vector.reduce((a, b) => (a > b ? a : b)), vector.reduce((a, b) => (a < b ? a : b))];
    if (n !== 0n && worst.d !== 0n && (d === 0n || above({ n, d }, worst))) worst = { n, d };
  };
  for (const set of answerable({ items, ...plan })) visit(set, 0, all.map(() => 1n));
  return worst.d === 0n ? null : lnUp(worst.n, worst.d);
}
