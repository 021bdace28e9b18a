// What leaves the device of a person who answers: the report, and nothing else.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accept, Policy, Report } from "../../bindings/js/undertone.js";
import { closeBrowsers, DESK, PHONE, requestsIn, screenshot, startBrowser, startCurator } from "./harness.mjs";

const ANSWERS = ["zebrafinch", "okapi", "narwhal"];
let curator;
let policy;

const made = (id, plan, more = {}) => ({ id, title: "Animals", question: "Which animal are you?", answers: { names: ANSWERS }, plan, minimum: 20, retention: "A month.", contact: "owner@example.org", ...more });

before(async () => {
  curator = await startCurator();
  const create = (body) => curator.api("/v1/surveys", { method: "POST", body: JSON.stringify(body) });
  await create(made("animals", { epsilon: "1" }));
  await create(made("twins", { epsilon: "1" }));
  await create(made("loud", { epsilon: "3" }));
  await create(made("ages", { epsilon: "1" }, { question: "How old are you?", answers: { edges: ["0", "20", "40", "100"], values: ["10", "30", "70"] } }));
  await create(made("regions", { epsilon: "1", groups: [{ group: "north", people: 500 }, { group: "south of the river", people: 300 }] }));
  const { round } = await curator.api("/v1/surveys/animals");
  policy = await Policy.fromJson(await (await fetch(`${curator.base}/v1/policies/${round.groups[0].policy}`)).text());
});
after(async () => {
  await closeBrowsers();
  await curator.stop();
});

/** Counts requests as the page makes them, for what must not happen between two moments. */
function counter(page) {
  const seen = [];
  page.on("request", (request) => seen.push(`${request.method()} ${request.url()}`));
  return seen;
}

/** Standard headers of a browser; a survey's answer has no business in any of them. */
const HEADERS = /^(host|connection|pragma|cache-control|user-agent|accept|accept-language|accept-encoding|content-type|content-length|origin|priority|upgrade-insecure-requests|if-none-match|if-modified-since|sec-[a-z-]+)$/;

test("the raw answer never reaches the network", async () => {
  const { context, complaints, sent } = await startBrowser(PHONE);
  const page = context.pages()[0];
  const seen = counter(page);
  await page.goto(`${curator.base}/s/animals`);
  await page.getByRole("heading", { name: "Which animal are you?" }).waitFor();
  await screenshot(page, "respondent-question");
  const loaded = seen.length;

  await page.getByLabel("okapi").check();
  await page.waitForTimeout(700);
  assert.equal(seen.length, loaded, "choosing makes no request");
  await page.getByRole("button", { name: "Randomise my answer" }).click();
  const bytes = page.locator("#bytes");
  await bytes.waitFor();
  await page.waitForTimeout(700);
  assert.equal(seen.length, loaded, "randomising makes no request");
  assert.match(await page.textContent("main"), /You chose “okapi”\. That stays here\./);
  const shown = await bytes.textContent();
  await screenshot(page, "respondent-drawn");

  await page.getByRole("button", { name: "Send these bytes" }).click();
  await page.getByRole("heading", { name: "Thank you, it arrived" }).waitFor();
  await page.waitForTimeout(700);
  assert.equal(seen.length, loaded + 1, "sending makes one request");
  await screenshot(page, "respondent-sent");

  // Remembered, and not sent again.
  await page.reload();
  await page.getByRole("heading", { name: "Thank you, it arrived" }).waitFor();
  assert.equal(await page.locator("#bytes").textContent(), shown);
  assert.ok(!(await page.textContent("main")).includes("You chose"), "the raw answer is remembered nowhere");
  const kept = await page.evaluate(async () => {
    const databases = (await indexedDB.databases()).map(({ name }) => name);
    const open = indexedDB.open("undertone");
    const stored = await new Promise((resolve) => {
      open.onsuccess = () => {
        const request = open.result.transaction("device").objectStore("device").getAll();
        request.onsuccess = () => resolve(JSON.stringify(request.result));
      };
    });
    return { databases, stored, local: localStorage.length, session: sessionStorage.length, cookies: document.cookie, caches: (await caches.keys()).length, workers: (await navigator.serviceWorker.getRegistrations()).length };
  });
  assert.ok(!ANSWERS.some((answer) => kept.stored.includes(answer)), "what is stored does not name an answer");
  assert.deepEqual({ ...kept, stored: null }, { databases: ["undertone"], stored: null, local: 0, session: 0, cookies: "", caches: 0, workers: 0 });
  assert.deepEqual(complaints, []);

  // The browser's own log: every byte any part of it sent.
  const { connections, others } = await sent();
  assert.deepEqual(others, []);
  const host = curator.base.replace("http://", "");
  const talked = connections.filter(({ bytes }) => bytes.length > 0);
  assert.ok(talked.length > 0, "the log has recorded something");
  for (const { to } of talked) assert.equal(to, host);
  const requests = talked.flatMap(({ bytes }) => requestsIn(bytes));
  const posts = requests.filter(({ method }) => method !== "GET");
  assert.deepEqual(posts.map(({ method, path, body }) => [method, path, body]), [["POST", "/v1/surveys/animals/reports", shown]]);
  accept(policy, Report.fromJson(shown));
  assert.deepEqual(Object.keys(JSON.parse(shown)).sort(), ["id", "policy", "token", "undertone"]);
  const expected = new RegExp(`^/(s/animals|assets/[a-z/-]+\\.(js|css|svg)|v1/surveys/animals|v1/policies/${policy.id})$`);
  for (const { method, path, headers, body } of requests) {
    if (method === "GET") assert.match(path, expected);
    for (const [name, value] of Object.entries(headers)) {
      assert.match(name, HEADERS);
      assert.ok(!ANSWERS.some((answer) => value.includes(answer)), `${name}: ${value}`);
    }
    assert.ok(!ANSWERS.some((answer) => `${path} ${body}`.includes(answer)), `${path} ${body}`);
  }
});

test("the log would have seen it: beacons, sockets and workers of a page that cheats", async () => {
  const { context, complaints, sent } = await startBrowser({ ...PHONE, bypassCSP: true });
  const page = context.pages()[0];
  await page.goto(`${curator.base}/s/animals`);
  await page.getByLabel("okapi").check();
  await page.evaluate(async () => {
    navigator.sendBeacon("/v1/surveys/animals/reports", "beacon-okapi");
    const socket = new WebSocket(`ws://${location.host}/?socket-okapi`);
    await new Promise((resolve) => socket.addEventListener("error", resolve));
    const source = `fetch("${location.origin}/?worker-okapi").finally(() => postMessage(0))`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    await new Promise((resolve) => worker.addEventListener("message", resolve));
  });
  const { connections } = await sent();
  const all = Buffer.concat(connections.map(({ bytes }) => bytes)).toString("latin1");
  for (const trace of ["beacon-okapi", "socket-okapi", "worker-okapi"]) assert.ok(all.includes(trace), trace);
  assert.ok(complaints.some((text) => text.startsWith("worker:")) && complaints.some((text) => text.startsWith("socket:")));
});

test("with the same random bytes and the same draw, different answers make the same traffic", async () => {
  const transcripts = [];
  for (const answer of ANSWERS) {
    const { context, sent } = await startBrowser(PHONE);
    const page = context.pages()[0];
    // Every policy with a finite LDP level gives every answer the first message at the lowest random number.
    await page.addInitScript(() => {
      Crypto.prototype.getRandomValues = (array) => array.fill(0);
    });
    await page.goto(`${curator.base}/s/twins`);
    await page.getByLabel(answer).check();
    await page.getByRole("button", { name: "Randomise my answer" }).click();
    await page.getByRole("button", { name: "Send these bytes" }).click();
    await page.getByRole("heading", { name: "Thank you, it arrived" }).waitFor();
    const { connections } = await sent();
    const requests = connections.flatMap(({ bytes }) => requestsIn(bytes));
    transcripts.push(requests.map((request) => JSON.stringify(request)).sort());
  }
  assert.ok(transcripts[0].some((request) => request.includes('\\"token\\":0')));
  assert.deepEqual(transcripts[1], transcripts[0]);
  assert.deepEqual(transcripts[2], transcripts[0]);
});

test("a survey with groups asks for the group, says what it tells, and keeps the choice on the device until it is sent", async () => {
  const { context, complaints, sent } = await startBrowser({ ...PHONE, colorScheme: "dark" });
  const page = context.pages()[0];
  const seen = counter(page);
  await page.goto(`${curator.base}/s/regions`);
  await page.getByRole("heading", { name: "Which group are you in?" }).waitFor();
  await page.getByText("whoever receives it learns which group you chose").waitFor();
  await page.getByText("At least 300 people, says the survey's owner.").waitFor();
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
  await screenshot(page, "respondent-groups-dark");
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("alert").getByText("Choose a group first.").waitFor();
  const loaded = seen.length;
  await page.getByLabel("north").check();
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByText("You answer as north").waitFor();
  await page.getByRole("button", { name: "Choose another group" }).click();
  await page.getByLabel("south of the river").check();
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByText("The message tells that you chose the group south of the river.").waitFor();
  await page.getByText("The promise in numbers").click();
  await page.getByText("at least 300 people, says the survey's owner; nothing checks it").waitFor();
  await screenshot(page, "respondent-group-chosen-dark");
  await page.getByLabel("okapi").check();
  await page.getByRole("button", { name: "Randomise my answer" }).click();
  const shown = JSON.parse(await page.locator("#bytes").textContent());
  await page.waitForTimeout(300);
  assert.equal(seen.length, loaded, "neither the group nor the answer makes a request");
  const { round } = await curator.api("/v1/surveys/regions");
  assert.equal(shown.policy, round.groups[1].policy, "the report names the group's policy");
  await page.getByRole("button", { name: "Send these bytes" }).click();
  await page.getByRole("heading", { name: "Thank you, it arrived" }).waitFor();
  // Remembered: a second group would be a second answer.
  await page.reload();
  await page.getByRole("heading", { name: "Thank you, it arrived" }).waitFor();
  assert.equal(JSON.parse(await page.locator("#bytes").textContent()).id, shown.id);
  assert.equal(await page.getByRole("radio").count(), 0);
  assert.deepEqual(complaints, []);
  await sent();
});

test("offline it waits on the device, and goes once the network is back", async () => {
  const { context, sent } = await startBrowser(PHONE);
  const page = context.pages()[0];
  await page.goto(`${curator.base}/s/animals`);
  await page.getByLabel("narwhal").check();
  await page.getByRole("button", { name: "Randomise my answer" }).click();
  const shown = await page.locator("#bytes").textContent();
  await context.setOffline(true);
  await page.getByRole("button", { name: "Send these bytes" }).click();
  await page.getByText("It could not be sent").waitFor({ state: "attached", timeout: 20_000 });
  await page.getByRole("heading", { name: "Ready to send" }).waitFor();
  await context.setOffline(false);
  await page.reload();
  assert.equal(await page.locator("#bytes").textContent(), shown, "the same report");
  await page.getByRole("button", { name: "Send these bytes" }).click();
  await page.getByRole("heading", { name: "Thank you, it arrived" }).waitFor();
  await sent();
});

test("a promise above the person's limits is refused, and the limits are theirs to change", async () => {
  const { context, complaints, sent } = await startBrowser({ ...PHONE, colorScheme: "dark" });
  const page = context.pages()[0];
  await page.goto(`${curator.base}/s/loud`);
  await page.getByRole("alert").getByText("Above your limits.").waitFor();
  assert.ok(await page.getByRole("button", { name: "Randomise my answer" }).isDisabled());
  await page.getByText("Your own limits", { exact: true }).click();
  await screenshot(page, "respondent-refused-dark");
  await page.getByLabel("Odds between two answers may change by (LDP)").fill("much");
  await page.getByRole("button", { name: "Save my limits" }).click();
  await page.getByText("Limits are numbers of nats").waitFor();
  const save = async (label, value) => {
    await page.getByLabel(label).fill(value);
    await page.getByRole("button", { name: "Save my limits" }).click();
  };
  await save("Odds between two answers may change by (LDP)", "3");
  // The limit of one answer is high enough now; the budget of the question is not.
  await page.getByRole("alert").getByText("Above your budget.").waitFor();
  assert.ok(await page.getByLabel("okapi").isDisabled());
  await save("All my answers to one question together (LDP)", "3");
  await page.getByLabel("okapi").check();
  await page.reload();
  assert.equal(await page.getByLabel("All my answers to one question together (LDP)").inputValue(), "3", "limits are remembered");
  await page.getByLabel("okapi").check();
  await page.getByRole("button", { name: "Randomise my answer" }).click();
  await page.getByRole("heading", { name: "Ready to send" }).waitFor();
  assert.deepEqual(complaints, []);
  const { connections } = await sent();
  assert.ok(!connections.some(({ bytes }) => bytes.includes("POST ")), "nothing was sent");
});

/** What the page says about a budget in nats. */
const account = async (page, name) => {
  await page.getByText("In nats", { exact: true }).click();
  return page.locator("tr", { hasText: name }).locator("td").textContent();
};
const [QUESTION, COLLECTOR, ANYBODY] = ["This question, whoever asks", "This collector, all questions", "Anybody, all questions"];

test("an older page's memory counts: against every question until it is known which one was answered", async () => {
  const { context, complaints, sent } = await startBrowser(PHONE);
  const page = context.pages()[0];
  await page.goto(`${curator.base}/s/animals`);
  assert.equal(await account(page, QUESTION), "0 of 2.1972 ever; 2.1972 are left; at most 2.1973 in any year");
  assert.equal(await account(page, COLLECTOR), "0 of 8.7888 in a year; 8.7888 are left; at most 8.7889 in any year");
  await page.getByLabel("okapi").check();
  await page.getByRole("button", { name: "Randomise my answer" }).click();
  const shown = await page.locator("#bytes").textContent();
  // What an older page would have stored: by the survey's id, without a collector's budget.
  await page.evaluate(async () => {
    const settled = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
    const store = async () => (await settled(indexedDB.open("undertone"))).transaction("device", "readwrite").objectStore("device");
    const stored = await settled((await store()).get("state"));
    const { budgets, releases, data, policies } = JSON.parse(stored.text).state;
    const page = { datum: "animals", releases: releases.map(({ policy, cost }) => ({ policy, cost })), answers: data[0].answers };
    const state = { budget: budgets.question.nats, data: [page], policies };
    let check = 0xcbf29ce484222325n;
    for (const byte of new TextEncoder().encode(JSON.stringify(state))) check = BigInt.asUintN(64, (check ^ BigInt(byte)) * 0x100000001b3n);
    const text = JSON.stringify({ undertone: "device/1", check: check.toString(16).padStart(16, "0"), state });
    await settled((await store()).put({ version: stored.version, text }, "state"));
  });
  const spent = async (id) => {
    await page.goto(`${curator.base}/s/${id}`);
    return [await account(page, QUESTION), await account(page, COLLECTOR)].map((words) => words.replace(/; at most .*/, ""));
  };
  assert.deepEqual(await spent("ages"), ["1 of 2.1972 ever; 1.1972 are left", "1 of 8.7888 ever; 7.7888 are left"]);
  // The survey itself is seen again: its report is there, and its question is known from now on.
  await page.goto(`${curator.base}/s/animals`);
  await page.getByRole("heading", { name: "Ready to send" }).waitFor();
  assert.equal(await page.locator("#bytes").textContent(), shown);
  assert.deepEqual(await spent("ages"), ["0 of 2.1972 ever; 2.1972 are left", "1 of 8.7888 ever; 7.7888 are left"]);
  assert.deepEqual(complaints, []);
  await sent();
});

test("what is left is said in words, refills as the person sets it, and moves to another browser once", async () => {
  const { context, complaints, sent } = await startBrowser({ ...PHONE, colorScheme: "dark", acceptDownloads: true });
  const page = context.pages()[0];
  const left = async () => (await page.getByRole("region", { name: "What is left to tell" }).getByRole("listitem").allTextContents()).map((text) => text.replaceAll("\u00a0", " "));
  await page.goto(`${curator.base}/s/ages`);
  await page.getByRole("heading", { name: "How old are you?" }).waitFor();
  assert.deepEqual(await left(), [
    "Of what this browser may tell anybody in a year, 100 % is left; this answer takes 3 %.",
    "Of what it may tell this collector in a year, 100 % is left; this answer takes 12 %.",
    "Of what it may tell about this question, ever, 100 % is left; this answer takes 46 %.",
  ]);
  await page.getByLabel("Your answer").fill("33");
  await page.getByRole("button", { name: "Randomise my answer" }).click();
  const shown = await page.locator("#bytes").textContent();
  await page.goto(`${curator.base}/s/animals`);
  await page.getByText("97 % is left").waitFor();
  assert.equal(await account(page, ANYBODY), "1 of 35.1555 in a year; 34.1555 are left; at most 35.1556 in any year");
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
  await screenshot(page, "respondent-left-dark");
  await page.getByText("Your own limits", { exact: true }).click();
  await page.getByLabel("Everything I tell anybody together (LDP)").fill("1.5");
  await page.getByLabel("Days for anybody").fill("0");
  await page.getByRole("button", { name: "Save my limits" }).click();
  await page.getByText("refills within 1 to 36500 days").waitFor();
  await page.getByLabel("Days for anybody").fill("30");
  await page.getByRole("button", { name: "Save my limits" }).click();
  await page.getByRole("alert").getByText("Above your budget. The budget of everything this device tells anybody is 1.5 nats in 30 days, 1 are spent").waitFor();
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
  await screenshot(page, "respondent-budget-dark");
  assert.equal(await account(page, ANYBODY), "1 of 1.5 in 30 days; 0.5 are left; at most 19.5 in any year");

  await page.getByText("Move to another browser or phone").click();
  await page.getByRole("button", { name: "Make the file" }).click();
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Yes, stop answering here" }).click();
  const file = await (await saving).path();
  await screenshot(page, "respondent-moving-dark");
  for (const id of ["ages", "animals"]) {
    await page.goto(`${curator.base}/s/${id}`);
    await page.getByRole("heading", { name: "Your answers are given elsewhere" }).waitFor();
  }
  await screenshot(page, "respondent-moved-dark");
  await page.getByLabel("Take over a ledger from another device").setInputFiles(file);
  await page.getByRole("alert").getByText("the ledger that this device gave away").waitFor();

  const other = await startBrowser(PHONE);
  const there = other.context.pages()[0];
  await there.goto(`${curator.base}/s/ages`);
  await there.getByText("Move to another browser or phone").click();
  await there.getByLabel("Take over a ledger from another device").setInputFiles({ name: "x.json", mimeType: "application/json", buffer: Buffer.from("{}") });
  await there.getByRole("alert").getByText("no ledger that can be taken over").waitFor();
  await there.getByLabel("Take over a ledger from another device").setInputFiles(file);
  await there.getByRole("heading", { name: "Ready to send" }).waitFor();
  assert.equal(await there.locator("#bytes").textContent(), shown, "what waited there waits here");
  await there.goto(`${curator.base}/s/animals`);
  assert.equal(await account(there, ANYBODY), "1 of 1.5 in 30 days; 0.5 are left; at most 19.5 in any year");
  assert.deepEqual([...complaints, ...other.complaints], []);
  const logs = [await sent(), await other.sent()];
  assert.ok(!logs.some(({ connections }) => connections.some(({ bytes }) => bytes.includes("POST "))), "the ledger stays on the devices");
});

test("a page inside another site says that it has a memory of its own", async () => {
  const { context, sent } = await startBrowser(PHONE);
  const page = context.pages()[0];
  // The curator forbids it; somebody who serves the page may not.
  await page.route("**/s/animals", async (route) => {
    const response = await route.fetch();
    const forbidding = ["content-security-policy", "x-frame-options"];
    const headers = Object.fromEntries(Object.entries(response.headers()).filter(([name]) => !forbidding.includes(name)));
    await route.fulfill({ response, headers });
  });
  await page.goto(`${curator.base}/s/animals`);
  await page.getByRole("heading", { name: "What is left to tell" }).waitFor();
  assert.equal(await page.getByText("shown inside another site").count(), 0);
  await page.evaluate(() => {
    const frame = document.createElement("iframe");
    frame.src = location.href;
    document.body.replaceChildren(frame);
  });
  await page.frameLocator("iframe").getByText("shown inside another site").waitFor();
  await sent();
});

test("a survey can be answered with the keyboard alone, and everything has a name", async () => {
  const { context, complaints, sent } = await startBrowser(DESK);
  const page = context.pages()[0];
  await page.goto(`${curator.base}/s/ages`);
  await page.getByRole("heading", { name: "How old are you?" }).waitFor();
  await screenshot(page, "respondent-number");
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll("input, select, textarea, button, a, summary")]
      .filter((one) => !(one.labels?.length || one.textContent.trim() || one.getAttribute("aria-label")))
      .map((one) => one.outerHTML),
  );
  assert.deepEqual(nameless, []);
  await page.keyboard.press("Tab");
  await page.keyboard.type("33,5");
  await page.getByText("Counts as 20 to 40.").waitFor();
  await page.keyboard.press("Enter");
  await page.locator("#bytes").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Ready to send", "the heading is read out");
  for (let presses = 0; presses < 6; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(() => document.activeElement.textContent)) === "Send these bytes") break;
  }
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Thank you, it arrived" }).waitFor();
  assert.deepEqual(complaints, []);
  await sent();
});

test("without a secure context nothing is asked, and the page says why", async () => {
  const { context, sent } = await startBrowser({ ...PHONE, map: "survey.example" });
  const page = context.pages()[0];
  await page.goto(`${curator.base.replace("127.0.0.1", "survey.example")}/s/animals`);
  await page.getByRole("heading", { name: "This page is not secure enough" }).waitFor();
  assert.equal(await page.getByRole("radio").count(), 0);
  await screenshot(page, "respondent-insecure");
  const { connections } = await sent();
  const paths = connections.flatMap(({ bytes }) => requestsIn(bytes)).map(({ path }) => path);
  assert.ok(!paths.some((path) => path.startsWith("/v1/")), "not even the question is fetched");
});

test("a survey that does not exist is said so plainly", async () => {
  const response = await fetch(`${curator.base}/s/nobody`);
  assert.equal(response.status, 404);
});

test("one of a hundred thousand answers is searched for, on the device", async () => {
  const names = Array.from({ length: 100_000 }, (_, at) => `${["Mühlen", "Alt", "Neu", "Ober"][at % 4]}dorf ${at}`);
  const body = made("villages", { epsilon: "1" }, { question: "Where do you live?", answers: { names } });
  await curator.api("/v1/surveys", { method: "POST", body: JSON.stringify(body) });
  for (const colorScheme of ["light", "dark"]) {
    const { context, complaints } = await startBrowser({ ...PHONE, colorScheme });
    const page = context.pages()[0];
    const seen = counter(page);
    await page.goto(`${curator.base}/s/villages`);
    const box = page.getByLabel("Search for your answer");
    await box.waitFor();
    assert.ok((await page.locator("input, option").count()) < 60, "not one control for every answer");
    const loaded = seen.length;
    await page.getByRole("button", { name: "Randomise my answer" }).click();
    assert.match(await page.locator("#problem").textContent(), /Search for your answer and choose it first/);

    // Without the accent, and with any case.
    await box.fill("MUHLENDORF 4");
    assert.match(await page.locator("#found-says").textContent(), /answers have that in them: type more/);
    await screenshot(page, `respondent-search-${colorScheme}`);
    await box.fill("muhlendorf 4404");
    await page.getByLabel("Mühlendorf 4404", { exact: true }).check();
    await box.fill("nowhere");
    assert.match(await page.locator("#found-says").textContent(), /No answer has that in it/);
    assert.ok(await page.getByLabel("Mühlendorf 4404", { exact: true }).isChecked(), "what was chosen stays in sight");
    await box.press("Enter");
    assert.equal(await page.locator("#bytes").count(), 0, "Return searches");
    await page.waitForTimeout(300);
    assert.equal(seen.length, loaded, "searching makes no request");

    await page.getByRole("button", { name: "Randomise my answer" }).click();
    await page.locator("#bytes").waitFor();
    assert.match(await page.textContent("main"), /You chose “Mühlendorf 4404”\. That stays here\./);
    await screenshot(page, `respondent-many-drawn-${colorScheme}`);
    await page.getByRole("button", { name: "Send these bytes" }).click();
    await page.getByRole("heading", { name: "Thank you, it arrived" }).waitFor();
    assert.deepEqual(complaints, []);
    await context.close();
  }
});
