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
  readonly code: "damaged" | "missing" | "exists" | "in_use" | "moved" | "own_ledger" | "no_ledger" | "chosen" | "io";
}

/** Whose budget it is: one question, whoever asks it; one collector, whatever it asks; everything the device tells anybody. */
export type Level = "question" | "collector" | "device";
/** Nats as text, for ever (`days` null) or within any so many days. */
export interface Budget {
  nats: string;
  days: number | null;
}
/** A release that does not fit into the budget of a level. Amounts are nats as text. */
export class OverBudget extends Error {
  readonly level: Level;
  /** The datum's key or the collector's address; empty for the device. */
  readonly whose: string;
  readonly spent: string;
  readonly cost: string;
  readonly budget: Budget;
  /** The first day on which it would fit if nothing else is released, or null. */
  readonly refills: number | null;
}
/** What stands on one budget, in units of 10^-10 nats. */
export interface Account {
  spent: bigint;
  budget: bigint;
  days: number | null;
  left: bigint;
  /** Releases without a finite level, which no budget counts. */
  uncounted: number;
  /** The most that may be told in 365 days in a row. */
  yearly: bigint;
}
/** The day it is by the system's clock: days since 1970-01-01 (UTC). */
export function systemDay(): number;
/** A day in words: `2026-11-18`. */
export function dayText(day: number): string;

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
    | "forgotten"
    | "group"
    | "insecure"
    | "malformed"
    | "not_open"
    | "nothing"
    | "other_policy"
    | "period"
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
  /** Whether these are the channel's own levels; of blocks they are bounds a little above. */
  exact: boolean;
}

/** The blocks that the shape incidence releases, as a document has them. */
export type Family =
  | { kind: "subsets"; size: number }
  | { kind: "geometry"; order: number; dimension: number; classes: number; cosets: number; zero: boolean }
  | { kind: "hashing"; buckets: number; dimension: number }
  | { kind: "listed"; blocks: readonly (readonly number[])[] };

/** A channel; of bits and subsets `outputs` is the number of bits, of numbered blocks that of blocks. */
export type Channel = Readonly<
  { inputs: number; outputs: number } & (
    | { shape: "table"; masses: readonly (readonly bigint[])[] }
    | { shape: "keep"; keep: readonly bigint[]; base: readonly bigint[] }
    | { shape: "bits"; own: bigint; other: bigint }
    | { shape: "incidence"; coin: bigint; family: Family }
  )
>;

/** A verified policy: every claim was checked exactly. */
export class Policy {
  private constructor();
  static fromJson(document: string | object): Promise<Policy>;
  static fromBytes(bytes: Uint8Array): Promise<Policy>;
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly draft: Readonly<{ inputs: Alphabet; outputs: Alphabet | null; channel: Channel; context: { kind: string; name?: string }; claims: readonly object[]; provenance: { source: string; n: bigint; date: string } }>;
  readonly inputs: Alphabet;
  readonly outputs: Alphabet;
  readonly attained: { input: Strength; secret: Strength | null; deltas: ({ ratio: string; bound: boolean } | null)[] };
  readonly cost: bigint | null;
  readonly lip: bigint | null | undefined;
  readonly secretLdp: bigint | null | undefined;
  /** The probabilities of each output for one input; null for bits and blocks. */
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
  /** The LDP of one report of an item: of both channels in a row where reports are drawn from a kept answer. */
  firstReport(item: number): { ldp: bigint | null; exact: boolean };
  readonly attained: {
    costs: string[];
    first_reports: { ldp: string; exact: boolean }[];
    person: { ldp: string; exact: boolean };
    questions: Record<string, { all: BeliefText | null; own: BeliefText | null }>;
    secrets: Record<string, BeliefText | null>;
  };
  /** The items a device answers: drawn once, stored before anything is sent, never drawn again. */
  choose(random?: Random): number[];
  /** The symbol each item randomises, null where one of its questions has no answer. Answers are numbers from 0, or texts. */
  symbols(answers: Readonly<Record<string, number | string>>): (number | null)[];
  /** Draws a response. What has no answer is left out; memos are to be kept for the period. */
  respond(answers: Readonly<Record<string, number | string>>, options: { items: readonly number[]; memos?: ReadonlyMap<number, number>; random?: Random }): { response: Response; memos: Map<number, number> };
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

/** An item of a plan in a period. */
export interface PlanPart {
  plan: string;
  item: number;
  period: number;
}
/** What a device keeps; never the raw answer. */
export interface DeviceState {
  generation: number;
  /** The latest day seen. */
  day: number;
  moved: { id: string; day: number } | null;
  budgets: Record<Level, Budget>;
  releases: { id: string; data: string[]; policy: string; cost: string | null; day: number; collectors: { address: string; day: number }[]; part: PlanPart | null }[];
  data: { datum: string; answers: object[] }[];
  plans: { plan: string; choice: number[] | null; memos: { item: number; period: number; token?: number; bits?: string }[]; responses: object[] }[];
  policies: string[];
}
/** Budgets of the levels that are not the default; text is nats for ever. */
export interface DeviceOptions {
  budgets?: Partial<Record<Level, Budget | string>>;
}
export interface Device {
  load(): Promise<{ state: DeviceState; version: unknown }>;
  replace(version: unknown, state: DeviceState): Promise<boolean>;
}
export class MemoryDevice implements Device {
  constructor(options?: DeviceOptions);
  load(): Promise<{ state: DeviceState; version: unknown }>;
  replace(version: unknown, state: DeviceState): Promise<boolean>;
}
export class BrowserDevice implements Device {
  static open(name?: string, options?: DeviceOptions): Promise<BrowserDevice>;
  load(): Promise<{ state: DeviceState; version: unknown }>;
  replace(version: unknown, state: DeviceState): Promise<boolean>;
  setting(key: string, value?: unknown): Promise<unknown>;
}
export class FileDevice implements Device {
  static create(path: string, options?: DeviceOptions): Promise<FileDevice>;
  static open(path: string): Promise<FileDevice>;
  load(): Promise<{ state: DeviceState; version: unknown }>;
  replace(version: unknown, state: DeviceState): Promise<boolean>;
}
/** Moves a device's ledger into a text that another device takes over; from then on the device releases nothing. Keep the text. */
export function exportLedger(device: Device, options?: { today?: () => number; random?: Random }): Promise<string>;
/** Takes over a ledger that another device gave away: what both have released counts. */
export function importLedger(device: Device, text: string): Promise<void>;
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
  constructor(base: string, options?: { device?: Device; consent?: Consent; form?: "json" | "binary"; retry?: { attempts?: number; first?: number; longest?: number }; limits?: { survey?: number; policy?: number; answer?: number }; fetch?: typeof fetch; today?: () => number });
  readonly base: string;
  consent: Consent;
  survey(id: string, options?: { group?: string | null; datum?: string | null }): Promise<Survey>;
  policy(id: string): Promise<Policy>;
  record(survey: Survey, symbol: number, options?: { random?: Random }): Promise<{ report: Report; repeated: boolean; delivery: Delivery }>;
  /** Draws this device's response to a plan in one period and pays for it in one write; nothing is sent. `plan` is a verified plan. */
  respond(plan: object, answers: Record<string, number | null>, options?: { period?: number; random?: Random }): Promise<{ response: { undertone: string; plan: string; id: string; answers: { item: number; token?: number; bits?: string }[] }; refused: { item: number; error: OverBudget | Exhausted | AboveConsent }[]; repeated: boolean }>;
  noteResponse(response: { plan: string; id: string }, delivery: Delivery): Promise<void>;
  send(survey: Survey): Promise<{ delivery: Delivery; obstacle: string | null }>;
  answer(survey: Survey, symbol: number, options?: { random?: Random }): Promise<{ report: Report; repeated: boolean; delivery: Delivery; obstacle: string | null }>;
  answers(): Promise<{ datum: string; curator: string; survey: string; report: Report; delivery: Delivery }[]>;
  check(survey: Survey): Promise<void>;
  answered(survey: Survey): Promise<{ datum: string; curator: string; survey: string; report: Report; delivery: Delivery } | null>;
  spent(datum: string): Promise<{ spent: bigint | null; budget: bigint }>;
  budgets(survey: Survey): Promise<Record<Level, Account>>;
  setBudget(nats: string): Promise<void>;
  setBudgets(budgets: Partial<Record<Level, Budget | string | null>>): Promise<void>;
  submit(survey: string, reports: readonly Report[]): Promise<void>;
  flush(): Promise<{ accepted: number; refused: number; waiting: number; obstacle: string | null }>;
}
