/** Laws: what is assumed about a person's data. Variables are numbered, the questions first. */

import { checkParts } from "../document.js";
import { refuse } from "../errors.js";
import { MASS_ONE, sum } from "../exact.js";
import { magnitude, NOUGHT, plus, product } from "./magnitude.js";

const MAX_POINTS = 1 << 16;

export const UNKNOWN_LAW = Object.freeze({ kind: "unknown" });

/** A list of probabilities in units of 2^-48 that sum to one. */
export const makeRow = (row) => checkParts(row, MASS_ONE, "law", "a list of probabilities");

/** Checks a tree: one node per variable, `{ parent: null, rows: [row] }` or one row per value of the parent. */
function checkTree(nodes, sizes) {
  if (nodes.length !== sizes.length) refuse("law", `the law has ${nodes.length} nodes where ${sizes.length} variables need one each`);
  nodes.forEach(({ parent, rows }, v) => {
    if (parent !== null && (parent >= nodes.length || parent === v)) refuse("law", `node ${v} has no other variable as its parent`);
    const needed = parent === null ? 1 : sizes[parent];
    if (rows.length !== needed) refuse("law", `node ${v} has ${rows.length} rows where ${needed} are needed`);
    rows.forEach((row, at) => {
      if (row.length !== sizes[v]) refuse("law", `row ${at} of node ${v} has ${row.length} entries where ${sizes[v]} are needed`);
    });
    for (let z = 0; z < sizes[v]; z += 1) {
      if (rows.every((row) => row[z] === 0n)) refuse("law", `value ${z} of variable ${v} has probability nought`);
    }
  });
  nodes.forEach((_, v) => {
    let above = v;
    for (let steps = 0; above !== null; steps += 1) {
      if (steps > nodes.length) refuse("law", `variable ${v} is its own ancestor`);
      above = nodes[above].parent;
    }
  });
}

const comesBefore = (a, b) => {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at >= 0 && a[at] < b[at];
};

function checkPoints(points, sizes) {
  if (points.length === 0 || points.length > MAX_POINTS) refuse("law", `a law has 1 to ${MAX_POINTS} points, not ${points.length}`);
  const seen = sizes.map((size) => new Uint8Array(size));
  points.forEach(({ weight, values }, at) => {
    if (weight === 0n) refuse("law", `the weight of point ${at} is 0: leave the point out`);
    if (values.length !== sizes.length) refuse("law", `point ${at} has ${values.length} values where ${sizes.length} are needed`);
    values.forEach((value, v) => {
      if (value >= sizes[v]) refuse("law", `point ${at}: variable ${v} has no value ${value}`);
      seen[v][value] = 1;
    });
    if (at > 0 && !comesBefore(points[at - 1].values, values)) refuse("law", `point ${at} does not come after the one before it`);
  });
  const total = sum(points.map(({ weight }) => weight));
  if (total !== MASS_ONE) refuse("law", `the points sum to ${total} where exactly ${MASS_ONE} is needed`);
  seen.forEach((values, v) => {
    const never = values.indexOf(0);
    if (never >= 0) refuse("law", `value ${never} of variable ${v} has probability nought`);
  });
}

/** Refuses a law that is none over variables of these sizes. */
export function checkLaw(law, sizes, hasSecrets) {
  if (law.kind === "unknown" && hasSecrets) refuse("law", "there are secrets and nothing is assumed about the data: give a tree or points");
  if (law.kind === "tree") checkTree(law.nodes, sizes);
  if (law.kind === "points") checkPoints(law.points, sizes);
}

/** The probabilities of a variable's values as integers in units of 2^-48, or null where they are no such integers (a variable with a parent). */
export function exactMarginal(law, sizes, variable) {
  if (law.kind === "tree") return law.nodes[variable].parent === null ? law.nodes[variable].rows[0] : null;
  const weights = new Array(sizes[variable]).fill(0n);
  for (const { weight, values } of law.points) weights[values[variable]] += weight;
  return weights;
}

const marginals = new WeakMap();

/** The probabilities of a variable's values, rounded: from the root down, sums in the order of the parent's values. Found once for each law. */
export function marginal(law, sizes, variable, up) {
  if (!marginals.has(law)) marginals.set(law, new Map());
  const found = marginals.get(law);
  const key = up ? variable : -1 - variable;
  if (!found.has(key)) found.set(key, roundedMarginal(law, sizes, variable, up));
  return found.get(key);
}

function roundedMarginal(law, sizes, variable, up) {
  const known = exactMarginal(law, sizes, variable);
  if (known !== null) return known.map((weight) => magnitude(weight, -48, up));
  const { parent, rows } = law.nodes[variable];
  const above = marginal(law, sizes, parent, up);
  return Array.from({ length: sizes[variable] }, (_, z) =>
    rows.reduce((total, row, x) => plus(total, product(above[x], magnitude(row[z], -48, up), up), up), NOUGHT),
  );
}
