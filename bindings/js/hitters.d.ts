import type { Plan } from "./undertone.js";

/** A value that has no code. Neither it nor its message holds the value. */
export class NoCode extends Error {
  readonly reason: "long" | "letter" | "number" | "large";
}

/** A verified plan for frequent values of an open set (`hitters/1`). */
export class HittersPlan {
  private constructor();
  /** From a document's text. Throws a DecodeError, or what `verifyPlan` throws. */
  static fromJson(text: string): Promise<HittersPlan>;
  readonly id: string;
  readonly plan: Plan;
  readonly longer: "refuse" | "cut";
  /** The bits of the code that each round asks for. */
  readonly prefixes: readonly number[];
  readonly hashBits: number;
  readonly seedBits: number;
  readonly seedBytes: number;
  readonly tokenBytes: number;
  readonly reportBytes: number;
  /** What a device randomises in a round. Throws a NoCode. */
  symbol(round: number, seed: Uint8Array, value: string): number;
  /** A person's only report, as hexadecimal digits. */
  report(value: string, random?: (count: number) => Uint8Array): string;
}
