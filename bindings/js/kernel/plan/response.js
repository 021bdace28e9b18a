/** The message of a plan: which items a device answers, how its answers are drawn, and what it sends. */

import { fromHex, toHex } from "../bytes.js";
import { Reader, Writer } from "../codec.js";
import { refuse } from "../errors.js";
import { U32 } from "../exact.js";
import { integer, listOf, optional, parseDocument, record, textOf } from "../json.js";
import { draw, Foreign, ownsAnswer, systemRandom } from "../report.js";
import { isDrawn } from "./draft.js";

/**
 * Draws which items a device answers: all without a weight, and `asked` of the others, in their order. It is drawn once for a plan and a device, independently of the answers, and
 * stored before anything is sent; an item that is refused or skipped is left out and not replaced.
 */
export function chooseItems({ items, asked }, random = systemRandom) {
  const left = new Map(items.flatMap((item, at) => (isDrawn(item) ? [[at, BigInt(item.weight)]] : [])));
  let total = Array.from(left.values()).reduce((a, b) => a + b, 0n);
  const taken = new Set();
  for (let draws = 0; draws < asked; draws += 1) {
    const value = random(8).reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
    const mark = (value * total) >> 64n;
    let running = 0n;
    for (const [at, weight] of left) {
      running += weight;
      if (running <= mark) continue;
      taken.add(at);
      left.delete(at);
      total -= weight;
      break;
    }
  }
  return Array.from(items.keys()).filter((at) => !isDrawn(items[at]) || taken.has(at));
}

/**
 * The symbol that each item randomises: an answer, or the combination of several with the first most significant; null if one is missing. `answers` has, by a question's name, the
 * answer's number or its text; every one is checked, also those of items that were not drawn, so that what is wrong shows on every device.
 */
export function symbolsOf({ questions, items }, answers) {
  const unknown = Object.keys(answers).find((name) => questions.every((question) => question.name !== name));
  if (unknown !== undefined) throw new RangeError(`there is no question ${JSON.stringify(unknown)}: the plan asks ${questions.map(({ name }) => name).join(", ")}`);
  const given = questions.map(({ name, answers: alphabet }) => {
    const answer = answers[name] ?? null;
    if (answer === null) return null;
    if (typeof answer === "string") return alphabet.symbol(answer);
    if (Number.isInteger(answer) && answer >= 0 && answer < alphabet.size) return answer;
    // The answer is a person's: it stays out of the message.
    throw new RangeError(`the answer to ${name} is not of its alphabet: give its number, from 0 to ${alphabet.size - 1}, or its text`);
  });
  return items.map((item) => (item.questions.some((q) => given[q] === null) ? null : item.questions.reduce((symbol, q) => symbol * questions[q].answers.size + given[q], 0)));
}

/** What a device sends under a plan. */
export class Response {
  constructor(plan, id, answers) {
    Object.assign(this, { plan, id, answers: Object.freeze(answers.map(({ item, token = null, bits = null }) => Object.freeze({ item, token, bits }))) });
    Object.freeze(this);
  }

  toBytes() {
    const out = new Writer();
    out.u8(1);
    out.bytes(fromHex(this.plan));
    out.bytes(fromHex(this.id));
    out.list(this.answers, ({ item, token, bits }) => {
      out.u32(item);
      out.u8(bits === null ? 0 : 1);
      if (bits === null) return out.u32(token);
      out.u32(bits.length);
      return out.bytes(bits);
    });
    return out.finish();
  }

  toJSON() {
    const answers = this.answers.map(({ item, token, bits }) => (bits === null ? { item, token } : { item, bits: toHex(bits) }));
    return { undertone: "response/1", plan: this.plan, id: this.id, answers };
  }

  static fromBytes(bytes) {
    const reader = new Reader(bytes);
    const version = reader.u8();
    if (version !== 1) refuse("version", `version response/${version} is not known here`);
    const [plan, id] = [toHex(reader.take(32)), toHex(reader.take(16))];
    const answers = reader.list(9, () => {
      const item = reader.u32();
      const kind = reader.u8();
      if (kind > 1) refuse("tag", "token: unknown kind");
      return kind === 0 ? { item, token: reader.u32() } : { item, bits: reader.take(reader.u32()).slice() };
    });
    if (reader.rest.length > 0) refuse("trailing", "bytes follow the end of the response");
    return new Response(plan, id, answers);
  }

  /** From text (read strictly) or parsed JSON. */
  static fromJson(value) {
    const v = typeof value === "string" ? parseDocument(value) : value;
    record(v, "the response", ["undertone", "plan", "id", "answers"]);
    const version = textOf(v.undertone, "undertone");
    const [plan, id] = [textOf(v.plan, "plan"), textOf(v.id, "id")];
    const read = listOf(v.answers, "answers", answerFields);
    if (version !== "response/1") refuse("version", `version ${JSON.stringify(version)} is not known here`);
    if (!/^[0-9a-f]{64}$/.test(plan)) refuse("json", "plan: not 64 hexadecimal digits");
    if (!/^[0-9a-f]{32}$/.test(id)) refuse("json", "id: not 32 hexadecimal digits");
    return new Response(
      plan,
      id,
      read.map((one) => one()),
    );
  }
}

/** The fields of an answer by type only, and then the function that makes it. */
function answerFields(value, what) {
  record(value, what, ["item"], ["token", "bits"]);
  const item = Number(integer(value.item, `${what}.item`, U32));
  const token = optional(value.token, (n) => Number(integer(n, `${what}.token`, U32)));
  const digits = optional(value.bits, (text) => textOf(text, `${what}.bits`));
  return () => {
    if ((token === null) === (digits === null)) refuse("json", `${what} has exactly one of: token, bits`);
    const bits = digits === null ? null : (fromHex(digits) ?? refuse("json", `${what}.bits: not hexadecimal digits`));
    return { item, token, bits };
  };
}

/**
 * Draws a response: for each of the device's items in order its answer, first the memo where the item has a policy `fresh` and none is kept, then 16 bytes for the id. Items whose questions
 * are not all answered are left out. Gives the response, and every memo that is to be kept for the period, by item.
 */
export function drawResponse(plan, answers, { items, memos = new Map(), random = systemRandom }) {
  const parts = plan.draft.items;
  const symbols = plan.symbols(answers);
  if (items.some((at, i) => !Number.isInteger(at) || at < 0 || at >= parts.length || (i > 0 && items[i - 1] >= at))) throw new RangeError("the items are not those of a choice, in order");
  const kept = new Map(memos);
  const drawn = [];
  for (const at of items) {
    const { policy, fresh } = parts[at];
    const symbol = symbols[at];
    if (symbol === null) continue;
    if (fresh === null) drawn.push({ item: at, ...draw(plan.policies[policy], symbol, random) });
    else {
      if (!kept.has(at)) kept.set(at, draw(plan.policies[policy], symbol, random).token);
      drawn.push({ item: at, ...draw(plan.policies[fresh], kept.get(at), random) });
    }
  }
  const response = new Response(plan.id, toHex(random(16)), drawn);
  acceptResponse(plan, response);
  return { response, memos: kept };
}

/** Refuses a response that the plan cannot have released: `plan`, `items`, `asked` or `token`. */
export function acceptResponse(plan, response) {
  const { items, asked } = plan.draft;
  const { answers } = response;
  if (response.plan !== plan.id) throw new Foreign("plan", "the response was made under another plan");
  answers.forEach(({ item }, at) => {
    if (item >= items.length) throw new Foreign("items", `the plan has no item ${item}`);
    if (at > 0 && answers[at - 1].item >= item) throw new Foreign("items", "items must come in increasing order, each once");
  });
  const drawn = answers.filter(({ item }) => isDrawn(items[item])).length;
  if (drawn > asked) throw new Foreign("asked", `${drawn} drawn items are answered where ${asked} are asked`);
  for (const { item, token, bits } of answers) {
    const { policy, fresh } = items[item];
    if (!ownsAnswer(plan.policies[fresh ?? policy], { token, bits })) throw new Foreign("token", `the answer to item ${item} is outside its policy's output alphabet`);
  }
}
