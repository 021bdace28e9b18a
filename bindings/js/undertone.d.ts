/** Undertone for browsers and Node. See README.md; formats in vectors/v1/README.md. */

/** Bytes or a document that cannot be read; `reason` is a name from vectors/v1/README.md. */
export class DecodeError extends Error {
  readonly reason: string;
}

/** A claim that is false, where, and by how much. */
export class Refusal extends Error {
  readonly claim: number;
  readonly side: "ldp" | "upper" | "lower" | "di" | "delta";
  readonly attained: string;
  readonly allowed: string;
  readonly cell: { output: number | null; high: number | null; low: number | null; prior: number | null };
}

/** Why the ledger releases nothing. */
export class Exhausted extends Error {
  readonly outcome: "budget" | "not_composable" | "not_composable_checked";
}

/** A release with which everything released about one datum would tell more than the person agreed to. Levels are nats as text, null without bound. */
export class AboveConsent extends Error {
  readonly number: "ldp" | "lip" | "secret";
  readonly attained: string | null;
  readonly allowed: string;
  /** The secret's name, for `secret`. */
  readonly secret: string | null;
}

/** A report that a policy cannot have released, or a response that a plan cannot. */
export class Foreign extends Error {
  readonly reason: "policy" | "token" | "plan" | "items" | "asked";
}

/** What a device cannot do. */
export class DeviceError extends Error {
  readonly code: "damaged" | "missing" | "exists" | "in_use" | "io";
}

/** A curator's refusal. */
export interface Problem {
  status: number;
  code: string;
  detail: string;
}

/** What went wrong between this device and a curator. */
export class ClientError extends Error {
  readonly code:
    | "address"
    | "answers"
    | "body"
    | "collector"
    | "forgotten"
    | "group"
    | "insecure"
    | "malformed"
    | "not_open"
    | "nothing"
    | "other_policy"
    | "refused"
    | "survey_id"
    | "too_large"
    | "unavailable";
  readonly problem: Problem | null;
  /** With `group`: the groups of the survey, of which one must be named. `people` is the owner's word. */
  readonly groups?: readonly { group: string; policy: string; people: number }[];
}

/** Gives as many random bytes as asked for. */
export type Random = (count: number) => Uint8Array;
export function systemRandom(count: number): Uint8Array;

/** JSON with exact integers (as bigint; other numbers as number) and without repeated fields. */
export function parseJson(text: string): unknown;
export function toHex(bytes: Uint8Array): string;
export function fromHex(text: string): Uint8Array | null;

/** Odds e^epsilon. */
export interface Odds {
  n: bigint;
  d: bigint;
}
/** Nats are bigints in units of 10^-10, or text as printed. */
export function natsText(units: bigint): string;
export function parseNats(text: string): bigint;
export function parseEpsilon(text: string): Odds;
export function epsilonAtMost(units: bigint): Odds;
export function epsilonNats(odds: Odds): string;
export function readOdds(pair: readonly (number | bigint)[]): Odds;

/** What an index stands for. */
export class Alphabet {
  readonly kind: "indices" | "names" | "points" | "bins";
  readonly size: number;
  label(index: number): string;
  range(index: number): [string, string] | null;
  symbol(text: string): number;
  toJSON(): object;
}
export function readAlphabet(value: unknown): Alphabet;

export interface Level {
  ratio: string;
  nats: string;
}
export interface Strength {
  ldp: Level;
  upper: Level | null;
  lower: Level | null;
}

/** A verified policy: every claim was checked exactly. */
export class Policy {
  private constructor();
  static fromJson(document: string | object): Promise<Policy>;
  static fromBytes(bytes: Uint8Array): Promise<Policy>;
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly draft: Readonly<{ inputs: Alphabet; outputs: Alphabet | null; channel: object; context: { kind: string; name?: string }; claims: readonly object[]; provenance: { source: string; n: bigint; date: string } }>;
  readonly inputs: Alphabet;
  readonly outputs: Alphabet;
  readonly attained: { input: Strength; secret: Strength | null; deltas: ({ ratio: string; bound: boolean } | null)[] };
  readonly cost: bigint | null;
  readonly lip: bigint | null | undefined;
  readonly secretLdp: bigint | null | undefined;
  row(symbol: number): number[] | null;
}

/** Draws one output by the pinned map. */
export function draw(policy: Policy, symbol: number, random?: Random): { token: number } | { bits: Uint8Array };

/** The only thing that leaves the device. */
export class Report {
  readonly policy: string;
  readonly id: string;
  readonly token: number | null;
  readonly bits: Uint8Array | null;
  static draw(policy: Policy, symbol: number, random?: Random): Report;
  static fromJson(value: string | object): Report;
  static fromBytes(bytes: Uint8Array): Report;
  toJSON(): object;
  toBytes(): Uint8Array;
}
export function accept(policy: Policy, report: Report): void;
export function encodeReports(reports: readonly Report[]): Uint8Array;
export function encodeBody(reports: readonly Report[], form?: "json" | "binary"): { type: string; body: string | Uint8Array };

/** A false claim of a plan. Levels are nats as text. */
export class PlanRefusal extends Error {
  readonly claim: number;
  readonly side: "ldp" | "upper" | "lower";
  readonly attained: string;
  readonly allowed: string;
  /** The question or secret (null for the person), its value, and items with their answers; null where a bound names none. */
  readonly where: { name: string | null; value: number | null; label: string | null; items: readonly number[] | null; outcomes: readonly (number | null)[] | null };
}

/** A policy of a plan that is refused by itself. */
export class PolicyRefused extends Error {
  readonly policy: number;
  readonly refusal: Refusal;
}

/** How far belief can rise and fall, in units of 10^-10 nats, null without bound. */
export interface Belief {
  readonly upper: bigint | null;
  readonly lower: bigint | null;
  /** Whether both are attained; otherwise they are upper bounds. */
  readonly exact: boolean;
}
export interface BeliefText {
  upper: string;
  lower: string;
  exact: boolean;
}

/** A verified plan: every policy and every claim about the person was checked. */
export class Plan {
  private constructor();
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly policies: readonly Policy[];
  readonly draft: Readonly<{
    questions: readonly { name: string; wording: string; answers: Alphabet }[];
    secrets: readonly { name: string; values: Alphabet }[];
    law: { kind: "unknown" | "tree" | "points" };
    items: readonly { questions: readonly number[]; policy: number; fresh: number | null; weight: number }[];
    asked: number;
    periods: number;
    claims: readonly object[];
    provenance: { source: string; n: bigint; date: string };
  }>;
  /** What each item costs: attained LDP in units of 10^-10 nats, null without bound. */
  readonly costs: readonly (bigint | null)[];
  readonly person: Readonly<{ ldp: bigint | null; exact: boolean; items: readonly number[] }>;
  /** Null where the law is unknown. */
  belief(name: string, given?: "all" | "own"): Belief | null;
  readonly attained: {
    costs: string[];
    person: { ldp: string; exact: boolean };
    questions: Record<string, { all: BeliefText | null; own: BeliefText | null }>;
    secrets: Record<string, BeliefText | null>;
  };
  /** The items a device answers: drawn once, stored before anything is sent, never drawn again. */
  choose(random?: Random): number[];
  /** Draws a response. What has no answer is left out; memos are to be kept for the period. */
  respond(answers: Readonly<Record<string, number>>, options: { items: readonly number[]; memos?: ReadonlyMap<number, number>; random?: Random }): { response: Response; memos: Map<number, number> };
  /** Throws `Foreign` for a response that the plan cannot have released. */
  accepts(response: Response): void;
}
/** Verifies a plan from its document, as text (read strictly) or as parsed JSON, or from its canonical bytes. */
export function verifyPlan(source: string | object | Uint8Array): Promise<Plan>;

/** What a device sends under a plan. */
export class Response {
  readonly plan: string;
  readonly id: string;
  readonly answers: readonly { item: number; token: number | null; bits: Uint8Array | null }[];
  static fromJson(value: string | object): Response;
  static fromBytes(bytes: Uint8Array): Response;
  toJSON(): object;
  toBytes(): Uint8Array;
}

export interface Release {
  policy: string;
  cost: bigint | null;
}

/** What a sequence of releases attains at worst. Levels are in units of 10^-10 nats, null without bound. */
export class Standing {
  private constructor();
  /** Whether every number is attained; otherwise some are upper bounds. */
  readonly exact: boolean;
  readonly ldp: bigint | null;
  /** Undefined if no policy declared a context. */
  readonly lip: bigint | null | undefined;
  readonly secrets: ReadonlyMap<string, bigint | null>;
  /** Whether all claims of all policies hold for the whole; null if that cannot be said. */
  readonly claims: boolean | null;
  /** What is told about a secret; one that no policy declared is bounded by the LDP. */
  aboutSecret(name: string): bigint | null;
  toJSON(): { exact: boolean; ldp: string; lip: string | null; secrets: Record<string, string>; claims: boolean | null };
}

/** Everything one device has released about one datum, as far as it still has it. */
export class Sequence {
  released(policy: Policy, report: Report): void;
  untold(policy: Policy): void;
  forgotten(release: Release): void;
  matches(noted: readonly Release[]): boolean;
  /** What everything released attains at worst once `next` has answered too, whatever its answer is. */
  after(next: Policy): Standing;
  /** What several policies attain together at worst, in any order; null for none. */
  static together(policies: readonly Policy[]): Standing | null;
}

/** Budgets of attained LDP per datum. */
export class Ledger {
  constructor(budget: bigint, data?: Map<string, Release[]>);
  request(datum: string, policy: Policy, past?: Sequence, consent?: Consent): "fresh" | "repeat";
  spend(datum: string, policy: Policy, past?: Sequence, consent?: Consent): "fresh";
  spent(datum: string): bigint | null;
  releases(datum: string): Release[];
  lipConsequence(datum: string, weights: readonly bigint[]): bigint | null;
}

/** How much of one secret may be told. */
export interface SecretConsent {
  name: string;
  ldp: string;
}

/** Limits in nats as text over everything released about one datum; null sets no limit. Defaults: ln 3, 2 ln 3, none. */
export class Consent {
  constructor(limits?: { lip?: string | null; ldp?: string | null; secrets?: readonly SecretConsent[]; secret?: SecretConsent | null });
  check(standing: Standing): void;
}

/** The key of the datum that a question asks about: its wording; null if it has no letter or digit. */
export function questionDatum(wording: string): string | null;

/** What a device keeps; never the raw answer. */
export interface DeviceState {
  generation: number;
  budget: string;
  collector_budget: string;
  data: { datum: string; releases: { policy: string; cost: string | null }[]; answers: object[] }[];
  policies: string[];
}
export interface Device {
  load(): Promise<{ state: DeviceState; version: unknown }>;
  replace(version: unknown, state: DeviceState): Promise<boolean>;
}
export class MemoryDevice implements Device {
  constructor(options?: { budget?: string; collectorBudget?: string });
  load(): Promise<{ state: DeviceState; version: unknown }>;
  replace(version: unknown, state: DeviceState): Promise<boolean>;
}
export class BrowserDevice implements Device {
  static open(name?: string, options?: { budget?: string; collectorBudget?: string }): Promise<BrowserDevice>;
  load(): Promise<{ state: DeviceState; version: unknown }>;
  replace(version: unknown, state: DeviceState): Promise<boolean>;
  setting(key: string, value?: unknown): Promise<unknown>;
}
export class FileDevice implements Device {
  static create(path: string, options?: { budget?: string; collectorBudget?: string }): Promise<FileDevice>;
  static open(path: string): Promise<FileDevice>;
  load(): Promise<{ state: DeviceState; version: unknown }>;
  replace(version: unknown, state: DeviceState): Promise<boolean>;
}
export function encodeDevice(state: DeviceState): string;
export function decodeDevice(text: string): DeviceState;

export type Delivery = "waiting" | "accepted" | { refused: Problem };

export interface Survey {
  id: string;
  title: string;
  question: string;
  round: { number: number; state: string };
  open: boolean;
  group: string;
  /** How many people share the policy, at least, as the survey's owner says; nothing checks it. */
  people: number;
  policy: Policy;
  datum: string;
}

/** A device, its owner's consent, and a curator. */
export class Client {
  constructor(base: string, options?: { device?: Device; consent?: Consent; form?: "json" | "binary"; retry?: { attempts?: number; first?: number; longest?: number }; limits?: { survey?: number; policy?: number; answer?: number }; fetch?: typeof fetch });
  readonly base: string;
  consent: Consent;
  survey(id: string, options?: { group?: string | null; datum?: string | null }): Promise<Survey>;
  policy(id: string): Promise<Policy>;
  record(survey: Survey, symbol: number, options?: { random?: Random }): Promise<{ report: Report; repeated: boolean; delivery: Delivery }>;
  send(survey: Survey): Promise<{ delivery: Delivery; obstacle: string | null }>;
  answer(survey: Survey, symbol: number, options?: { random?: Random }): Promise<{ report: Report; repeated: boolean; delivery: Delivery; obstacle: string | null }>;
  answers(): Promise<{ datum: string; curator: string; survey: string; report: Report; delivery: Delivery }[]>;
  check(survey: Survey): Promise<void>;
  answered(survey: Survey): Promise<{ datum: string; curator: string; survey: string; report: Report; delivery: Delivery } | null>;
  spent(datum: string): Promise<{ spent: bigint | null; budget: bigint }>;
  budgets(survey: Survey): Promise<{ question: { spent: bigint | null; budget: bigint }; collector: { spent: bigint; budget: bigint } }>;
  setBudget(nats: string): Promise<void>;
  setBudgets(nats: { question?: string | null; collector?: string | null }): Promise<void>;
  submit(survey: string, reports: readonly Report[]): Promise<void>;
  flush(): Promise<{ accepted: number; refused: number; waiting: number; obstacle: string | null }>;
}
