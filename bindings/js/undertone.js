/**
 * Undertone for browsers and Node: verify a policy exactly, randomise, remember, send.
 *
 * Plain ES modules, no dependencies, no build step. What leaves the device is a report. The raw answer is neither stored nor sent.
 */

export * from "./client.js";
export * from "./device.js";
export * from "./kernel.js";
