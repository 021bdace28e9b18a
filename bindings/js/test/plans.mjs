// What plans attain: every way to find it against the definition in fractions, on random plans, and by hand.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { beliefOf } from "../kernel/plan/belief.js";
import { bound } from "../kernel/plan/bound.js";
import { Component } from "../kernel/plan/component.js";
import { enumerate } from "../kernel/plan/enumeration.js";
import { complement, fromFloat, isAbove, magnitude, magnitudeNats, plus, product, quotient, WHOLE } from "../kernel/plan/magnitude.js";
import { personLdp } from "../kernel/plan/person.js";
import { binaryTree, isBinaryTree } from "../kernel/plan/tree.js";
import { lnUp } from "../kernel/exact.js";
import { verifyPlan } from "../undertone.js";
import { answerable, bruteBelief, bruteLdp, randomPlan, unchecked } from "./lib/plans.mjs";
import { mulberry } from "./lib/random.mjs";

const ROUNDS = Number(process.env.PLANS ?? 250);

/** At least what the definition gives, and at most two units above it, for what was rounded before the logarithm. */
function assertNear(found, brute, what) {
  for (const side of ["upper", "lower"]) {
    const [got, exact] = [found[side], brute[side]];
    if (exact === null) assert.equal(got, null, `${what} ${side}`);
    else assert.ok(got !== null && got >= exact && got <= exact + 2n, `${what} ${side}: ${got} where ${exact} is attained`);
  }
}

function assertBound(found, brute, what) {
  for (const side of ["upper", "lower"]) {
    const [got, exact] = [found[side], brute[side]];
    assert.ok(got === null || (exact !== null && got >= exact), `${what} ${side}: ${got} is below ${exact}`);
  }
}

const kinds = [
  ["anything", {}],
  ["binary trees", { kind: "tree", binary: true, combined: false }],
  ["trees with larger leaves", { kind: "tree", binary: false, combined: false }],
  ["trees with combined items", { kind: "tree", combined: true, most: 4 }],
  ["points", { kind: "points", most: 4 }],
];

for (const [number, [name, options]] of kinds.entries()) {
  test(`belief on random plans is what the definition gives: ${name}`, () => {
    const random = mulberry(16 + number);
    const reached = {};
    const reach = (what) => (reached[what] = (reached[what] ?? 0) + 1);
    for (let round = 0; round < ROUNDS; round += 1) {
      const document = randomPlan(random, options);
      const { draft, items } = unchecked(document);
      const about = JSON.stringify(document);
      draft.variables.forEach((_, variable) => {
        const brute = bruteBelief(document, variable, answerable(document));
        assertNear(beliefOf(draft, items, variable, "all"), brute, `all of ${variable} in ${about}`);
        if (brute.lower === null) reach("unbounded");
        if (draft.asked > 0) reach("drawn");
        if (variable < draft.questions.length) {
          const own = items.flatMap(({ questions, index }) => (questions.includes(variable) ? [[index]] : []));
          assertNear(beliefOf(draft, items, variable, "own"), bruteBelief(document, variable, own), `own of ${variable} in ${about}`);
        }
        const component = new Component(draft.law, draft.sizes, items, draft.asked, variable);
        if (component.items.length === 0) return;
        assertNear(enumerate(component), brute, `enumeration of ${variable} in ${about}`);
        assertBound(bound(component), brute, `bound of ${variable} in ${about}`);
        if (!isBinaryTree(component)) return;
        reach("binary tree");
        if (component.asked > 0) reach("binary tree, drawn");
        if (component.variables.some((v) => draft.sizes[v] > 2)) reach("binary tree, leaf");
        if (draft.law.nodes[variable].parent !== null) reach("binary tree, from a parent");
        assertNear(binaryTree(component), brute, `binary tree of ${variable} in ${about}`);
      });
    }
    const needed = { "binary trees": ["binary tree, drawn", "binary tree, from a parent", "unbounded"], "trees with larger leaves": ["binary tree, leaf"] }[name] ?? ["drawn", "unbounded"];
    for (const what of needed) assert.ok(reached[what] > 10, `${what}: ${JSON.stringify(reached)}`);
  });
}

test("the person's LDP on random plans is that of the definition, or above where items share a question", () => {
  const random = mulberry(23);
  const reached = { exact: 0, bound: 0, unbounded: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const document = randomPlan(random, { most: 4 });
    const { draft, items } = unchecked(document);
    const brute = bruteLdp(document);
    const { ldp, exact } = personLdp(items, draft.asked, 1);
    reached[brute === null ? "unbounded" : exact ? "exact" : "bound"] += 1;
    if (brute === null) assert.equal(ldp, null);
    else if (exact) assert.ok(ldp >= brute && ldp <= brute + 2n, `${ldp} ${brute}`);
    else assert.ok(ldp === null || ldp >= brute, `${ldp} ${brute}`);
  }
  for (const [what, count] of Object.entries(reached)) assert.ok(count > 10, `${what}: ${count}`);
});

test("periods: the bound holds for what is sent in all of them", () => {
  const random = mulberry(29);
  for (let round = 0; round < 60; round += 1) {
    const document = randomPlan(random, { kind: "tree", combined: false, most: 2 });
    // The same data in both periods: the same items twice, under one law.
    const twice = { ...document, items: [...document.items, ...document.items] };
    if (document.asked) continue;
    const { draft, items } = unchecked({ ...document, periods: 2 });
    draft.variables.forEach((_, variable) => {
      const found = beliefOf(draft, items, variable, "all");
      assert.equal(found.exact, false);
      assertBound(found, bruteBelief(twice, variable, answerable(twice)), JSON.stringify(document));
    });
  }
});

// ---------------------------------------------------------------- by hand

const one = 2 ** 48;
const quarter = one / 4;
const nats3 = { nats: "1.0986122887", odds: [3, 1] };
/** Randomised response of a bit at 3/4. */
const response = { undertone: "policy/1", claims: [{ notion: "ldp", about: "input", epsilon: nats3 }], context: { kind: "unknown" }, inputs: { indices: 2 }, channel: { shape: "table", masses: [[3 * quarter, quarter], [quarter, 3 * quarter]] } };
const question = (name) => ({ name, wording: "", answers: { indices: 2 } });

test("two equal answers at 3/4, by hand", async () => {
  const even = { weights: [one / 2, one / 2] };
  const same = { parent: "a", rows: [[one, 0], [0, one]] };
  const base = { undertone: "plan/1", questions: [question("a"), question("b")], items: [{ questions: ["a"], policy: 0 }, { questions: ["b"], policy: 0 }], policies: [response] };
  // Both are the same bit: likelihoods 9/16 and 1/16, belief rises to 9/10 of 1/2 and falls to 1/10.
  const tied = await verifyPlan({ ...base, law: { kind: "tree", nodes: [even, same] }, claims: [{ about: "question", name: "a", given: "all", notion: "alip", lower: "1.609437913", upper: "0.5877866655" }] });
  assert.ok(Math.abs(Number(tied.attained.questions.a.all.upper) - Math.log(9 / 5)) < 3e-10);
  assert.ok(Math.abs(Number(tied.attained.questions.a.all.lower) - Math.log(5)) < 3e-10);
  // Given one answer alone: 3/4 of 1/2, and 1/4.
  assert.ok(Math.abs(Number(tied.attained.questions.a.own.upper) - Math.log(3 / 2)) < 3e-10);
  assert.deepEqual(tied.attained.person, { ldp: "2.1972245774", exact: true });
  assert.deepEqual(tied.attained.costs, ["1.0986122887", "1.0986122887"]);
  // Independent, the other answer says nothing.
  const apart = await verifyPlan({ ...base, law: { kind: "tree", nodes: [even, even] }, claims: [{ about: "person", notion: "ldp", nats: "2.1972245774" }] });
  assert.deepEqual(apart.attained.questions.b.all, { upper: "0.4054651082", lower: "0.6931471806", exact: true });
  // 365 periods, and half of the items.
  const often = await verifyPlan({ ...base, periods: 365, items: base.items.map((item) => ({ ...item, weight: 1 })), asked: 1, law: { kind: "unknown" }, claims: [{ about: "person", notion: "ldp", nats: "401" }] });
  assert.equal(often.attained.person.exact, true);
  assert.ok(Math.abs(Number(often.attained.person.ldp) - 365 * Math.log(3)) < 2e-8);
  assert.deepEqual(often.attained.questions.a, { all: null, own: null });
});

test("the product is taken where it is below the sum of rounded levels", () => {
  const item = { weight: 0, questions: [0], ratio: { n: 3n, d: 1n }, cost: lnUp(3n, 1n) };
  const items = Array.from({ length: 40 }, (_, at) => ({ ...item, questions: [at], index: at }));
  const { ldp } = personLdp(items, 0, 1);
  assert.ok(ldp < 40n * lnUp(3n, 1n) && ldp >= lnUp(3n ** 40n, 1n) && ldp <= lnUp(3n ** 40n, 1n) + 3n);
});

// ---------------------------------------------------------------- many outcomes

/** A hidden cause with `leaves` binary questions, each with one answer that is kept with probability 3/4 or so. */
function star(leaves, spread, items = 1) {
  const names = Array.from({ length: leaves }, (_, i) => `q${i}`);
  const step = one / 1024;
  const row = (i) => 400 * step + spread * i * step;
  const nodes = [...names.map((_, i) => ({ parent: "cause", rows: [[row(i), one - row(i)], [one - row(i), row(i)]] })), { weights: [600 * step, 424 * step] }];
  return {
    undertone: "plan/1",
    claims: [{ about: "person", notion: "ldp", nats: "100" }],
    questions: names.map(question),
    secrets: [{ name: "cause", values: { indices: 2 } }],
    law: { kind: "tree", nodes },
    items: names.flatMap((name) => new Array(items).fill({ questions: [name], policy: 0 })),
    policies: [response],
  };
}

test("many outcomes: floats say where to look, and both exact ways agree", () => {
  for (const spread of [0, 3]) {
    const { draft, items } = unchecked(star(14, spread));
    for (const variable of [0, 14]) {
      const component = new Component(draft.law, draft.sizes, items, 0, variable);
      assert.ok(component.enumerable && component.outcomes === 2 ** 14);
      const [tried, walked] = [enumerate(component), binaryTree(component)];
      for (const side of ["upper", "lower"]) assert.ok(tried[side] - walked[side] <= 2n && walked[side] - tried[side] <= 2n, `${side}: ${tried[side]} ${walked[side]}`);
    }
  }
});

test("what is looked for in floats is what is found by judging every outcome", () => {
  const random = mulberry(31);
  for (let round = 0; round < 40; round += 1) {
    const document = randomPlan(random, { kind: round % 2 ? "tree" : "points", binary: false });
    const { draft, items } = unchecked(document);
    draft.variables.forEach((_, variable) => {
      const component = new Component(draft.law, draft.sizes, items, draft.asked, variable);
      if (component.items.length === 0) return;
      const [all, some] = [enumerate(component, { few: Infinity }), enumerate(component, { few: 0 })];
      assert.deepEqual([some.upper, some.lower], [all.upper, all.lower], JSON.stringify(document));
    });
  }
});

// ---------------------------------------------------------------- magnitudes

test("magnitudes are the nearest on their side", () => {
  const random = mulberry(37);
  const big = (bits) => Array.from({ length: bits }, () => (random() < 0.5 ? "0" : "1")).reduce((n, digit) => 2n * n + BigInt(digit), 1n);
  /** Whether m 2^e is the rounding of n/d 2^-shift: at most one unit of its last place away, on the right side, and it is exact if it can be. */
  const isRounding = ({ m, e }, n, d, up) => {
    assert.ok(m >= 1n << 63n && m < 1n << 64n);
    const [left, right] = e >= 0 ? [(m << BigInt(e)) * d, n] : [m * d, n << BigInt(-e)];
    const unit = e >= 0 ? (1n << BigInt(e)) * d : d;
    const over = left - right;
    assert.ok(up ? over >= 0n && over < unit : over <= 0n && -over < unit, `${over} of ${unit}`);
  };
  for (let round = 0; round < 3000; round += 1) {
    const up = random() < 0.5;
    const [x, y] = [big(Math.floor(random() * 90)), big(Math.floor(random() * 90))];
    const [a, b] = [magnitude(x, 0, up), magnitude(y, 0, up)];
    isRounding(a, x, 1n, up);
    const value = ({ m, e }) => (e >= 0 ? [m << BigInt(e), 1n] : [m, 1n << BigInt(-e)]);
    const [[an, ad], [bn, bd]] = [value(a), value(b)];
    isRounding(product(a, b, up), an * bn, ad * bd, up);
    isRounding(plus(a, b, up), an * bd + bn * ad, ad * bd, up);
    isRounding(quotient(a, b, up), an * bd, ad * bn, up);
    const part = quotient(isAbove(a, b) ? b : a, isAbove(a, b) ? a : b, false);
    const [pn, pd] = value(part);
    if (pn < pd) isRounding(complement(part, up), pd - pn, pd, up);
    const number = random() * 10 ** (20 * (random() - 0.5));
    const exact = fromFloat(number);
    assert.equal(Number(exact.m) * 2 ** exact.e, number);
    assert.ok(magnitudeNats(a) >= lnUp(x, 1n) - 1n && magnitudeNats(a) <= lnUp(x, 1n) + 2n);
  }
  assert.equal(magnitudeNats(WHOLE), 0n);
  assert.equal(complement(magnitude(1n, -300, false), true), WHOLE);
  assert.deepEqual(complement(magnitude(1n, -300, false), false), magnitude((1n << 64n) - 1n, -64, false));
});

test("answers to a plan are numbers or texts, and every one is checked", async () => {
  const file = new URL("../../../vectors/v1/plan/independent.json", import.meta.url);
  const plan = await verifyPlan(JSON.stringify(JSON.parse(readFileSync(file, "utf8")).document));
  const names = plan.draft.questions.map(({ name }) => name);
  const numbers = Object.fromEntries(names.map((name) => [name, 1]));
  const texts = Object.fromEntries(plan.draft.questions.map(({ name, answers }) => [name, answers.label(1)]));
  assert.deepEqual(plan.symbols(texts), plan.symbols(numbers));
  assert.deepEqual(plan.symbols({}), plan.draft.items.map(() => null));
  assert.throws(() => plan.symbols({ nobody: 1 }), /there is no question "nobody": the plan asks/);
  assert.throws(() => plan.symbols({ [names[0]]: 99 }), /give its number, from 0 to/);
  assert.throws(() => plan.symbols({ [names[0]]: "never" }), /not in the alphabet/);
  assert.throws(() => plan.respond(numbers), /items: plan.choose\(\)/);
});
