/** Policies: what is left of a document once every claim was found to hold. */

import { sha256 } from "./bytes.js";
import { check, lipRatio } from "./certificate.js";
import { draftBytes, draftFromBytes } from "./codec.js";
import { draftFromFields, outputsOf } from "./document.js";
import { refuse } from "./errors.js";
import { level, ratioNats, ratioText } from "./exact.js";
import { parseDocument } from "./json.js";
import { viewOf } from "./likelihood.js";

const shownStrength = (strength) =>
  strength && {
    ldp: level(strength.ldp.ratio),
    upper: strength.upper && level(strength.upper.ratio),
    lower: strength.lower && level(strength.lower.ratio),
    exact: strength.exact,
  };

const made = Symbol("a policy is made by verifying");

/** A verified policy. There is no way to one but through a check of every claim. */
export class Policy {
  constructor(key, draft, bytes, id, certificate) {
    if (key !== made) throw new TypeError("a policy is made by Policy.fromJson or Policy.fromBytes");
    Object.assign(this, { draft, bytes, id, certificate });
    Object.freeze(this);
  }

  /** From a document, as text (read strictly) or as parsed JSON. */
  static async fromJson(document) {
    const { draft, id } = draftFromFields(typeof document === "string" ? parseDocument(document) : document);
    return Policy.#verified(draft, id);
  }

  /** From canonical bytes. */
  static async fromBytes(bytes) {
    return Policy.#verified(draftFromBytes(bytes), null);
  }

  /** From parts that were read as those of a larger document. */
  static async fromDraft(draft) {
    return Policy.#verified(draft, null);
  }

  static async #verified(draft, stated) {
    const bytes = draftBytes(draft);
    const id = await sha256(bytes);
    if (stated !== null && stated !== id) refuse("id", `the content was changed; its id is ${id}`);
    const certificate = check(viewOf(draft.channel), draft.channel, draft.context, draft.claims);
    return new Policy(made, draft, bytes, id, certificate);
  }

  get inputs() {
    return this.draft.inputs;
  }

  get outputs() {
    return outputsOf(this.draft);
  }

  /** What the channel attains, whatever it claims, as text. */
  get attained() {
    const { input, secret, deltas } = this.certificate;
    const shown = (least) => least && { ratio: ratioText(least.ratio), bound: least.bound };
    return { input: shownStrength(input), secret: shownStrength(secret), deltas: deltas.map(shown) };
  }

  /** Attained LDP of the input in units of 10^-10 nats, or null without bound: what one answer costs. */
  get cost() {
    return ratioNats(this.certificate.input.ldp.ratio);
  }

  /** Attained two-sided LIP of the input, null without bound, undefined without a context. */
  get lip() {
    const ratio = lipRatio(this.certificate.input);
    return ratio === null ? undefined : ratioNats(ratio);
  }

  /** Attained LDP of the secret, null without bound, undefined without a secret. */
  get secretLdp() {
    return this.certificate.secret ? ratioNats(this.certificate.secret.ldp.ratio) : undefined;
  }

  /** The probabilities of each output for one input, as Numbers, for showing; null for bits and blocks. */
  row(symbol) {
    const view = viewOf(this.draft.channel);
    if (view === null) return null;
    const shift = view.unit - 48n;
    return Array.from({ length: view.outputs }, (_, y) => Number(view.at(symbol, y) >> shift) / 2 ** 48);
  }
}
