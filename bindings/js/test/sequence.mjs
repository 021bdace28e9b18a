// Sequences of releases against their definition in exact fractions, and at sizes where only the quick ways can be taken.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AboveConsent, Consent, Exhausted, epsilonNats, Ledger, Policy, Report, Sequence } from "../undertone.js";
import { claimHolds, frameBounds, natsOf, oddsOf, rowsOf, wholeOf } from "./lib/definition.mjs";
import { mulberry, parts, randomContext } from "./lib/random.mjs";

const level = (n, d) => ({ nats: epsilonNats({ n: BigInt(n), d: BigInt(d) }), odds: [n, d] });
const NAMES = ["yes", "no", "perhaps"];

function randomChannel(random, k) {
  const shape = ["table", "keep", "bits"][Math.floor(random() * 3)];
  const empty = random() < 0.3 ? 0.3 : 0;
  if (shape === "table") {
    const outputs = 1 + Math.floor(random() * 3);
    return { shape, masses: Array.from({ length: k }, () => parts(random, outputs, 2 ** 48, 1, empty)) };
  }
  if (shape === "keep") {
    const keep = Array.from({ length: k }, () => (random() < empty ? 0 : Math.floor(random() * 2 ** 40)));
    return { shape, keep, base: parts(random, k, 2 ** 48, 1, empty) };
  }
  const unit = () => (random() < empty ? (random() < 0.5 ? 0 : 2 ** 32) : Math.floor(random() * 2 ** 32));
  return { shape, symbols: k, own: unit(), other: unit() };
}

/** A claim that may or may not hold for the channel; a delta makes it hold and leaves nothing to say about a sequence. */
function randomClaim(random, kind, bits) {
  const [n, d] = [1 + Math.floor(random() ** 3 * 400), 1];
  const delta = bits || random() < 0.7 ? 0 : 2 ** 48 - 1;
  const about = kind === "secret" && random() < 0.5 ? "secret" : "input";
  if (kind === "unknown" || random() < 0.4) return { notion: "ldp", about, epsilon: level(n, d), delta };
  return { notion: "alip", about, lower: level(n, d), upper: level(n + 1, d), delta };
}

/** A verified policy over k symbols, with its document in the order of `NAMES`. */
async function randomPolicy(random, k, named) {
  for (;;) {
    const order = Array.from({ length: k }, (_, x) => x);
    if (named) order.sort(() => random() - 0.5);
    const [channel, context] = [randomChannel(random, k), randomContext(random, k, random() < 0.5 ? "s" : "t")];
    const inputs = named ? { names: order.map((x) => NAMES[x]) } : { indices: k };
    const claims = [randomClaim(random, context.kind, channel.shape === "bits")];
    const outputs = channel.shape === "table" ? { indices: channel.masses[0].length } : undefined;
    const document = { undertone: "policy/1", claims, context, inputs, channel, ...(outputs && { outputs }) };
    const policy = await Policy.fromJson(document).catch((refusal) => {
      assert.equal(refusal.name, "Refusal", refusal.message);
      return null;
    });
    if (policy === null) continue;
    // In the order of NAMES, symbol x stands at `place[x]`.
    const place = order.map((_, x) => order.indexOf(x));
    const pick = (list) => place.map((at) => list[at]);
    const sorted = {
      ...context,
      ...(context.weights && context.kind === "prior" && { weights: pick(context.weights) }),
      ...(context.list && { list: context.list.map(pick) }),
      ...(context.rows && { rows: context.rows.map(pick) }),
      ...(context.lower && { lower: pick(context.lower), upper: pick(context.upper) }),
    };
    return { policy, claims, context: sorted, rows: pick(rowsOf(channel, k)), k, shape: channel.shape, named, place };
  }
}

/** The number of an answer among the definition's outputs, whose bits are in the order of `NAMES`; and the answer itself. */
function randomAnswer(random, { policy, rows, shape, place, k }) {
  const x = Math.floor(random() * k);
  let [y, left] = [0, random() * Number(rows[x].reduce((a, b) => a + b, 0n))];
  while (y + 1 < rows[x].length && (left -= Number(rows[x][y])) >= 0) y += 1;
  if (shape !== "bits") return { number: y, report: Report.fromJson({ undertone: "report/1", policy: policy.id, id: "00".repeat(16), token: y }) };
  // Patterns of the definition count in the policy's own order too.
  const bits = place.reduce((byte, _, i) => ((y >> i) & 1 ? byte | (0x80 >> i) : byte), 0);
  return { number: y, report: Report.fromJson({ undertone: "report/1", policy: policy.id, id: "00".repeat(16), bits: bits.toString(16).padStart(2, "0") }) };
}

const shown = ({ ldp, lip, secrets }) => ({
  ldp: natsOf(ldp),
  lip: lip === null ? undefined : natsOf(lip),
  secrets: new Map(Object.entries(secrets).map(([name, ratio]) => [name, natsOf(ratio)]).sort()),
});
const found = ({ ldp, lip, secrets }) => ({ ldp, lip, secrets: new Map([...secrets].sort()) });

test("sequences attain what their definition says", async () => {
  const random = mulberry(14);
  const seen = { claims: new Map(), shapes: new Set(), exact: 0, bounds: 0, unbounded: 0, frames: 0 };
  for (let round = 0; round < 400; round += 1) {
    const k = 1 + Math.floor(random() * 3);
    const count = 1 + Math.floor(random() * 3);
    const made = [];
    for (let at = 0; at <= count; at += 1) {
      const other = at < count && random() < 0.15;
      made.push(await randomPolicy(random, other ? 1 + Math.floor(random() * 3) : k, other ? random() < 0.5 : k % 2 === 0));
    }
    const next = made.pop();
    const sequence = new Sequence();
    const past = made.map((one) => {
      const how = random();
      if (how < 0.15) sequence.forgotten({ policy: one.policy.id, cost: one.policy.cost });
      else if (how < 0.5) sequence.untold(one.policy);
      else {
        const { number, report } = randomAnswer(random, one);
        sequence.released(one.policy, report);
        return { ...one, answer: number, kept: true };
      }
      return { ...one, answer: null, kept: how >= 0.15 };
    });
    const standing = sequence.after(next.policy);

    // Frames by alphabet, that of the next release first.
    const key = ({ k: size, named }) => `${size} ${named}`;
    const frames = [...new Set([key(next), ...past.filter(({ kept }) => kept).map(key)])];
    const bounds = frames.map((frame, at) => {
      const inside = past.filter((one) => one.kept && key(one) === frame);
      const missing = past.filter((one) => !inside.includes(one)).concat(at > 0 ? [next] : []);
      const costs = missing.map(({ policy }) => policy.cost);
      const odds = oddsOf(costs.includes(null) ? null : costs.reduce((a, b) => a + b, 0n));
      const releases = at === 0 ? [...inside, { ...next, answer: null }] : inside;
      const members = at === 0 ? [...inside, next] : inside;
      return { ...frameBounds(releases, (at === 0 ? next : inside[0]).k, odds), odds, members };
    });
    const whole = wholeOf(bounds, [...past, next].map(({ policy }) => policy.cost));
    const exact = bounds.every(({ odds }) => odds === 2n ** 64n);
    assert.equal(standing.exact, exact);
    assert.deepEqual(found(standing), shown(whole), `round ${round}`);

    // Claims, where nothing has to be missing to judge them.
    if (exact && past.every(({ kept }) => kept)) {
      const verdicts = bounds.flatMap(({ ldp, contexts, members }) =>
        members.flatMap(({ claims, context }) =>
          claims.map((claim) => {
            if (claim.delta > 0 || (next.shape === "bits" && claim.about === "secret" && claim.notion !== "ldp")) return null;
            return claimHolds(claim, ldp, contexts.find((one) => one.context === context));
          }),
        ),
      );
      const all = verdicts.includes(null) ? null : verdicts.every(Boolean);
      assert.equal(standing.claims, all, `round ${round}`);
      seen.claims.set(all, (seen.claims.get(all) ?? 0) + 1);
    } else if (standing.claims === true) {
      assert.ok(past.every(({ kept }) => kept), "a claim of a policy that is not at hand cannot be checked");
    }

    seen.shapes.add(next.shape);
    seen[exact ? "exact" : "bounds"] += 1;
    seen.unbounded += standing.ldp === null ? 1 : 0;
    seen.frames += frames.length > 1 ? 1 : 0;
  }
  // The test sees what it is about.
  assert.ok(seen.exact > 100 && seen.bounds > 60 && seen.unbounded > 20 && seen.frames > 20, JSON.stringify({ ...seen, claims: [...seen.claims] }));
  assert.ok([true, false, null].every((verdict) => (seen.claims.get(verdict) ?? 0) > 10), JSON.stringify([...seen.claims]));
  assert.equal(seen.shapes.size, 3);
});

test("what is not at hand never counts for less than it told", async () => {
  const random = mulberry(15);
  const atMost = (truth, bound) => bound === null || (truth !== null && truth <= bound);
  let [looser, compared] = [0, 0];
  for (let round = 0; round < 200; round += 1) {
    const k = 2 + Math.floor(random() * 2);
    const made = [];
    for (let at = 0; at < 3; at += 1) made.push(await randomPolicy(random, k, true));
    const next = made.pop();
    const kept = random() < 0.5;
    const sequence = new Sequence();
    made.forEach(({ policy }, at) => {
      if (kept && at === 0) sequence.untold(policy);
      else sequence.forgotten({ policy: policy.id, cost: policy.cost });
    });
    const bound = sequence.after(next.policy);
    // Everything that was released, under the contexts of the policies that are at hand.
    const releases = [...made, next].map((one, at) => ({ ...one, answer: null, context: at === 2 || (kept && at === 0) ? one.context : { kind: "unknown" } }));
    const truth = shown(wholeOf([frameBounds(releases, k, 2n ** 64n)], [...made, next].map(({ policy }) => policy.cost)));
    assert.ok(atMost(truth.ldp, bound.ldp));
    assert.ok(truth.lip === undefined || atMost(truth.lip, bound.lip), `round ${round}`);
    for (const [name, units] of truth.secrets) assert.ok(atMost(units, bound.secrets.get(name)), `round ${round}`);
    if (truth.lip !== undefined && truth.lip !== null) {
      compared += 1;
      looser += bound.lip === null || bound.lip > truth.lip ? 1 : 0;
    }
  }
  assert.ok(compared > 60 && looser > 20, `${looser} of ${compared}`);
});

test("large alphabets: keep and bits are judged without their square", async () => {
  const k = 1 << 14;
  const random = mulberry(16);
  const weights = parts(random, k, 2 ** 32, 1, 0);
  const box = { kind: "box", lower: weights.map((w) => Math.floor(w / 2)), upper: weights.map((w) => 2 * w + 1) };
  const secret = { kind: "secret", name: "s", weights: [2 ** 31, 2 ** 31], rows: [weights, [...weights].reverse()] };
  const claims = [{ notion: "ldp", about: "input", epsilon: level(2 ** 32 - 1, 1) }];
  const names = { names: Array.from({ length: k }, (_, x) => `answer ${x}`) };
  const turned = { names: [...names.names].reverse() };
  const make = (context, inputs, channel) => Policy.fromJson({ undertone: "policy/1", claims, context, inputs, channel });
  const keep = () => ({ shape: "keep", keep: Array.from({ length: k }, () => 2 ** 30 + Math.floor(random() * 2 ** 30)), base: parts(random, k, 2 ** 48, 1, 0) });
  const bits = { shape: "bits", symbols: k, own: 2 ** 31, other: 2 ** 30 };
  const kept = await make(box, names, keep());
  const marked = await make(secret, turned, bits);
  const past = new Sequence();
  past.released(kept, Report.fromJson({ undertone: "report/1", policy: kept.id, id: "00".repeat(16), token: 77 }));
  past.released(marked, Report.fromJson({ undertone: "report/1", policy: marked.id, id: "00".repeat(16), bits: "a5".repeat(k / 8) }));
  for (const [context, channel] of [[box, bits], [secret, keep()], [box, keep()]]) {
    const next = await make(context, turned, channel);
    const standing = past.after(next);
    assert.equal(standing.exact, true);
    // The answer at hand can only be one of all answers: three releases cost at most their sum, and more than the next alone.
    assert.ok(standing.ldp > next.cost && standing.ldp <= kept.cost + marked.cost + next.cost + 10n);
    assert.ok(standing.lip <= standing.ldp && standing.secrets.get("s") <= standing.ldp);
    assert.ok(standing.secrets.get("s") > 0n);
  }
});

test("many releases: exact however many there are", async () => {
  const policy = await Policy.fromJson({ undertone: "policy/1", claims: [{ notion: "ldp", about: "input", epsilon: level(3, 1) }], context: { kind: "prior", weights: [2 ** 31, 2 ** 31] }, inputs: { indices: 2 }, channel: { shape: "table", masses: [[3 * 2 ** 46, 2 ** 46], [2 ** 46, 3 * 2 ** 46]] } });
  const past = new Sequence();
  const report = (token) => Report.fromJson({ undertone: "report/1", policy: policy.id, id: "00".repeat(16), token });
  for (let pair = 0; pair < 100; pair += 1) for (const token of [0, 1]) past.released(policy, report(token));
  // A hundred of each say nothing in all, and one more what one says.
  const standing = past.after(policy);
  assert.deepEqual([standing.exact, standing.ldp, standing.claims], [true, policy.cost, true]);
  assert.equal(standing.lip, policy.lip);
  past.released(policy, report(0));
  assert.equal(past.after(policy).ldp, natsOf([9n, 1n]));
  assert.equal(past.after(policy).claims, false);
});

test("a ledger relies on nothing but its own notes", async () => {
  const table = (n, claims) => Policy.fromJson({ undertone: "policy/1", claims, context: { kind: "unknown" }, inputs: { indices: 2 }, channel: { shape: "table", masses: [[3 * 2 ** 46, 2 ** 46], [2 ** 46, 3 * 2 ** 46]] }, provenance: { n } });
  const claims = [{ notion: "ldp", about: "input", epsilon: level(3, 1) }];
  const [first, second, third] = await Promise.all([1, 2, 3].map((n) => table(n, claims)));
  const told = new Sequence();
  told.released(first, Report.fromJson({ undertone: "report/1", policy: first.id, id: "00".repeat(16), token: 0 }));
  const wrong = new Sequence();
  const nine = new Consent({ ldp: "2.1972245774", lip: null });
  for (const [past, allowed] of [[told, true], [wrong, true]]) {
    const ledger = new Ledger(10n ** 12n, new Map([["x", [{ policy: first.id, cost: first.cost }]]]));
    assert.equal(ledger.request("x", first, past, nine), "repeat");
    assert.equal(ledger.request("x", second, past, nine) === "fresh", allowed);
    // The sequence given is one release behind: what was noted counts, not what was not mentioned.
    assert.throws(() => ledger.request("x", third, past, nine), AboveConsent);
    assert.equal(ledger.releases("x").length, 2);
  }
  assert.throws(() => nine.check(first), TypeError, "one policy says nothing about what was released before");
  const poor = new Ledger(first.cost, new Map([["x", [{ policy: first.id, cost: first.cost }]]]));
  assert.throws(() => poor.spend("x", second, told, nine), Exhausted);
});

test("together: any order, whatever they answer", async () => {
  const random = mulberry(17);
  assert.equal(Sequence.together([]), null);
  for (let round = 0; round < 30; round += 1) {
    const made = [];
    for (let at = 0; at < 3; at += 1) made.push(await randomPolicy(random, 2, true));
    const policies = made.map(({ policy }) => policy);
    const [there, back] = [Sequence.together(policies), Sequence.together([...policies].reverse())];
    assert.deepEqual(found(there), found(back));
    const releases = made.map((one) => ({ ...one, answer: null }));
    assert.deepEqual(found(there), shown(wholeOf([frameBounds(releases, 2, 2n ** 64n)], policies.map(({ cost }) => cost))));
  }
});

test("unknown answers are listed as far as there is room, the fewest first", async () => {
  const random = mulberry(18);
  const claims = [{ notion: "ldp", about: "input", epsilon: level(2 ** 32 - 1, 1) }];
  const make = (k, channel, outputs) => Policy.fromJson({ undertone: "policy/1", claims, context: { kind: "unknown" }, inputs: { indices: k }, channel, ...(outputs && { outputs: { indices: outputs } }) });
  const table = (k, outputs) => make(k, { shape: "table", masses: Array.from({ length: k }, () => parts(random, outputs, 2 ** 48, 1, 0)) }, outputs);
  // 16 symbols, four outputs each, and 2^16 patterns: one of the two past releases fits into 2^22 cells, not both.
  const [small, next] = [await table(16, 4), await table(16, 4)];
  const patterns = await make(16, { shape: "bits", symbols: 16, own: 2 ** 31, other: 2 ** 30 });
  const [both, listed] = [new Sequence(), new Sequence()];
  both.untold(patterns);
  both.untold(small);
  listed.untold(small);
  listed.forgotten({ policy: patterns.id, cost: patterns.cost });
  assert.deepEqual({ ...both.after(next), claims: null }, { ...listed.after(next), claims: null });
  assert.equal(both.after(next).exact, false);
  // Of several at once the one that is hardest to list comes last, where it need not be.
  const wide = await make(3000, { shape: "keep", keep: new Array(3000).fill(2 ** 38), base: parts(random, 3000, 2 ** 48, 1, 0) });
  for (const policies of [[wide, await table(3000, 2)], [await table(3000, 2), wide]]) assert.equal(Sequence.together(policies).exact, true);
});

test("the largest alphabets are bounded by what each release attains", async () => {
  const symbols = 2 ** 22 + 1;
  const claims = [{ notion: "ldp", about: "input", epsilon: level(2 ** 32 - 1, 1) }];
  const make = (own) => Policy.fromJson({ undertone: "policy/1", claims, context: { kind: "unknown" }, inputs: { indices: symbols }, channel: { shape: "bits", symbols, own, other: 2 ** 30 } });
  const policies = [await make(2 ** 31), await make(3 * 2 ** 30)];
  const standing = Sequence.together(policies);
  const sum = policies[0].cost + policies[1].cost;
  assert.ok(standing.ldp >= sum && standing.ldp <= sum + 2n, `${standing.ldp} ${sum}`);
  assert.deepEqual([standing.exact, standing.lip, standing.claims], [false, undefined, null]);
});
