// Small Rust programs to test against: built here, or found where UNDERTONE_EXAMPLES says they are.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** The path of an example of one of the crates, or null where there is no Rust. */
export function example(crate, name) {
  const built = process.env.UNDERTONE_EXAMPLES;
  if (built !== undefined) {
    const path = join(built, name);
    if (!existsSync(path)) throw new Error(`${path} is missing: cargo build -p ${crate} --example ${name}`);
    return path;
  }
  const cargo = ["build", "--quiet", "--package", crate, "--example", name, "--message-format=json-render-diagnostics"];
  const { status, error, stdout, stderr } = spawnSync("cargo", cargo, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  if (error?.code === "ENOENT") return null;
  if (status !== 0) throw new Error(`cargo ${cargo.join(" ")}: ${stderr}`);
  const artifacts = stdout.trim().split("\n").map((line) => JSON.parse(line));
  return artifacts.find(({ reason, target }) => reason === "compiler-artifact" && target.name === name).executable;
}
