// How the modules hang together: what is public, what may use what, and that a package holds all of it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as undertone from "../undertone.js";

const root = new URL("../", import.meta.url);
const read = (name) => readFileSync(new URL(name, root), "utf8");

/** The modules that one imports or re-exports, by their names from this folder on. */
const importsOf = (name) =>
  Array.from(read(name).matchAll(/^(?:import|export) .*? from "([^"]+)";$/gm), ([, path]) => {
    assert.match(path, /^\.\.?\/[a-z/]+\.js$/, `${name} imports ${path}`);
    return new URL(path, new URL(name, root)).href.slice(root.href.length);
  });

/** Every module that undertone.js loads, each after those it imports; fails on a cycle. */
function loaded() {
  const done = new Set();
  const visit = (name, above) => {
    assert.ok(!above.includes(name), `${[...above, name].join(" imports ")}`);
    if (done.has(name)) return;
    for (const other of importsOf(name)) visit(other, [...above, name]);
    done.add(name);
  };
  visit("undertone.js", []);
  return [...done];
}

/** The part that a module belongs to. */
const partOf = (name) => name.replace(/(\/.*|\.js)$/, "");

test("the kernel uses nothing else, a device the kernel, the client both", () => {
  const allowed = { kernel: ["kernel"], device: ["kernel", "device"], client: ["kernel", "device"], undertone: ["kernel", "device", "client"] };
  const modules = loaded();
  for (const part of Object.keys(allowed)) assert.ok(modules.includes(`${part}.js`), part);
  for (const name of modules) for (const other of importsOf(name)) assert.ok(allowed[partOf(name)].includes(partOf(other)), `${name} imports ${other}`);
});

test("what is exported is what is declared", () => {
  const declared = Array.from(read("undertone.d.ts").matchAll(/^export (?:class|function|const) (\w+)/gm), ([, name]) => name);
  assert.deepEqual(Object.keys(undertone).sort(), declared.sort());
});

test("a package holds every module", () => {
  const { files } = JSON.parse(read("package.json"));
  for (const name of loaded()) assert.ok(files.some((one) => one === name || (one.endsWith("/") && name.startsWith(one))), name);
});
