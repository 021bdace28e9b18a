// Records answers on a device's file as it is told, line by line: the JavaScript half of the tests of the device's lock. The
// commands are those of crates/client/examples/recorder.rs.

import { createInterface } from "node:readline";
import { Client, FileDevice } from "../../undertone.js";

const TRIES = 20;

async function record(path, curator, id) {
  const client = new Client(curator, { device: await FileDevice.open(path) });
  const survey = await client.survey(id);
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      return (await client.record(survey, 0)).repeated ? "repeated" : "recorded";
    } catch (error) {
      if (error.name === "OverBudget" || error.name === "Exhausted" || error.name === "AboveConsent") return "refused";
      if (error.code !== "in_use") throw error;
    }
  }
  return "in_use";
}

/** Takes the lock to write, and never comes to the end of it. */
async function hold(path) {
  const device = await FileDevice.open(path);
  const { version, state } = await device.load();
  const stuck = new Promise((resolve) => {
    device.fs = { ...device.fs, rename: () => new Promise(() => resolve()) };
  });
  device.replace(version, state);
  await stuck;
  return "held";
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...words] = line.split(" ");
  console.log(await { record, hold }[command](...words));
}
