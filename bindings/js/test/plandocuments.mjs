// Documents, bytes, refusals, draws and messages of plans, and every file of vectors/v1/plan and vectors/v1/response.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { DecodeError, fromHex, parseJson, Plan, PlanRefusal, PolicyRefused, Response, toHex, verifyPlan } from "../undertone.js";
import { randomPlan } from "./lib/plans.mjs";
import { mulberry } from "./lib/random.mjs";

const one = 2 ** 48;
const quarter = one / 4;
const level = (n, d, nats) => ({ nats, odds: [n, d] });
const table = (rows) => ({ shape: "table", masses: rows.map((row) => row.map((part) => part * (one / 16))) });
const policy = (inputs, channel, claim = { notion: "ldp", about: "input", epsilon: level(100, 1, "4.605170186") }) => ({ undertone: "policy/1", claims: [claim], context: { kind: "unknown" }, inputs, channel });

const smokes = { names: ["no", "yes"] };
const age = { edges: ["0", "30", "60", "120"], values: ["20", "45", "75"] };
/** Two questions, a secret behind both, one answer for each and one for both together of which a device gives one. */
const base = () => ({
  undertone: "plan/1",
  claims: [
    { about: "person", notion: "ldp", nats: "6" },
    { about: "question", name: "smokes", given: "all", notion: "lip", nats: "2.5" },
    { about: "question", name: "age", given: "own", notion: "alip", lower: "3", upper: "2" },
    { about: "secret", name: "ill", notion: "lip", nats: "1" },
  ],
  questions: [
    { name: "smokes", wording: "Do you smoke?", answers: smokes },
    { name: "age", answers: age },
  ],
  secrets: [{ name: "ill", values: { names: ["well", "ill"] } }],
  law: {
    kind: "tree",
    nodes: [
      { parent: "ill", rows: [[3 * quarter, quarter], [quarter, 3 * quarter]] },
      { parent: "smokes", rows: [[quarter, quarter, 2 * quarter], [2 * quarter, quarter, quarter]] },
      { weights: [3 * quarter, quarter] },
    ],
  },
  items: [
    { questions: ["smokes"], policy: 0, fresh: 1 },
    { questions: ["age"], policy: 2, weight: 3 },
    { questions: ["smokes", "age"], policy: 3, weight: 5 },
  ],
  asked: 1,
  periods: 1,
  provenance: { source: "by hand", n: 12, date: "2026-01-31", confidence: "0.95", rounding: 0 },
  policies: [
    policy(smokes, table([[12, 4], [4, 12]])),
    policy(smokes, table([[10, 6], [6, 10]])),
    policy(age, { shape: "bits", symbols: 3, own: 2 ** 31, other: 2 ** 30 }),
    policy({ indices: 6 }, { shape: "keep", keep: new Array(6).fill(2 ** 39), base: [one / 8, one / 8, quarter, quarter, one / 8, one / 8] }),
  ],
});

const changed = (change) => {
  const document = structuredClone(base());
  return change(document) ?? document;
};

const reasonOf = (source) =>
  verifyPlan(source).then(
    () => "accepted",
    (error) => {
      assert.ok(error instanceof DecodeError, String(error.stack));
      return error.reason;
    },
  );

test("a plan has one encoding, and its id is the hash of it", async () => {
  const plan = await verifyPlan(base());
  const again = await verifyPlan(plan.bytes);
  assert.equal(again.id, plan.id);
  assert.deepEqual(again.draft, plan.draft);
  assert.deepEqual(again.attained, plan.attained);
  assert.equal((await verifyPlan(JSON.stringify({ ...base(), id: plan.id }))).id, plan.id);
  assert.equal(await reasonOf({ ...base(), id: "00".repeat(32) }), "id");
  // What has a default may be left out.
  const short = changed((d) => {
    delete d.periods;
    d.questions[1].wording = "";
    d.items[0].weight = 0;
    d.items[1].fresh = null;
  });
  assert.equal((await verifyPlan(short)).id, plan.id);
  assert.equal(toHex(plan.bytes).slice(0, 30), `${toHex(new TextEncoder().encode("undertone/plan"))}01`);
});

test("the bytes, by hand", async () => {
  const response = policy({ indices: 2 }, table([[12, 4], [4, 12]]), { notion: "ldp", about: "input", epsilon: level(3, 1, "1.0986122887") });
  const { bytes } = await verifyPlan({
    undertone: "plan/1",
    claims: [{ about: "person", notion: "ldp", nats: "1.5" }],
    questions: [{ name: "q", answers: { indices: 2 } }],
    law: { kind: "points", points: [{ weight: quarter, values: [0] }, { weight: 3 * quarter, values: [1] }] },
    items: [{ questions: ["q"], policy: 0 }],
    policies: [response],
  });
  const inner = "756e646572746f6e652f706f6c6963790100000000020000000000020000000200 00c0000000000000004000000000000000400000000000 0000c000000000000001000000000003000000010000000000000000 00000000 0000000000000000 00000000 00 0000000000000000".replaceAll(" ", "");
  const head = "756e646572746f6e652f706c616e 01 00000001 00000001 71 00000000 00 00000002 00000000";
  const law = "02 00000002 0000400000000000 00000000 0000c00000000000 00000001";
  const items = "00000001 00000001 00000000 00000000 00 00000000 00000000 00000001";
  const claims = "00000001 00 00000000 00 00 000000037e11d600";
  const provenance = "00000000 0000000000000000 00000000 00 0000000000000000";
  const size = (inner.length / 2).toString(16).padStart(8, "0");
  assert.equal(toHex(bytes), `${head}${law}${items}${claims}${provenance}00000001${size}${inner}`.replaceAll(" ", ""));
});

test("every proper prefix of a plan's bytes is truncated, and bytes with anything else changed are another plan or none", async () => {
  const { bytes, id } = await verifyPlan(base());
  for (let end = 0; end < bytes.length; end += 1) assert.equal(await reasonOf(bytes.subarray(0, end)), "truncated", `cut at ${end}`);
  assert.equal(await reasonOf(Uint8Array.from([...bytes, 0])), "trailing");
  const random = mulberry(5);
  for (let round = 0; round < 1500; round += 1) {
    const other = bytes.slice();
    other[Math.floor(random() * bytes.length)] ^= 1 << Math.floor(random() * 8);
    const found = await verifyPlan(other).catch((error) => {
      assert.ok(error instanceof DecodeError || error instanceof PlanRefusal || error instanceof PolicyRefused, String(error.stack));
      return null;
    });
    if (found !== null) assert.ok(found.id !== id && toHex(found.bytes) === toHex(other));
  }
});

test("random plans go through bytes unchanged", async () => {
  const random = mulberry(6);
  let accepted = 0;
  for (let round = 0; round < 150; round += 1) {
    const plan = await verifyPlan(randomPlan(random)).catch((error) => (error instanceof PlanRefusal || error instanceof PolicyRefused ? null : Promise.reject(error)));
    if (plan === null) continue;
    accepted += 1;
    assert.deepEqual((await verifyPlan(plan.bytes)).draft, plan.draft);
  }
  assert.ok(accepted > 20, String(accepted));
});

const long = (bytes) => "x".repeat(bytes);
const bad = {
  json: {
    "a list for an object": () => [],
    "an unknown field": (d) => void (d.extra = 1),
    "no law": (d) => void delete d.law,
    "a law of an unknown kind": (d) => void (d.law.kind = "chain"),
    "a root with rows": (d) => void (d.law.nodes[2].rows = []),
    "a node that is neither": (d) => void (d.law.nodes[2] = {}),
    "a null list of secrets": (d) => void (d.secrets = null),
    "an item as a list": (d) => void (d.items[0] = []),
    "a weight of half": (d) => void (d.items[1].weight = 0.5),
    "a weight of 2^32": (d) => void (d.items[1].weight = 2 ** 32),
    "a question by number": (d) => void (d.items[0].questions = [0]),
    "a claim of ldp about a question": (d) => void Object.assign(d.claims[1], { notion: "ldp" }),
    "a claim of lip about the person": (d) => void Object.assign(d.claims[0], { notion: "lip" }),
    "given for a secret": (d) => void (d.claims[3].given = "all"),
    "no given for a question": (d) => void delete d.claims[1].given,
    "given something else": (d) => void (d.claims[1].given = "some"),
    "levels for lip": (d) => void (d.claims[1].upper = "1"),
    "alip with equal levels": (d) => void (d.claims[1] = { about: "question", name: "smokes", given: "all", notion: "alip", lower: "2.5", upper: "2.5" }),
    "nats as a number": (d) => void (d.claims[0].nats = 6),
    "policies as an object": (d) => void (d.policies = {}),
    "a policy without a channel": (d) => void delete d.policies[0].channel,
  },
  version: { "plan/2": (d) => void (d.undertone = "plan/2"), "a policy": (d) => d.policies[0] && { ...d, undertone: "policy/1" }, "a policy of another version": (d) => void (d.policies[0].undertone = "policy/2") },
  id: { "another policy's id": (d) => void (d.policies[0].id = "00".repeat(32)) },
  nats: {
    "a zero too many": (d) => void (d.claims[0].nats = "6.0"),
    "eleven places": (d) => void (d.claims[0].nats = "6.00000000001"),
    "a leading zero": (d) => void (d.claims[0].nats = "06"),
    "no digit before the point": (d) => void (d.claims[0].nats = ".5"),
    "a sign": (d) => void (d.claims[0].nats = "-1"),
    "unbounded": (d) => void (d.claims[0].nats = "unbounded"),
    "ten digits": (d) => void (d.claims[0].nats = "1000000000"),
  },
  alphabet: { "a name twice": (d) => void (d.questions[0].answers = { names: ["a", "a"] }), "a secret without values": (d) => void (d.secrets[0].values = { names: [] }) },
  channel: { "a row that does not sum": (d) => void (d.policies[0].channel.masses[0][0] += 1) },
  law: {
    "a row that does not sum": (d) => void (d.law.nodes[0].rows[0][0] += 1),
    "a row too few": (d) => void d.law.nodes[0].rows.pop(),
    "a row too short": (d) => void (d.law.nodes[0].rows[0] = [one]),
    "a node too few": (d) => void d.law.nodes.pop(),
    "a circle": (d) => void (d.law.nodes[2] = { parent: "age", rows: [[quarter, 3 * quarter], [one, 0], [one, 0]] }),
    "its own parent": (d) => void (d.law.nodes[2] = { parent: "ill", rows: [[one, 0], [0, one]] }),
    "a parent nobody is": (d) => void (d.law.nodes[0].parent = "nobody"),
    "a root's value that cannot be": (d) => void (d.law.nodes[2].weights = [one, 0]),
    "a value that cannot be": (d) => void (d.law.nodes[0].rows = [[one, 0], [one, 0]]),
    "an unknown law with a secret": (d) => void Object.assign(d, { law: { kind: "unknown" }, claims: [d.claims[0]] }),
    "no points": (d) => void (d.law = { kind: "points", points: [] }),
    "a point of weight nought": (d) => void (d.law = points([0, [0, 0, 0]], [one, [1, 2, 1]])),
    "points out of order": (d) => void (d.law = points([quarter, [1, 2, 1]], [3 * quarter, [0, 0, 0]])),
    "a point twice": (d) => void (d.law = points([quarter, [0, 0, 0]], [3 * quarter, [0, 0, 0]])),
    "a value too large": (d) => void (d.law = points([quarter, [0, 0, 0]], [3 * quarter, [0, 0, 2]])),
    "a point too short": (d) => void (d.law = points([quarter, [0, 0]], [3 * quarter, [1, 1]])),
    "points that do not sum": (d) => void (d.law = points([quarter, [0, 0, 0]], [quarter, [0, 1, 0]], [quarter, [1, 2, 1]])),
    "points that leave a value out": (d) => void (d.law = points([quarter, [0, 0, 0]], [3 * quarter, [1, 2, 1]])),
  },
  plan: {
    "no claim": (d) => void (d.claims = []),
    "65 claims": (d) => void (d.claims = new Array(65).fill(d.claims[0])),
    "no question": (d) => void Object.assign(d, { questions: [], law: { kind: "unknown" }, secrets: [], items: [], claims: [d.claims[0]] }),
    "a question without a name": (d) => void (d.questions[1].name = ""),
    "a long name": (d) => void (d.questions[1].name = long(201)),
    "a long wording": (d) => void (d.questions[1].wording = long(2001)),
    "two of one name": (d) => void ((d.secrets[0].name = "age"), (d.law.nodes[0].parent = "age")),
    "17 secrets": (d) => void (d.secrets = Array.from({ length: 17 }, (_, i) => ({ name: i === 0 ? "ill" : `s${i}`, values: { indices: 2 } }))),
    "an unknown law with a claim about belief": (d) => void Object.assign(d, { law: { kind: "unknown" }, secrets: [], claims: d.claims.slice(0, 2) }),
    "an item of no question": (d) => void (d.items[0].questions = []),
    "an item of a secret": (d) => void (d.items[0].questions = ["ill"]),
    "a question twice in an item": (d) => void (d.items[2].questions = ["age", "age"]),
    "questions out of order": (d) => void (d.items[2].questions = ["age", "smokes"]),
    "a policy that is not there": (d) => void (d.items[0].policy = 4),
    "a fresh policy that is not there": (d) => void (d.items[0].fresh = 4),
    "another question's policy": (d) => void (d.items[0].policy = 2),
    "a policy over the same symbols in another order": (d) => void (d.policies[0].inputs = { names: ["yes", "no"] }),
    "a combined policy that is too small": (d) => void (d.policies[3] = policy({ indices: 5 }, { shape: "keep", keep: new Array(5).fill(0), base: [one, 0, 0, 0, 0] })),
    "a combined policy with names": (d) => void (d.policies[3].inputs = { names: ["a", "b", "c", "d", "e", "f"] }),
    "fresh bits": (d) => void (d.items[1].fresh = 2),
    "a fresh policy over another alphabet": (d) => void (d.items[0].fresh = 3),
    "a policy nobody uses": (d) => void delete d.items[0].fresh,
    "a question in no item": (d) => void Object.assign(d, { items: d.items.slice(0, 1), policies: d.policies.slice(0, 2), asked: 0 }),
    "all of the drawn items": (d) => void (d.asked = 2),
    "none of the drawn items": (d) => void (d.asked = 0),
    "asked with nothing drawn": (d) => void d.items.forEach((item) => (item.weight = 0)),
    "no period": (d) => void (d.periods = 0),
    "too many periods": (d) => void (d.periods = 100_001),
    "a claim about nobody": (d) => void (d.claims[1].name = "nobody"),
    "a claim about a secret as a question": (d) => void (d.claims[1].name = "ill"),
    "a claim about a question as a secret": (d) => void (d.claims[3].name = "age"),
    "a date that is none": (d) => void (d.provenance.date = "yesterday"),
  },
};

function points(...list) {
  return { kind: "points", points: list.map(([weight, values]) => ({ weight, values })) };
}

test("refused documents", async (t) => {
  await verifyPlan(base());
  for (const [reason, cases] of Object.entries(bad)) {
    for (const [name, change] of Object.entries(cases)) await t.test(`${reason}: ${name}`, async () => assert.equal(await reasonOf(changed(change)), reason));
  }
  const text = JSON.stringify(base());
  assert.equal(await reasonOf(text.replace('"asked":1', '"asked":1.0')), "json");
  assert.equal(await reasonOf(text.replace('"asked":1', '"asked":1,"asked":1')), "json");
  assert.equal(await reasonOf(`\ufeff${text}`), "json");
});

test("refused bytes", async () => {
  const { bytes } = await verifyPlan(base());
  const hex = toHex(bytes);
  const swapped = (from, to) => {
    assert.ok(hex.split(from).length === 2, `${from} is there once`);
    return fromHex(hex.replace(from, to));
  };
  const claim = (about, which, given, notion, ...nats) => `0${about}0000000${which}0${given}0${notion}${nats.map((n) => n.toString(16).padStart(16, "0")).join("")}`;
  const [person, question, secret] = [claim(0, 0, 0, 0, 6e10), claim(1, 0, 0, 1, 25e9, 25e9), claim(2, 0, 0, 1, 1e10, 1e10)];
  const cases = [
    ["not_a_plan", fromHex(hex.replace("756e", "756f"))],
    ["version", fromHex(hex.replace("6e01", "6e02"))],
    ["tag", swapped(person, claim(3, 0, 0, 0, 6e10))],
    ["tag", swapped(person, claim(0, 0, 0, 1, 6e10))],
    ["tag", swapped(question, claim(1, 0, 2, 1, 25e9, 25e9))],
    ["tag", swapped(question, claim(1, 0, 0, 2, 25e9, 25e9))],
    ["tag", swapped(person, claim(0, 1, 0, 0, 6e10))],
    ["tag", swapped(person, claim(0, 0, 1, 0, 6e10))],
    ["tag", swapped(secret, claim(2, 0, 1, 1, 1e10, 1e10))],
    ["plan", swapped(question, claim(1, 2, 0, 1, 25e9, 25e9))],
    ["plan", swapped(secret, claim(2, 1, 0, 1, 1e10, 1e10))],
    ["nats", swapped(person, `00000000000000${(10n ** 19n).toString(16).padStart(16, "0")}`)],
    // The secret is the parent of the first node.
    ["law", swapped("010100000002000000020000000200", "010100000003000000020000000200")],
    ["law", swapped("010100000002000000020000000200", "010100000000000000020000000200")],
    ["tag", swapped("010100000002000000020000000200", "010200000002000000020000000200")],
    ["tag", swapped("010100000002000000020000000200", "030100000002000000020000000200")],
    ["truncated", swapped("010100000002000000020000000200", "0101000000020fffffff0000000200")],
  ];
  for (const [reason, changedBytes] of cases) assert.equal(await reasonOf(changedBytes), reason);
});

test("false claims name what is attained, and where", async () => {
  const refusalOf = (change) =>
    verifyPlan(changed(change)).then(
      () => assert.fail("it was accepted"),
      (error) => error,
    );
  const { attained } = await verifyPlan(base());
  const below = (text) => (Number(text) - 1e-9).toFixed(10).replace(/0+$/, "");
  const claim = (index, levels) => (d) => void Object.assign(d.claims[index], levels);
  const person = await refusalOf(claim(0, { nats: below(attained.person.ldp) }));
  assert.ok(person instanceof PlanRefusal);
  assert.deepEqual([person.claim, person.side, person.attained], [0, "ldp", attained.person.ldp]);
  // The first item and the costlier of the other two.
  assert.deepEqual(person.where, { name: null, value: null, label: null, items: [0, 2], outcomes: null });
  const exactly = await verifyPlan(changed(claim(0, { nats: attained.person.ldp })));
  assert.equal(exactly.draft.claims[0].ldp, exactly.person.ldp);

  const { all } = attained.questions.smokes;
  const risen = await refusalOf((d) => void (d.claims[1] = { about: "question", name: "smokes", given: "all", notion: "alip", lower: all.lower, upper: below(all.upper) }));
  assert.deepEqual([risen.claim, risen.side, risen.attained, risen.allowed], [1, "upper", all.upper, below(all.upper)]);
  assert.equal(risen.where.name, "smokes");
  assert.equal(risen.where.label, smokes.names[risen.where.value]);
  assert.equal(risen.where.outcomes.length, risen.where.items.length);
  assert.match(risen.message, /claim 1 about smokes is false \(upper\): .* nats are attained .* at the value (yes|no), by item 0 answered [01], item [12] answered [0-9]/);
  const fallen = await refusalOf((d) => void (d.claims[2] = { about: "question", name: "age", given: "own", notion: "alip", lower: below(attained.questions.age.own.lower), upper: "9" }));
  assert.deepEqual([fallen.claim, fallen.side, fallen.attained], [2, "lower", attained.questions.age.own.lower]);
  const secret = await refusalOf((d) => void (d.claims[3].nats = "0.1"));
  assert.deepEqual([secret.claim, secret.side, secret.where.name], [3, "upper", "ill"]);
  // Upper is looked at first, claims in order.
  const both = await refusalOf((d) => void ((d.claims[1].nats = "0"), (d.claims[3].nats = "0")));
  assert.deepEqual([both.claim, both.side], [1, "upper"]);

  const inner = await refusalOf((d) => void (d.policies[1].claims[0].epsilon = level(1, 1, "0")));
  assert.ok(inner instanceof PolicyRefused);
  assert.deepEqual([inner.policy, inner.refusal.name, inner.refusal.side, inner.refusal.attained], [1, "Refusal", "ldp", "5/3"]);
  assert.throws(() => new Plan(Symbol("forged"), {}, new Uint8Array(), "", []), TypeError);
});

test("a level of the law unknown is about the person only, and unbounded items bound nothing", async () => {
  const plain = changed((d) => void Object.assign(d, { law: { kind: "unknown" }, secrets: [], claims: [d.claims[0]] }));
  const plan = await verifyPlan(plain);
  assert.equal(plan.belief("age"), null);
  assert.throws(() => plan.belief("nobody"), RangeError);
  const open = { ...policy(smokes, table([[16, 0], [8, 8]])), claims: [{ notion: "ldp", about: "input", epsilon: level(2, 1, "0.6931471806"), delta: one - 1 }] };
  const refused = await verifyPlan(changed((d) => void (d.policies[0] = open))).catch((error) => error);
  assert.deepEqual([refused.name, refused.side, refused.attained], ["PlanRefusal", "ldp", "unbounded"]);
});

// ---------------------------------------------------------------- draws

/** A generator that hands out given bytes and counts them. */
function stream(bytes) {
  const random = (count) => {
    assert.ok(random.consumed + count <= bytes.length, "the stream is too short");
    random.consumed += count;
    return bytes.subarray(random.consumed - count, random.consumed);
  };
  random.consumed = 0;
  return random;
}

const bigEndian = (value) => Uint8Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(56 - 8 * i)) & 255n));

/** A plan of one question with one item for each weight, 0 for everybody. */
async function weighted(weights, asked) {
  const response = policy({ indices: 2 }, table([[12, 4], [4, 12]]));
  return verifyPlan({
    undertone: "plan/1",
    claims: [{ about: "person", notion: "ldp", nats: "100" }],
    questions: [{ name: "q", answers: { indices: 2 } }],
    law: { kind: "unknown" },
    items: weights.map((weight) => ({ questions: ["q"], policy: 0, weight })),
    asked,
    policies: [response],
  });
}

test("choose takes each item on exactly its share of the numbers, at every edge", async () => {
  const weights = [2, 0, 3, 1, 4];
  const plan = await weighted(weights, 1);
  let running = 0n;
  for (const [at, weight] of weights.entries()) {
    if (weight === 0) continue;
    // floor(v 10 / 2^64) is at least u from ceil(u 2^64 / 10) on.
    const first = (running << 64n) / 10n + (running === 0n ? 0n : 1n);
    running += BigInt(weight);
    const end = running === 10n ? 1n << 64n : ((running << 64n) + 9n) / 10n;
    for (const value of [first, end - 1n]) {
      const random = stream(bigEndian(value));
      assert.deepEqual(plan.choose(random), [1, at].sort(), `${value}`);
      assert.equal(random.consumed, 8);
    }
  }
  // Without replacement: after the last item, 6 are left of 10, and the first edge moves.
  const two = await weighted(weights, 3);
  const last = (1n << 64n) - 1n;
  const sixth = (5n << 64n) / 6n;
  const drawn = (...values) => two.choose(stream(Uint8Array.from(values.flatMap((value) => [...bigEndian(value)]))));
  assert.deepEqual(drawn(last, last, last), [1, 2, 3, 4]);
  assert.deepEqual(drawn(last, sixth, 0n), [0, 1, 2, 4]);
  assert.deepEqual(drawn(last, sixth + 1n, 0n), [0, 1, 3, 4]);
  assert.deepEqual(drawn(0n, 0n, 0n), [0, 1, 2, 3]);
  // Nothing to draw reads nothing.
  assert.deepEqual((await weighted([0, 0], 0)).choose(stream(new Uint8Array())), [0, 1]);
});

test("responses: drawn in order, both encodings, memos kept", async () => {
  const plan = await verifyPlan(base());
  const answers = { smokes: 1, age: 2 };
  const bytes = (list) => Uint8Array.from(list.flat());
  const id = Array.from({ length: 16 }, (_, i) => i);
  const low = [0, 0, 0, 0, 0, 0];
  const high = [255, 255, 255, 255, 255, 255];
  // Item 0: the memo from `yes` at a low number is no; the fresh answer to no at a high one is yes. Item 2: kept, so the combination 1 * 3 + 2.
  const random = stream(bytes([low, high, [0, 0, 0, 0, 0], low, id]));
  const { response, memos } = plan.respond(answers, { items: [0, 2], random });
  assert.equal(random.consumed, 12 + 11 + 16);
  assert.deepEqual(response.toJSON(), { undertone: "response/1", plan: plan.id, id: toHex(bytes([id])), answers: [{ item: 0, token: 1 }, { item: 2, token: 5 }] });
  assert.deepEqual([...memos], [[0, 0]]);
  // The next time nothing but the fresh answer is drawn.
  const later = stream(bytes([low, [0, 0, 0], id]));
  const next = plan.respond(answers, { items: [0, 1], memos, random: later });
  assert.equal(later.consumed, 6 + 3 + 16);
  assert.deepEqual(next.response.toJSON().answers, [{ item: 0, token: 0 }, { item: 1, bits: "e0" }]);
  for (const made of [response, next.response]) {
    assert.deepEqual(Response.fromBytes(made.toBytes()), made);
    assert.deepEqual(Response.fromJson(JSON.stringify(made)), made);
    plan.accepts(made);
  }
  assert.equal(toHex(next.response.toBytes()), `01${plan.id}${toHex(bytes([id]))}00000002 00000000 00 00000000 00000001 01 00000001 e0`.replaceAll(" ", ""));
  // What is not answered is left out, and what is no answer is refused.
  const part = plan.respond({ age: 0 }, { items: [0, 1], random: stream(bytes([[0, 0, 0], id])) });
  assert.deepEqual(part.response.answers.map(({ item }) => item), [1]);
  assert.throws(() => plan.respond({ smokes: 2 }, { items: [0] }), RangeError);
  assert.throws(() => plan.respond(answers, { items: [1, 0] }), RangeError);
  assert.throws(() => plan.respond(answers, { items: [1, 2] }), { reason: "asked" });
});

test("responses that a plan cannot have released", async () => {
  const plan = await verifyPlan(base());
  const made = (answers, owner = plan.id) => Response.fromJson({ undertone: "response/1", plan: owner, id: "07".repeat(16), answers });
  const cases = [
    ["plan", made([], "00".repeat(32))],
    ["items", made([{ item: 3, token: 0 }])],
    ["items", made([{ item: 1, bits: "e0" }, { item: 0, token: 0 }])],
    ["items", made([{ item: 0, token: 0 }, { item: 0, token: 0 }])],
    ["token", made([{ item: 0, token: 2 }])],
    ["token", made([{ item: 0, bits: "80" }])],
    ["token", made([{ item: 1, token: 0 }])],
    ["token", made([{ item: 1, bits: "10" }])],
    ["token", made([{ item: 1, bits: "e000" }])],
    ["asked", made([{ item: 1, bits: "e0" }, { item: 2, token: 0 }])],
  ];
  for (const [reason, response] of cases) assert.throws(() => plan.accepts(response), { name: "Foreign", reason }, JSON.stringify(response));
  plan.accepts(made([]));
  const good = made([{ item: 0, token: 0 }]).toJSON();
  const malformed = [{ ...good, extra: 1 }, { ...good, plan: "00" }, { ...good, id: "0" }, { ...good, answers: {} }, { ...good, answers: [[]] }, { ...good, answers: [{ item: 0 }] }, { ...good, answers: [{ item: 0, token: 1, bits: "00" }] }, { ...good, answers: [{ item: 0, bits: "0" }] }];
  for (const value of malformed) assert.throws(() => Response.fromJson(value), { reason: "json" }, JSON.stringify(value));
  assert.throws(() => Response.fromJson({ ...good, undertone: "response/2" }), { reason: "version" });
  const bytes = made([{ item: 0, token: 0 }]).toBytes();
  for (let end = 0; end < bytes.length; end += 1) assert.throws(() => Response.fromBytes(bytes.subarray(0, end)), { reason: "truncated" });
  assert.throws(() => Response.fromBytes(Uint8Array.from([...bytes, 0])), { reason: "trailing" });
  const tagged = bytes.slice();
  tagged[57] = 2;
  assert.throws(() => Response.fromBytes(tagged), { reason: "tag" });
});

// ---------------------------------------------------------------- vectors

const root = new URL("../../../vectors/v1/", import.meta.url);
const read = (path) => parseJson(readFileSync(new URL(path, root), "utf8"));
const ordinary = (path) => JSON.parse(readFileSync(new URL(path, root), "utf8"));

function filesOf(directory) {
  const names = readdirSync(new URL(`${directory}/`, root)).sort();
  assert.ok(names.length > 0, `vectors/v1/${directory} is empty`);
  return names;
}

const sourceOf = (file, field) => ("bytes" in file && !(field in file) && !("text" in file) ? fromHex(file.bytes) : (file.text ?? file[field]));

test("vectors: plans", async (t) => {
  for (const name of filesOf("plan")) {
    await t.test(name, async () => {
      const [file, plain] = [read(`plan/${name}`), ordinary(`plan/${name}`)];
      if (name.startsWith("choose_")) {
        const plan = await verifyPlan(read(`plan/${file.plan}`).document);
        for (const item of plain.cases) {
          const random = stream(fromHex(item.stream));
          assert.deepEqual(plan.choose(random), item.items);
          assert.equal(random.consumed, item.consumed);
        }
      } else if (name.startsWith("bad_")) {
        const error = await verifyPlan(sourceOf(file, "document")).then(
          () => assert.fail("it was accepted"),
          (refused) => refused,
        );
        if (file.stage === "decode") assert.deepEqual([error.name, error.reason], ["DecodeError", file.error]);
        else if (file.stage === "policy") assert.ok(error instanceof PolicyRefused, String(error));
        else {
          assert.ok(error instanceof PlanRefusal, String(error));
          const { claim, side, attained, allowed } = error;
          const expected = plain.refusal;
          assert.deepEqual({ claim, side, attained, allowed }, { claim: expected.claim, side: expected.side, attained: expected.attained, allowed: expected.allowed });
        }
      } else {
        const plan = await verifyPlan(file.document);
        assert.equal(toHex(plan.bytes), file.bytes);
        assert.equal(plan.id, file.id);
        assert.deepEqual(plan.attained, plain.attained);
        assert.equal((await verifyPlan(fromHex(file.bytes))).id, file.id);
        assert.equal((await verifyPlan(plain.document)).id, file.id, "an ordinary parser's integers are exact too");
      }
    });
  }
});

test("vectors: responses", async (t) => {
  for (const name of filesOf("response")) {
    await t.test(name, async () => {
      const [file, plain] = [read(`response/${name}`), ordinary(`response/${name}`)];
      const plan = await verifyPlan(read(`plan/${file.plan}`).document);
      if (!name.startsWith("bad_")) {
        const random = stream(fromHex(file.stream));
        const answers = Object.fromEntries(plan.draft.questions.map((question, at) => [question.name, plain.answers[at]]));
        const { response } = plan.respond(answers, { items: plain.items, random });
        assert.equal(random.consumed, plain.consumed);
        assert.deepEqual(response.toJSON(), plain.response);
        assert.equal(toHex(response.toBytes()), file.bytes);
        assert.deepEqual(Response.fromBytes(fromHex(file.bytes)), response);
        assert.deepEqual(Response.fromJson(file.response), response);
        return;
      }
      const readers = [];
      if ("bytes" in file) readers.push(() => Response.fromBytes(fromHex(file.bytes)));
      if ("response" in file) readers.push(() => Response.fromJson(file.response));
      if ("text" in file) readers.push(() => Response.fromJson(file.text));
      assert.ok(readers.length > 0);
      for (const reading of readers) {
        if (file.stage === "decode") assert.throws(reading, { name: "DecodeError", reason: file.error });
        else assert.throws(() => plan.accepts(reading()), { name: "Foreign", reason: file.error });
      }
    });
  }
});
