/**
 * A ledger that goes to another device, once. The old device then releases nothing any more. That the text is taken over only once cannot be enforced:
 * so whoever takes it over adds what it holds to what is there, and two ledgers that meet again are one with the costs of both.
 */

import { fromHex, sha256, toHex } from "../kernel/bytes.js";
import { ascending } from "../kernel/exact.js";
import { systemRandom } from "../kernel/report.js";
import { systemDay } from "./day.js";
import { join, refuseMoved, see } from "./ledger.js";
import { changeState, decodeLedger, DeviceError, encodeLedger, KEPT_POLICIES } from "./state.js";

/**
 * Moves the ledger of a device into a text that another one takes over with `importLedger`. From then on the device releases nothing and is not moved
 * again. Keep the text: it is all that is left of what was spent.
 */
export async function exportLedger(device, { today = systemDay, random = systemRandom } = {}) {
  const { text } = await changeState(device, (state) => {
    refuseMoved(state);
    see(state, today());
    state.moved = { id: toHex(random(16)), day: state.day };
    return { text: encodeLedger(state) };
  });
  return text;
}

/** Takes over a ledger that another device gave away. The first one a device that has released nothing takes over brings its budgets too. */
export async function importLedger(device, text) {
  const other = decodeLedger(text);
  const idOf = async (digits) => [await sha256(fromHex(digits)), digits];
  await changeState(device, async (state) => {
    if (state.moved !== null && state.moved.id === other.moved.id) {
      throw new DeviceError("own_ledger", "this is the ledger that this device gave away: import it on the device it goes to");
    }
    const kept = new Map(await Promise.all(state.policies.map(idOf)));
    for (const [id, digits] of await Promise.all(other.policies.map(idOf))) if (kept.size < KEPT_POLICIES) kept.set(id, digits);
    join(state, structuredClone(other));
    state.policies = Array.from(kept).sort(([a], [b]) => ascending(a, b)).map(([, digits]) => digits);
    return {};
  });
}
