// The page of a running centre, in a real browser: a demonstration in one process, and a network of processes of which one is killed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { closeBrowsers, DESK, PHONE, requestsIn, screenshot, startBrowser } from "./harness.mjs";

const directory = mkdtempSync(join(tmpdir(), "undertone-center-"));
const processes = new Set();
const ended = (child) => (child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : new Promise((resolve) => child.once("exit", resolve)));

after(async () => {
  await closeBrowsers();
  for (const child of processes) child.kill("SIGKILL");
  await Promise.all([...processes].map(ended));
  rmSync(directory, { recursive: true, force: true });
});

/** Runs `undertone`; `said(pattern)` waits until it has printed that. */
function undertone(...args) {
  const child = spawn(process.env.UNDERTONE_BIN, args, { cwd: directory, stdio: ["pipe", "pipe", "pipe"] });
  processes.add(child);
  child.stdin.on("error", () => {});
  let [output, complaint] = ["", ""];
  child.stdout.on("data", (text) => (output += text));
  child.stderr.on("data", (text) => (complaint += text));
  const said = (pattern) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(output);
        if (match) resolve(match);
        return match;
      };
      if (look()) return;
      child.stdout.on("data", look);
      child.once("exit", (code) => look() || reject(new Error(`undertone ${args.join(" ")} ended with ${code}: ${output}${complaint}`)));
    });
  return { child, said };
}

/** What the server answers to a request with headers of our own. */
const ask = (url, { method = "GET", headers = {} } = {}) =>
  new Promise((resolve, reject) => {
    const asked = request(url, { method, headers }, (response) => {
      let body = "";
      response.on("data", (text) => (body += text));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    asked.on("error", reject);
    asked.end();
  });

/** Texts on the page that are hard to read: the contrast of each with what is behind it, if it is below 4.5. */
const faint = (page) =>
  page.evaluate(() => {
    const parse = (colour) => {
      const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
      return { rgb: [r, g, b], a };
    };
    const luminance = (rgb) => {
      const [r, g, b] = rgb.map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const { rgb, a } = parse(getComputedStyle(at).backgroundColor);
        if (a === 1) return rgb;
      }
      return [255, 255, 255];
    };
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const words = walker.currentNode.textContent.trim();
      if (!words || !element.checkVisibility() || element.closest(".hidden, .skip, noscript")) continue;
      const style = getComputedStyle(element);
      const colour = parse(element.namespaceURI.includes("svg") ? style.fill : style.color).rgb;
      const [a, b] = [luminance(colour), luminance(behind(element))];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < 4.5) found.push(`${words}: ${contrast.toFixed(2)}`);
    }
    return found;
  });

/** What a screen reader could not name. */
const nameless = (page) =>
  page.evaluate(() => {
    const named = (element) => element.getAttribute("aria-label") || element.labels?.length > 0 || element.getAttribute("aria-hidden") === "true";
    const all = [...document.querySelectorAll("progress, svg, [role=region]")];
    const sections = [...document.querySelectorAll("section")].filter((section) => !document.getElementById(section.getAttribute("aria-labelledby"))?.textContent);
    return [...all.filter((element) => !named(element)), ...sections].map((element) => element.outerHTML.slice(0, 120));
  });

const decided = (page) => page.locator("#decided").evaluate((element) => Number(element.textContent.replaceAll(",", "")));
const more = (page, than) => page.waitForFunction((n) => Number(document.getElementById("decided").textContent.replaceAll(",", "")) > n, than, { timeout: 60_000 });
const fits = async (page) => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= PHONE.viewport.width, "no horizontal overflow");

/** Everything that the browser sent went to this page, and only asked. */
function onlyAsked({ connections }, url) {
  const asked = connections.flatMap(({ to, bytes }) => {
    assert.equal(to, new URL(url).host);
    return requestsIn(bytes);
  });
  assert.ok(asked.length > 5);
  assert.ok(asked.every(({ method, body }) => method === "GET" && body === ""));
  const paths = new Set(asked.map(({ path }) => path));
  assert.deepEqual([...paths].sort(), ["/", "/assets/center.css", "/assets/center.js", "/assets/chart.js", "/assets/icon.svg", "/assets/page.js", "/assets/style.css", "/v1/state"]);
}

test("a demonstration is watched, and a sensor dies", { timeout: 240_000 }, async () => {
  const demo = undertone("fusion", "demo", "--broker", "builtin", "--rate", "5", "--kill", "2@40");
  const [, url] = await demo.said(/page at (\S+)/);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  const { context, complaints, sent } = await startBrowser(DESK);
  const page = await context.newPage();
  await page.goto(url);
  await more(page, 0);
  assert.match(await page.locator("#verdict").textContent(), /^(no|yes)$/);
  assert.match(await page.locator("#public-title").textContent(), /^alarm, epoch \d+$/);
  assert.match(await page.title(), /^alarm: (no|yes) · Undertone$/);
  await more(page, await decided(page));
  const words = await page.locator("#private-words").textContent();
  assert.match(words, /occupied is (no|yes)/);
  assert.match(await page.locator("#assumption").textContent(), /for epochs that are independent given occupied\. However readings/);
  assert.doesNotMatch(await page.locator("#budget-words").textContent(), /certified for/);
  await page.locator('[data-sensor="2"][data-state="dead"]').waitFor({ timeout: 60_000 });
  assert.match(await page.locator('#events [data-kind="dead"]').textContent(), /fault|room 3 is dead/);
  await page.waitForFunction(() => document.getElementById("heard").textContent === "5 of 6");
  await more(page, await decided(page) + 20);
  assert.equal(await page.locator("#sensors li").count(), 6);
  assert.ok((await page.locator("#chart circle").count()) > 20 && (await page.locator("#chart circle.some").count()) > 20);
  assert.deepEqual(await nameless(page), []);
  assert.deepEqual(await faint(page), []);
  await screenshot(page, "center-desk");
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await faint(page), []);
  await screenshot(page, "center-dark");
  await page.setViewportSize(PHONE.viewport);
  await more(page, await decided(page));
  await page.locator("details summary").click();
  await fits(page);
  await screenshot(page, "center-phone-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator("details summary").click();
  await fits(page);
  await screenshot(page, "center-phone");

  // For programs, and for nobody else.
  const state = await ask(`${url}v1/state`);
  assert.equal(state.status, 200);
  assert.match(state.headers["content-type"], /^application\/json/);
  assert.match(state.headers["content-security-policy"], /default-src 'none'/);
  const { public: hypothesis, sensors, budget } = JSON.parse(state.body);
  assert.deepEqual([hypothesis.name, hypothesis.values, sensors.length, budget.limit], ["alarm", ["no", "yes"], 6, 5]);
  assert.equal((await ask(`${url}v1/state`, { headers: { host: "evil.example" } })).status, 421);
  assert.equal((await ask(url, { headers: { host: `evil.example:${new URL(url).port}` } })).status, 421);
  assert.equal((await ask(`${url}v1/state`, { headers: { host: `localhost:${new URL(url).port}` } })).status, 200);
  assert.equal((await ask(`${url}v1/state`, { method: "POST" })).status, 405);
  assert.equal((await ask(`${url}assets/index.html`)).status, 404);
  assert.deepEqual([(await ask(`${url}healthz`)).body, (await ask(`${url}readyz`)).body], ["ok\n", "ready\n"]);

  // It ends when it is asked to, with what it has seen, and the page says that it is gone.
  demo.child.kill("SIGINT");
  await demo.said(/sensors sent their constant token/);
  await ended(demo.child);
  assert.equal(demo.child.exitCode, 0);
  await page.locator("#trouble", { hasText: "does not answer since" }).waitFor();
  assert.ok(complaints.every((complaint) => /ERR_CONNECTION|ERR_EMPTY_RESPONSE|Failed to load resource/.test(complaint)), complaints.join("\n"));
  onlyAsked(await sent(), url);
});

test("a process of a network is killed, and its page says so", { timeout: 240_000 }, async () => {
  const given = [[[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]], [[0.2, 0.3, 0.5], [0.1, 0.2, 0.7]], [[0.1, 0.1, 0.8], [0.1, 0.1, 0.8]]];
  const model = {
    public: { name: "water", values: ["dry", "damp", "flooded"] },
    private: { name: "home", values: ["away", "in"] },
    hypotheses: [[0.2, 0.2], [0.2, 0.2], [0.1, 0.1]],
    sensors: [{ name: "<b>cellar</b>", given }, { name: "a sensor with a rather long name behind the washing machine", given }],
  };
  writeFileSync(join(directory, "model.json"), JSON.stringify(model));
  const design = undertone("fusion", "design", "--model", "model.json", "--information", "2", "--ldp", "2", "--outputs", "3", "--restarts", "3", "--epochs", "50", "-o", "network.json");
  await ended(design.child);
  assert.equal(design.child.exitCode, 0);
  // A broker for them: topics carry the network's id, so two networks on one do not meet.
  const demo = undertone("fusion", "demo", "--broker", "builtin", "--rate", "1");
  const [, broker] = await demo.said(/builtin broker at (\S+)\)/);
  const center = undertone("fusion", "center", "--bundle", "network.json", "--broker", broker, "--listen", "--deadline", "60", "--json");
  const url = JSON.parse((await center.said(/\{"address".*\}/))[0]).address;
  const sensor = (index) => undertone("fusion", "sensor", "--bundle", "network.json", "--index", String(index), "--broker", broker, "--state", `sensor-${index}.state`, "--numbered", "--json");
  const sensors = [sensor(0), sensor(1)];
  const { context, complaints, sent } = await startBrowser({ ...PHONE, colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(url);
  await page.locator("#sensors li").first().waitFor();
  assert.equal(await page.locator("#verdict").textContent(), "nothing yet");
  for (let epoch = 1; epoch <= 12; epoch += 1) for (const { child } of sensors) child.stdin.write(`${epoch} ${epoch % 3}\n`);
  await more(page, 11);
  assert.equal(await page.locator("#heard").textContent(), "2 of 2");
  assert.equal(await page.locator('#sensors [data-state="live"]').count(), 2);
  assert.equal(await page.locator("#sensors .name").first().textContent(), "<b>cellar</b>");
  await fits(page);
  sensors[1].child.kill("SIGKILL");
  await page.locator('[data-sensor="1"][data-state="dead"]').waitFor();
  assert.match(await page.locator("#events li").first().textContent(), /washing machine is dead/);
  await page.waitForFunction(() => document.getElementById("said").textContent.includes("is dead"));
  // The other goes on, and nobody waits for the dead.
  sensors[0].child.stdin.write("13 1\n14 2\n");
  await more(page, 13);
  assert.equal(await page.locator("#heard").textContent(), "1 of 2");
  assert.equal(await page.locator("#chart circle.some").count(), 2);
  // It comes back with what it remembers.
  const again = sensor(1);
  await page.locator('[data-sensor="1"]:not([data-state="dead"])').waitFor();
  for (const { child } of [sensors[0], again]) child.stdin.write("15 0\n16 0\n");
  await more(page, 15);
  assert.equal(await page.locator("#heard").textContent(), "2 of 2");
  assert.equal(await page.locator('#sensors [data-state="live"]').count(), 2);
  await fits(page);
  await screenshot(page, "center-three-values");
  // Without its broker nothing is decided, and the page says that too.
  demo.child.kill("SIGKILL");
  await page.locator("#trouble", { hasText: "The broker is gone" }).waitFor();
  assert.equal((await ask(`${url}readyz`)).status, 503);
  assert.deepEqual(await faint(page), []);
  center.child.kill("SIGTERM");
  await ended(center.child);
  await page.locator("#trouble", { hasText: "does not answer" }).waitFor();
  assert.ok(complaints.every((complaint) => /ERR_CONNECTION|ERR_EMPTY_RESPONSE|Failed to load resource/.test(complaint)), complaints.join("\n"));
  onlyAsked(await sent(), url);
});
