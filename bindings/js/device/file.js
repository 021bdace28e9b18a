/** A device in a file, for Node, and the lock of that file. */

import { toHex } from "../kernel/bytes.js";
import { parsed, sameValue } from "../kernel/json.js";
import { systemRandom } from "../kernel/report.js";
import { decodeDevice, DeviceError, emptyState, encodeDevice } from "./state.js";

/** In a file, for Node; the same file the Rust client writes, under the same lock. */
export class FileDevice {
  constructor(fs, path) {
    Object.assign(this, { fs, path });
  }
  /** A new file; refused if there is one. */
  static async create(path, { budgets } = {}) {
    const [fs, { basename, dirname, join }] = await Promise.all([import("node:fs/promises"), import("node:path")]);
    // One file has one lock, whatever links lead to it.
    const device = new FileDevice(fs, join(await attempt(fs.realpath(dirname(path))), basename(path)));
    await device.#locked(async () => {
      if (await exists(fs, device.path)) throw new DeviceError("exists", `${path} exists already: open it instead`);
      await device.#write(encodeDevice(emptyState(budgets)));
    });
    return device;
  }
  /** An existing file. */
  static async open(path) {
    const fs = await import("node:fs/promises");
    if (!(await exists(fs, path))) throw new DeviceError("missing", `there is no device file ${path}: create it first`);
    const device = new FileDevice(fs, await attempt(fs.realpath(path)));
    await device.load();
    return device;
  }
  async load() {
    const text = await attempt(this.fs.readFile(this.path, "utf8"));
    return { state: decodeDevice(text), version: text };
  }
  /** Replaces the file if it is still the one that was read, to the letter, and so of the same generation. */
  async replace(version, state) {
    return this.#locked(async () => {
      if ((await attempt(this.fs.readFile(this.path, "utf8"))) !== version) return false;
      await this.#write(encodeDevice({ ...state, generation: state.generation + 1 }));
      return true;
    });
  }
  /** Beside, synced, renamed, directory synced. */
  async #write(text) {
    const beside = `${this.path}.new`;
    await attempt(writeSynced(this.fs, beside, text));
    await attempt(this.fs.rename(beside, this.path));
    const { dirname } = await import("node:path");
    // Only Unix can sync a directory, and needs it for the rename to last.
    if (process.platform === "win32") return;
    const directory = await attempt(this.fs.open(dirname(this.path)));
    await attempt(directory.sync().finally(() => directory.close()));
  }
  /** Holds the device's lock while `action` runs; waits two seconds for somebody alive to let go of it. */
  async #locked(action) {
    for (let tries = 0; ; tries += 1) {
      const lock = await attempt(FileLock.take(this.fs, this.path));
      if (lock !== null) return action().finally(() => lock.release());
      if (tries > 100) throw new DeviceError("in_use", `${this.path} is in use by another process`);
      await sleep(20);
    }
  }
}

/** What a file system refuses, in a device's words. */
const attempt = (promise) =>
  promise.catch((error) => {
    throw error instanceof DeviceError ? error : new DeviceError("io", error.message);
  });

/** Whether there is a file of this name. */
const exists = (fs, path) =>
  fs.access(path).then(
    () => true,
    () => false,
  );

/** Writes a file that only its owner may read, and returns once it is on disk. */
async function writeSynced(fs, path, text) {
  const file = await fs.open(path, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// ---------------------------------------------------------------- the lock

/** How deep locks of dead takers may be nested before something else must be wrong. */
const DEEPEST_LOCK = 4;
/** How often a lock that changes hands is looked at again. */
const LOCK_ATTEMPTS = 50;

/**
 * One process at a time: a lock file that Rust and JavaScript take in the same way (`crates/client/src/device/lock.rs`).
 *
 * `<path>.held` exists while somebody holds the device. It is made whole (written under another name and linked, which fails if it exists)
 * and names its owner: process, when that process started, and a random tag. The lock of a dead process is replaced by renaming a new one
 * over it, and only by whoever holds the lock `<path>.held.<tag>`, taken in the same way: so of several that find a dead owner one
 * replaces it, and one that comes late finds another tag.
 */
class FileLock {
  constructor(fs, path, tag) {
    Object.assign(this, { fs, path, tag });
  }

  /** Takes the lock of a device's file, or gives null if somebody alive holds it. */
  static async take(fs, file) {
    const [path, tag] = [`${file}.held`, toHex(systemRandom(8))];
    const owner = JSON.stringify({ pid: process.pid, started: await startOf(fs, process.pid), tag });
    const how = await FileLock.#take(fs, path, tag, owner, 0);
    // What is left of the dead is a matter of tidiness.
    if (how === "replaced") await FileLock.#sweep(fs, path).catch(() => {});
    return how === null ? null : new FileLock(fs, path, tag);
  }

  async release() {
    // Never somebody else's: a lock that was taken over is left alone.
    const owner = await FileLock.#owner(this.fs, this.path).catch(() => null);
    if (owner?.tag === this.tag) await this.fs.rm(this.path, { force: true }).catch(() => {});
  }

  /** `made`, `replaced` where the owner was dead, or null. */
  static async #take(fs, path, tag, owner, depth) {
    if (depth > DEEPEST_LOCK) return null;
    const mine = `${path}.${tag}.new`;
    // Synced: a lock must not be empty after the whole machine has failed.
    await writeSynced(fs, mine, owner);
    try {
      return await FileLock.#takeWith(fs, path, mine, tag, owner, depth);
    } finally {
      await fs.rm(mine, { force: true }).catch(() => {});
    }
  }

  static async #takeWith(fs, path, mine, tag, owner, depth) {
    for (let tries = 0; tries < LOCK_ATTEMPTS; tries += 1) {
      const linked = await fs.link(mine, path).then(
        () => true,
        (error) => {
          if (error.code !== "EEXIST") throw error;
          return false;
        },
      );
      if (linked) return "made";
      const holder = await FileLock.#owner(fs, path);
      // Released in between.
      if (holder === null) continue;
      if (await isAlive(fs, holder)) return null;
      // Whoever holds the dead owner's own lock may replace it, if it is still there.
      const right = `${path}.${holder.tag}`;
      if ((await FileLock.#take(fs, right, tag, owner, depth + 1)) === null) {
        await sleep(5);
        continue;
      }
      try {
        const now = await FileLock.#owner(fs, path);
        if (now !== null && sameValue(now, holder)) {
          await fs.rename(mine, path);
          return "replaced";
        }
      } finally {
        await fs.rm(right, { force: true }).catch(() => {});
      }
    }
    return null;
  }

  /** Whoever a lock names, or null if there is none. */
  static async #owner(fs, path) {
    const text = await fs.readFile(path, "utf8").catch((error) => {
      if (error.code !== "ENOENT") throw error;
      return null;
    });
    if (text === null) return null;
    const owner = parsed(text);
    const whole = Number.isSafeInteger(owner?.pid) && typeof owner.tag === "string" && /^[0-9a-f]+$/.test(owner.tag) && (owner.started === null || typeof owner.started === "string");
    if (!whole) throw new Error(`${path} is no lock of ours: if no program uses the device, delete it`);
    return owner;
  }

  /**
   * Removes what dead takers have left beside a lock that is held: files of their making, and locks on the right to replace an owner that
   * was replaced long ago, which nobody can use any more.
   */
  static async #sweep(fs, path) {
    const { basename, dirname, join } = await import("node:path");
    const directory = dirname(path);
    for (const name of await fs.readdir(directory)) {
      if (!name.startsWith(`${basename(path)}.`)) continue;
      const owner = await FileLock.#owner(fs, join(directory, name)).catch(() => null);
      if (owner !== null && !(await isAlive(fs, owner))) await fs.rm(join(directory, name), { force: true });
    }
  }
}

/** Whether the process that made a lock still runs. A process number may have been given to another process since, which then started at another time. */
async function isAlive(fs, { pid, started }) {
  // Without a way to see processes nothing is taken over.
  if (!(await exists(fs, "/proc/self/stat"))) return true;
  const now = await startOf(fs, pid);
  return now !== null && (started === null || now === started);
}

/** When a process started, as the system counts; null if it has ended or cannot be seen. */
async function startOf(fs, pid) {
  const entry = await fs.readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // Fields are counted after the name, which may hold anything: state, then as 18th the threads, as 20th the start.
  const fields = entry.slice(entry.lastIndexOf(")") + 1).trim().split(/\s+/);
  // A zombie has ended, unless threads of it still run.
  const ended = /^[ZX]$/.test(fields[0]) && Number(fields[17]) <= 1;
  return fields.length < 20 || ended ? null : fields[19];
}
