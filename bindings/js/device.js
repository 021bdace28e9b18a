/**
 * What a device keeps, and where: the ledger of a person, the reports drawn and small policies; never the raw answer.
 *
 * Every device has `load()`, which gives `{ state, version }`, and `replace(version, state)`, which stores the state durably if the version
 * is still that one and gives false otherwise. So two tabs cannot both spend.
 */

import { decodeDevice, DeviceError, emptyState, encodeDevice } from "./device/state.js";

export { OverBudget } from "./device/budget.js";
export { dayText, systemDay } from "./device/day.js";
export { FileDevice } from "./device/file.js";
export { exportLedger, importLedger } from "./device/moving.js";
export { decodeDevice, DeviceError, encodeDevice, questionDatum } from "./device/state.js";

/** Forgets everything with the page or process. */
export class MemoryDevice {
  constructor({ budgets } = {}) {
    this.version = 0;
    this.text = encodeDevice(emptyState(budgets));
  }
  async load() {
    return { state: decodeDevice(this.text), version: this.version };
  }
  async replace(version, state) {
    if (version !== this.version) return false;
    this.text = encodeDevice({ ...state, generation: state.generation + 1 });
    this.version += 1;
    return true;
  }
}

const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(new DeviceError("io", `the browser's storage failed: ${request.error?.message}`));
  });

/** In the browser's IndexedDB, shared by all tabs of one origin. */
export class BrowserDevice {
  constructor(database, budgets) {
    Object.assign(this, { database, budgets });
  }
  static async open(name = "undertone", { budgets } = {}) {
    if (!globalThis.indexedDB) throw new DeviceError("io", "this browser keeps nothing (no IndexedDB), so no budget could be kept");
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("device");
    return new BrowserDevice(await settled(request), budgets);
  }
  async load() {
    const stored = await settled(this.database.transaction("device").objectStore("device").get("state"));
    if (stored === undefined) return { state: emptyState(this.budgets), version: 0 };
    return { state: decodeDevice(stored.text), version: stored.version };
  }
  replace(version, state) {
    return new Promise((resolve, reject) => {
      // Compare and write in one transaction.
      const transaction = this.database.transaction("device", "readwrite", { durability: "strict" });
      const store = transaction.objectStore("device");
      let written = false;
      const request = store.get("state");
      request.onsuccess = () => {
        if ((request.result?.version ?? 0) !== version) return;
        written = true;
        store.put({ version: version + 1, text: encodeDevice({ ...state, generation: state.generation + 1 }) }, "state");
      };
      transaction.oncomplete = () => resolve(written);
      const failed = () => reject(new DeviceError("io", `the browser's storage failed: ${transaction.error?.message}`));
      transaction.onerror = failed;
      transaction.onabort = failed;
    });
  }
  /** A number or text of the page's own, such as the person's consent. */
  async setting(key, value) {
    const mode = value === undefined ? "readonly" : "readwrite";
    const store = this.database.transaction("device", mode).objectStore("device");
    return settled(value === undefined ? store.get(`setting:${key}`) : store.put(value, `setting:${key}`));
  }
}
