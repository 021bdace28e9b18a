// What the form plans: levels at which a device with the usual limits answers every round.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cost, DEVICE, fits, fitted, read, written } from "../../crates/curator/src/web/plan.js";
import { Consent, MemoryDevice } from "../../bindings/js/undertone.js";

test("the usual limits are those of the module", async () => {
  const { state } = await new MemoryDevice().load();
  const near = (units, nats) => assert.ok(units / 1e4 <= Number(nats) && units / 1e4 > Number(nats) - 1e-4, `${units} ${nats}`);
  near(DEVICE.ldp, state.budgets.question.nats);
  const consent = new Consent();
  near(DEVICE.lip, Number(consent.lip) / 1e10);
  near(DEVICE.ldp, Number(consent.ldp) / 1e10);
});

test("levels survive being written, and are rounded up when read", () => {
  for (const [text, units] of [["1", 10000], ["0.5493", 5493], [".5", 5000], ["2.19722", 21973], ["0.0001", 1], ["10", 100000]]) assert.equal(read(text), units, text);
  for (const bad of ["", "x", "1e3", "-1", "1.", "1,5"]) assert.ok(Number.isNaN(read(bad)), bad);
  for (const units of [1, 5493, 10000, 10986, 21972, 100000, 123450]) assert.equal(read(written(units)), units);
  assert.equal(written(10000), "1");
  assert.equal(written(5000), "0.5");
});

test("what a plan costs", () => {
  // Balanced with two rounds, as it was: LDP 1, then LIP 1 and so LDP up to 2.
  const before = { level: 10000, rounds: 2, prior: false };
  assert.deepEqual(cost(before), { ldp: 30000, lip: 20000 });
  assert.equal(fits(before), false);
  assert.deepEqual(cost({ level: 10000, rounds: 1, prior: false }), { ldp: 10000, lip: null });
  assert.deepEqual(cost({ level: 10000, rounds: 1, prior: true }), { ldp: 20000, lip: 10000 });
  assert.deepEqual(cost({ level: 3000, cap: 4000, rounds: 3, prior: true }), { ldp: 12000, lip: 11000 });
});

test("every preset fits, however many rounds, and is not lowered more than it must be", () => {
  for (const level of [5000, 10000, 20000]) {
    for (const prior of [false, true]) {
      for (let rounds = 1; rounds <= 20; rounds += 1) {
        const wanted = { level, rounds, prior };
        const plan = fitted(wanted);
        assert.ok(fits(plan), JSON.stringify(plan));
        assert.equal(plan.lowered, !fits(wanted));
        assert.ok(plan.level > 0 && plan.level <= level);
        assert.ok(plan.cap === null || plan.cap >= plan.level, "LDP at the level stays possible");
        const [more, wider] = [plan.level + 1, plan.cap + 1];
        if (plan.level < level) assert.ok(!fits({ ...plan, level: more, cap: more }), `${JSON.stringify(plan)} could be higher`);
        if (plan.cap !== null) assert.ok(!fits({ ...plan, cap: wider }), `${JSON.stringify(plan)} could be wider`);
      }
    }
  }
  assert.deepEqual(fitted({ level: 10000, rounds: 2, prior: false }), { level: 5493, rounds: 2, prior: false, cap: null, lowered: true });
});

test("beliefs change by no more than the LDP of all rounds but one and the LIP of that one", () => {
  // A generator of our own, so that a failure comes back.
  let seed = 20261115n;
  const random = () => {
    seed = (seed * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number(seed >> 11n) / 2 ** 53;
  };
  const law = (size) => {
    const parts = Array.from({ length: size }, () => 0.05 + random());
    const total = parts.reduce((a, b) => a + b, 0);
    return parts.map((part) => part / total);
  };
  const [min, max] = [(list) => Math.min(...list), (list) => Math.max(...list)];
  let closest = 0;
  for (let turn = 0; turn < 2000; turn += 1) {
    const [symbols, outputs] = [2 + (turn % 3), 2 + (turn % 2)];
    const prior = law(symbols).map((p) => p ** (1 + (turn % 4))).map((p, _, all) => p / all.reduce((a, b) => a + b, 0));
    const channel = () => Array.from({ length: symbols }, () => law(outputs));
    const columns = (w) => Array.from({ length: outputs }, (_, y) => w.map((row) => row[y]));
    const ldp = (w) => max(columns(w).map((column) => Math.log(max(column) / min(column))));
    const lifts = (likelihood) => {
      const mean = likelihood.reduce((sum, l, x) => sum + prior[x] * l, 0);
      return max(likelihood.map((l) => Math.abs(Math.log(l / mean))));
    };
    const [a, b, c] = [channel(), channel(), channel()];
    const bound = ldp(a) + ldp(b) + max(columns(c).map(lifts));
    for (const one of columns(a)) {
      for (const two of columns(b)) {
        for (const three of columns(c)) {
          const joint = lifts(one.map((l, x) => l * two[x] * three[x]));
          assert.ok(joint <= bound + 1e-12, `${joint} above ${bound}`);
          closest = Math.max(closest, joint / bound);
        }
      }
    }
  }
  assert.ok(closest > 0.9, `the bound is nearly reached: ${closest}`);
});
