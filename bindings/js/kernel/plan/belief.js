/** How far belief in a variable can rise and fall: which of the ways to find out applies, and what it finds. */

import { strengthUnder } from "../certificate.js";
import { ratioNats } from "../exact.js";
import { bound, byLikelihoods, leastProbability } from "./bound.js";
import { Component } from "./component.js";
import { enumerate } from "./enumeration.js";
import { exactMarginal } from "./law.js";
import { costliest, isExact, powerUp, productOfRatios } from "./person.js";
import { binaryTree, isBinaryTree } from "./tree.js";

const NOTHING = Object.freeze({ upper: 0n, lower: 0n, exact: true, riseAt: null, fallAt: null });

/** One item about one variable: what its policy attains under the law as its prior. */
function alone({ law, sizes, variable, items: [item] }) {
  const { upper, lower } = strengthUnder(item.channel, exactMarginal(law, sizes, variable));
  const at = (value, { output }) => ({ value, items: [item.index], outcomes: [output] });
  return { upper: ratioNats(upper.ratio), lower: ratioNats(lower.ratio), riseAt: at(upper.cell.high, upper.cell), fallAt: at(lower.cell.low, lower.cell) };
}

/** Whether a claim is about a belief, and not about the person as a whole. */
const isBelief = ({ about }) => about !== "person";

const UNNAMED = Object.freeze({ exact: false, riseAt: null, fallAt: null });

/** Belief given every answer to some items in one period, of which `asked` of those with a weight are answered. */
function beliefGiven({ law, sizes, claims = [] }, items, asked, variable) {
  // What does not depend on the answer tells nothing.
  const telling = items.filter(({ ratio: { n, d } }) => n !== d);
  const component = new Component(law, sizes, telling, asked, variable, claims.filter(isBelief).length);
  if (component.items.length === 0) return NOTHING;
  // What is kept is told in full by no number of reports, only approached.
  const exact = component.items.every((item) => item.fresh === null && isExact(item));
  if (component.items.length === 1 && component.variables.length === 1) return { ...alone(component), exact };
  if (component.enumerable) return { ...enumerate(component), exact };
  if (isBinaryTree(component)) return { ...binaryTree(component), exact };
  return { ...bound(component), ...UNNAMED };
}

const above = (a, b) => (a === null || b === null ? b !== null : a > b);

/** The worse of two, each side by itself; exact if both are. */
function worse(a, b) {
  const [upper, lower] = [above(b.upper, a.upper) ? b : a, above(b.lower, a.lower) ? b : a];
  return { upper: upper.upper, lower: lower.lower, exact: a.exact && b.exact, riseAt: upper.riseAt, fallAt: lower.fallAt };
}

/** What is learnt about a variable given everything (`all`), or given the answer to any one item that has it, alone (`own`). */
export function beliefOf(draft, items, variable, given) {
  const { law, sizes, asked, periods } = draft;
  if (periods > 1) {
    // The data may change between periods, and how is not assumed: the LDP of everything bounds it, whatever is given.
    const g = powerUp(productOfRatios(costliest(items, asked)), periods);
    return { ...byLikelihoods(leastProbability(law, sizes, variable), g), ...UNNAMED };
  }
  if (given === "all") return beliefGiven(draft, items, asked, variable);
  const own = items.filter(({ questions }) => questions.includes(variable));
  return own.map((item) => beliefGiven(draft, [{ ...item, weight: 0 }], 0, variable)).reduce(worse, NOTHING);
}
