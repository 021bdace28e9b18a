/**
 * The part of a plan that can say anything about one variable: a tree joins a variable with its parent, an item joins its questions, and
 * under a list of points everything is joined.
 */

import { listedAnswers } from "../frame.js";
import { isDrawn } from "./draft.js";

const MAX_OUTCOMES = 1 << 20;
/** Of everything that one plan claims. */
const MAX_STEPS = 2 ** 26;
/** The most combinations of values that are listed. */
const MAX_COMBINATIONS = 1 << 16;

/** The variables and items that are joined with a variable. */
export class Component {
  /** `beliefs` share the steps that are taken to be exact. */
  constructor(law, sizes, items, asked, variable, beliefs = 1) {
    const within = law.kind === "points" ? new Set(sizes.keys()) : joined(law.nodes, items, variable);
    Object.assign(this, { law, sizes, variable, steps: Math.floor(MAX_STEPS / Math.max(1, beliefs)) });
    this.variables = [...within].sort((a, b) => a - b);
    this.items = items.filter(({ questions }) => questions.some((q) => within.has(q)));
    this.drawn = this.items.filter(isDrawn).length;
    this.asked = Math.min(asked, this.drawn);
    /** Whether every item has one question, under a tree. */
    this.single = law.kind === "tree" && this.items.every(({ questions }) => questions.length === 1);
    Object.freeze(this);
  }

  /** Children of a variable, in the order of variables. */
  children(variable) {
    return this.variables.filter((v) => this.law.nodes[v].parent === variable);
  }

  /** Parent and children of a variable, in the order of variables. */
  neighbours(variable) {
    return this.variables.filter((v) => this.law.nodes[v].parent === variable || this.law.nodes[variable].parent === v);
  }

  /** The items of a variable, where each has one. */
  itemsOf(variable) {
    return this.items.filter(({ questions }) => questions[0] === variable);
  }

  /** How many numbers one outcome takes, Infinity where they are not listed. */
  get states() {
    const { law, sizes, variables } = this;
    if (law.kind === "points") return law.points.length;
    const cells = (v) => sizes[v] * (law.nodes[v].parent === null ? 1 : sizes[law.nodes[v].parent]);
    if (this.single) return variables.reduce((total, v) => total + cells(v), 0);
    const combinations = variables.reduce((product, v) => product * sizes[v], 1);
    return combinations <= MAX_COMBINATIONS ? combinations : Infinity;
  }

  /** The number of outcomes of all sets of items that are answered together, Infinity where they are without end. */
  get outcomes() {
    // sums[c]: over the choices of c drawn items, the products of their outputs; nothing needs to be told apart beyond the limit.
    const sums = [1, ...new Array(this.asked).fill(0)];
    let everybody = 1;
    for (const item of this.items) {
      const outputs = listedAnswers(item.channel) ?? Infinity;
      if (!isDrawn(item)) everybody = capped(everybody * outputs);
      else for (let c = this.asked; c > 0; c -= 1) if (sums[c - 1] > 0) sums[c] = capped(sums[c] + sums[c - 1] * outputs);
    }
    return capped(everybody * sums[this.asked]);
  }

  /** Whether all outcomes are tried. */
  get enumerable() {
    const { outcomes } = this;
    return outcomes <= MAX_OUTCOMES && outcomes * this.states <= this.steps;
  }

  /** The sets of items that are answered together, in lexicographic order of the drawn ones. */
  *sets() {
    const drawn = this.items.filter(isDrawn);
    const chosen = Array.from({ length: this.asked }, (_, i) => i);
    for (;;) {
      const taken = new Set(chosen.map((i) => drawn[i]));
      yield this.items.filter((item) => !isDrawn(item) || taken.has(item));
      const at = chosen.findLastIndex((i, place) => i < drawn.length - this.asked + place);
      if (at < 0) return;
      chosen[at] += 1;
      for (let next = at + 1; next < chosen.length; next += 1) chosen[next] = chosen[next - 1] + 1;
    }
  }
}

const capped = (count) => (count > MAX_OUTCOMES ? Infinity : count);

function joined(nodes, items, variable) {
  const links = nodes.map(() => []);
  nodes.forEach(({ parent }, v) => {
    if (parent === null) return;
    links[v].push(parent);
    links[parent].push(v);
  });
  for (const { questions } of items) {
    for (const q of questions.slice(1)) {
      links[q].push(questions[0]);
      links[questions[0]].push(q);
    }
  }
  const within = new Set([variable]);
  // A set is walked in the order of insertion, what is added on the way included.
  for (const v of within) for (const other of links[v]) within.add(other);
  return within;
}
