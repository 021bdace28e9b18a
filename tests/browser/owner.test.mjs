// The owner's way: sign in, create a survey, watch it, seal, release, open the next round.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { closeBrowsers, crowd, DESK, PHONE, screenshot, startBrowser, startCurator } from "./harness.mjs";

let curator;
before(async () => {
  curator = await startCurator();
});
after(async () => {
  await closeBrowsers();
  await curator.stop();
});

/** 50 % first, 30 % second, 20 % third. */
const people = (count) => Array.from({ length: count }, (_, i) => [0, 0, 0, 0, 0, 1, 1, 1, 2, 2][i % 10]);

test("from the dashboard to the estimate", { timeout: 240_000 }, async () => {
  const desk = await startBrowser(DESK);
  const page = desk.context.pages()[0];
  await page.goto(curator.base);
  await page.getByLabel("Owner's token").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("does not know this token").waitFor();
  await page.getByLabel("Owner's token").fill(curator.token);
  await screenshot(page, "owner-sign-in");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Surveys" }).waitFor();

  await page.getByRole("link", { name: "New survey" }).first().click();
  await page.getByLabel("Title").fill("Commuting");
  await page.getByLabel("What people are asked").fill("How did you get to work today?");
  await page.getByLabel("Name in addresses (optional)").fill("commuting");
  await page.getByLabel("The answers, one per line").fill("By bicycle\nBy bus\nBy car");
  await page.getByLabel("Rounds", { exact: true }).fill("2");
  // Two rounds at the level of one would lock out whoever answers the first: the form says what it does about it.
  await page.getByText("Lowered from 1 to 0.5493 nats").waitFor();
  await page.getByText("so they answer every round").waitFor();
  await page.getByText("Another level").click();
  await page.getByLabel("Epsilon", { exact: true }).fill("1");
  await page.getByText("Devices refuse this").waitFor();
  await page.getByText("Balanced", { exact: true }).click();
  await page.getByText("Each later round is designed").waitFor();
  await page.getByText("More", { exact: true }).click();
  await page.getByLabel("Nothing is shown of an open round below").fill("200");
  await page.getByLabel("How long reports are kept").fill("Reports are deleted after a year.");
  await screenshot(page, "owner-new-survey");
  await page.getByRole("button", { name: "Create and open round 1" }).click();
  await page.getByRole("heading", { name: "Commuting" }).waitFor({ timeout: 60_000 });
  await page.getByText("nothing is said about an open round below 200").waitFor();

  // Somebody answers from a phone-sized window.
  const phone = await startBrowser(PHONE);
  const small = phone.context.pages()[0];
  await small.goto(await page.locator("#respondents").getAttribute("href").then((path) => `${curator.base}${path}`));
  await small.getByLabel("By bus").check();
  await small.getByRole("button", { name: "Randomise my answer" }).click();
  await small.getByRole("button", { name: "Send these bytes" }).click();
  await small.getByRole("heading", { name: "Thank you, it arrived" }).waitFor();

  // So do many others, and the page shows it without being loaded again.
  const others = await crowd(curator.base, "commuting", people(4000));
  const table = page.locator("#round-1 table");
  await table.waitFor({ timeout: 30_000 });
  await page.locator("dl").getByText((others + 1).toLocaleString("en"), { exact: true }).waitFor({ timeout: 30_000 });
  const { rounds } = await curator.api("/v1/surveys/commuting/estimates");
  const shares = rounds[0].headline.shares;
  // 4000 reports at LDP 0.55 have a standard error of about 0.04 per share; six of them are far from any accident.
  [0.5, 0.3, 0.2].forEach((truth, at) => assert.ok(Math.abs(shares[at].value - truth) < 0.24, JSON.stringify(shares)));
  const rows = await table.locator("tbody tr").allTextContents();
  assert.equal(rows.length, 3);
  assert.ok(rows[0].includes("By bicycle") && rows[0].includes((100 * shares[0].value).toFixed(1)), rows[0]);
  await page.getByRole("heading", { name: "What an observer can learn" }).waitFor();
  await page.waitForTimeout(4000);
  await screenshot(page, "owner-survey");

  // Exports carry the token and come as files.
  for (const [name, start] of [["CSV", "round"], ["JSON", "{"], ["Parquet", "PAR1"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
    const text = readFileSync(await download.path(), "latin1");
    assert.ok(text.startsWith(start), `${name}: ${text.slice(0, 40)}`);
  }

  // Seal (asked twice), release, next round.
  await page.getByRole("button", { name: "Seal round 1" }).click();
  await screenshot(page, "owner-seal");
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await curator.api("/v1/surveys/commuting")).state, "open");
  await page.getByRole("button", { name: "Seal round 1" }).click();
  await page.getByRole("button", { name: "Seal it" }).click();
  await page.getByRole("button", { name: "Release round 1" }).waitFor();
  const refused = await crowd(curator.base, "commuting", [0]).catch((error) => error);
  assert.equal(refused.code, "not_open");
  await page.getByRole("button", { name: "Release round 1" }).click();
  await page.getByRole("button", { name: "Release it" }).click();
  await page.getByRole("heading", { name: "Round 1, released" }).waitFor();
  const everybody = await (await fetch(`${curator.base}/v1/surveys/commuting/estimates`)).json();
  assert.equal(everybody.rounds[0].headline.shares.length, 3);
  await page.getByRole("button", { name: "Open round 2" }).click();
  await page.getByRole("button", { name: "Open it" }).click();
  await page.getByText("round 2, open", { exact: true }).waitFor({ timeout: 60_000 });
  await page.getByText("Round 2: LIP").click();
  await page.getByText("Designed for every prior in the box that round 1 gave").waitFor();
  await crowd(curator.base, "commuting", people(3000));
  await page.locator("#round-2 table").waitFor({ timeout: 30_000 });
  await page.getByRole("heading", { name: "Against LDP all along" }).waitFor();
  await screenshot(page, "owner-two-rounds");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForTimeout(300);
  await screenshot(page, "owner-two-rounds-dark");
  await page.setViewportSize(PHONE.viewport);
  // Nothing sticks out on a phone, once the charts have been drawn again.
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
  await page.waitForTimeout(500);
  await screenshot(page, "owner-two-rounds-phone-dark");

  // The officer's page has a policy of its own and needs nothing from anywhere.
  await page.goto(`${curator.base}/v1/surveys/commuting/officer`);
  await page.getByRole("heading").first().waitFor();
  await screenshot(page, "officer");

  // The person comes back for round 2, with the limits a device has unless told otherwise, and is not locked out.
  await small.goto(`${curator.base}/s/commuting`);
  await small.getByRole("heading", { name: "How did you get to work today?" }).waitFor();
  await small.getByRole("heading", { name: "What is left to tell" }).waitFor();
  await small.getByText("In nats", { exact: true }).click();
  await screenshot(small, "respondent-round-2");
  await small.getByLabel("By bus").check();
  await small.getByRole("button", { name: "Randomise my answer" }).click();
  await small.getByRole("button", { name: "Send these bytes" }).click();
  await small.getByRole("heading", { name: "Thank you, it arrived" }).waitFor();
  const { rounds: opened, spent_ldp: spent } = await curator.api("/v1/surveys/commuting");
  assert.equal(opened.length, 2);
  assert.ok(Number(spent) <= 1.6479, spent);
  assert.deepEqual(phone.complaints, []);
  assert.deepEqual(desk.complaints.filter((text) => !text.includes("401")), []);
  await phone.sent();
  await desk.sent();
});

test("a survey is paused, resumed, closed, archived and deleted", { timeout: 120_000 }, async () => {
  const body = { id: "life", title: "A short life", question: "Do you cycle?", answers: { names: ["no", "yes"] }, minimum: 20, plan: { epsilon: "2", rounds: 2 } };
  await curator.api("/v1/surveys", { method: "POST", body: JSON.stringify(body) });
  await crowd(curator.base, "life", people(100).map((answer) => answer % 2));
  const desk = await startBrowser(DESK);
  const page = desk.context.pages()[0];
  await page.goto(curator.base);
  await page.getByLabel("Owner's token").fill(curator.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "A short life" }).click();
  await page.locator("#round-1 table").waitFor({ timeout: 30_000 });
  const dialog = page.getByRole("dialog");
  const shown = (words) => page.waitForFunction((text) => document.querySelector("main .badge")?.textContent === text, words);
  const buttons = async () => (await page.locator("main .row.spaced").first().getByRole("button").allTextContents()).join(", ");
  const both = async (name) => {
    await screenshot(page, name);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize(PHONE.viewport);
    await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
    await page.waitForTimeout(500);
    await screenshot(page, `${name}-phone-dark`);
    await page.setViewportSize(DESK.viewport);
    await page.waitForTimeout(500);
    await screenshot(page, `${name}-dark`);
    await page.emulateMedia({ colorScheme: "light" });
  };
  const phase = async () => (await curator.api("/v1/surveys/life")).phase;
  /** Presses a button, says no and finds nothing changed, presses it again and says yes. */
  const step = async (name, question, yes) => {
    const before = await phase();
    await page.getByRole("button", { name, exact: true }).click();
    await dialog.getByRole("heading", { name: question }).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await phase(), before);
    await page.getByRole("button", { name, exact: true }).click();
    await dialog.getByRole("button", { name: yes, exact: true }).click();
  };
  assert.equal(await buttons(), "Seal round 1, Pause, Close");
  await both("owner-life-running");

  await step("Pause", "Pause the survey?", "Pause it");
  await shown("round 1, paused");
  assert.equal(await phase(), "paused");
  assert.equal(await buttons(), "Resume, Close");
  const refused = await crowd(curator.base, "life", [0]).catch((error) => error);
  assert.ok(refused instanceof Error, "a paused survey takes no reports");
  await both("owner-life-paused");

  await step("Resume", "Take reports again?", "Resume");
  await shown("round 1, open");
  await crowd(curator.base, "life", [0, 1]);
  await page.locator("dl").getByText("102", { exact: true }).waitFor({ timeout: 30_000 });

  await step("Close", "Close the survey?", "Close it");
  await shown("round 1, sealed, closed");
  assert.equal(await buttons(), "Release round 1, Archive, Delete");
  await both("owner-life-closed");

  await step("Archive", "Archive the survey?", "Archive it");
  await shown("round 1, sealed, archived");
  assert.equal(await buttons(), "Release round 1, Delete");

  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await dialog.getByText("Its name stays taken").waitFor();
  await page.emulateMedia({ colorScheme: "dark" });
  await screenshot(page, "owner-life-delete-dark");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await phase(), "archived");
  await step("Delete", "Delete the survey?", "Delete it");
  await page.getByRole("heading", { name: "Surveys" }).waitFor({ timeout: 30_000 });
  await page.getByRole("link", { name: "A short life" }).waitFor({ state: "detached" });
  assert.equal((await fetch(`${curator.base}/v1/surveys/life`)).status, 404);

  // The name is not given again, and the form says why.
  await page.goto(`${curator.base}/#/new`);
  await page.getByLabel("Title").fill("Another life");
  await page.getByLabel("What people are asked").fill("Do you cycle?");
  await page.getByLabel("Name in addresses (optional)").fill("life");
  await page.getByLabel("The answers, one per line").fill("no\nyes");
  await page.getByRole("button", { name: "Create and open round 1" }).click();
  await page.getByText("the name life was used by a survey that was deleted").waitFor();
  assert.deepEqual(desk.complaints.filter((text) => !text.includes("409")), []);
  await desk.sent();
});

test("a token that is revoked stops at once, also in a page that is open", { timeout: 60_000 }, async () => {
  const body = { id: "kept", title: "Kept", question: "Do you cycle?", answers: { names: ["no", "yes"] }, minimum: 100, plan: { epsilon: "2" } };
  await curator.api("/v1/surveys", { method: "POST", body: JSON.stringify(body) });
  const post = (path, sent = {}) => curator.api(path, { method: "POST", body: JSON.stringify(sent) });
  const { id, token } = await post("/v1/tokens", { name: "Olaf", role: "officer" });
  const phone = await startBrowser({ ...PHONE, colorScheme: "dark" });
  const page = phone.context.pages()[0];
  await page.goto(curator.base);
  await page.getByLabel("Owner's token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "Kept" }).click();
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("button", { name: "Pause it" }).click();
  await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
  await post(`/v1/tokens/${id}/revoke`);
  const asked = await fetch(`${curator.base}/v1/surveys`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(asked.status, 401);
  // The page offers nothing any more, and after it is loaded again it asks for a token.
  await page.getByText("does not know this token any more").waitFor({ timeout: 30_000 });
  assert.equal(await page.getByRole("button", { name: "Resume", exact: true }).count(), 0);
  await screenshot(page, "owner-revoked-phone-dark");
  await page.reload();
  await page.getByText("does not know this token").waitFor();
  assert.equal((await curator.api("/v1/surveys/kept")).phase, "paused");
  const { entries } = await curator.api("/v1/surveys/kept/log");
  assert.equal(JSON.parse(entries.at(-1).detail).by, "Olaf");
  assert.deepEqual(phone.complaints.filter((text) => !text.includes("401")), []);
  await phone.sent();
});

test("groups stand beside each other, with how they differ", { timeout: 120_000 }, async () => {
  const groups = [{ group: "north", people: 500 }, { group: "south of the river", people: 300 }];
  const body = { id: "quarters", title: "Quarters", question: "Do you cycle?", answers: { names: ["no", "yes"] }, minimum: 100, plan: { epsilon: "2", groups } };
  await curator.api("/v1/surveys", { method: "POST", body: JSON.stringify(body) });
  const answers = (count, yes) => Array.from({ length: count }, (_, i) => (i % 10 < yes ? 1 : 0));
  await crowd(curator.base, "quarters", answers(1500, 2), "north");
  await crowd(curator.base, "quarters", answers(1200, 6), "south of the river");
  const desk = await startBrowser(DESK);
  const page = desk.context.pages()[0];
  await page.goto(curator.base);
  await page.getByLabel("Owner's token").fill(curator.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.goto(`${curator.base}/#/survey/quarters`);
  const table = page.locator("#groups-1");
  await table.waitFor({ timeout: 30_000 });
  const rows = await table.locator("tbody tr").allTextContents();
  assert.equal(rows.length, 4);
  assert.ok(rows[0].startsWith("north1,500 reportsno"), rows[0]);
  // 20 % and 60 % at LDP 2: a standard error of about .025 for the difference; the interval leaves out nought.
  const { rounds } = await curator.api("/v1/surveys/quarters/estimates");
  const [{ group, reference, shares }] = rounds[0].differences;
  assert.deepEqual([group, reference], ["south of the river", "north"]);
  assert.ok(Math.abs(shares[1].value - 0.4) < 0.15 && shares[1].low > 0.2, JSON.stringify(shares));
  assert.ok(rows[3].includes(`+${(100 * shares[1].value).toFixed(1)}`), rows[3]);
  assert.equal(await table.locator("strong").count(), 2);
  await screenshot(page, "owner-groups");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize(PHONE.viewport);
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
  await page.waitForTimeout(500);
  await table.scrollIntoViewIfNeeded();
  await screenshot(page, "owner-groups-phone-dark");
  assert.deepEqual(desk.complaints, []);
});

test("of very many answers the largest are listed, with a word about chance", { timeout: 120_000 }, async () => {
  const names = Array.from({ length: 300 }, (_, at) => `place ${at}`);
  const body = { id: "places", title: "Places", question: "Where were you?", answers: { names }, minimum: 100, plan: { epsilon: "2" } };
  await curator.api("/v1/surveys", { method: "POST", body: JSON.stringify(body) });
  await crowd(curator.base, "places", Array.from({ length: 600 }, (_, at) => (at % 2 ? 77 : at % 300)));
  const desk = await startBrowser(DESK);
  const page = desk.context.pages()[0];
  await page.goto(curator.base);
  await page.getByLabel("Owner's token").fill(curator.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.goto(`${curator.base}/#/survey/places`);
  await page.getByText("The 200 largest of 300 shares, many of them on top by chance alone: each interval is right on its own, not for the list.").waitFor({ timeout: 30_000 });
  const rows = await page.locator("#round-1 tbody tr").allTextContents();
  assert.equal(rows.length, 200);
  assert.ok(rows[0].startsWith("place 77"), rows[0]);
  await screenshot(page, "owner-many-answers");
  assert.deepEqual(desk.complaints, []);
});

test("a survey with a prior, and mistakes in the form", { timeout: 120_000 }, async () => {
  const desk = await startBrowser({ ...DESK, colorScheme: "dark" });
  const page = desk.context.pages()[0];
  await page.goto(curator.base);
  await page.getByLabel("Owner's token").fill(curator.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.goto(`${curator.base}/#/new`);
  await page.getByLabel("Title").fill("Smoking");
  await page.getByLabel("What people are asked").fill("Do you smoke?");
  await page.getByLabel("Name in addresses (optional)").fill("smoking");
  await page.getByLabel("The answers, one per line").fill("no\nyes");
  await page.getByText("What people usually answer").click();
  await page.getByLabel("Shares in percent").fill("80\n30");
  await page.getByRole("button", { name: "Create and open round 1" }).click();
  await page.getByText("The percentages sum to 110").waitFor();
  await page.getByLabel("Shares in percent").fill("80\n20");
  await page.getByLabel("Where they come from").fill("A census");
  await page.getByRole("button", { name: "Create and open round 1" }).click();
  await page.getByRole("heading", { name: "Smoking" }).waitFor({ timeout: 60_000 });
  // Half smoke, and the prior says a fifth: the reports contradict it, and its reading is greyed.
  await crowd(curator.base, "smoking", Array.from({ length: 6000 }, (_, i) => i % 2));
  await page.getByText("With the prior (contradicted)").waitFor({ timeout: 30_000 });
  assert.ok(await page.locator("#round-1 td.greyed").first().isVisible());
  assert.ok((await page.locator("#round-1 .notice.warn").count()) > 0, "drift is warned about");
  await screenshot(page, "owner-drift-dark");
  await page.goto(`${curator.base}/#/`);
  await page.getByRole("row", { name: /Smoking/ }).waitFor();
  await screenshot(page, "owner-list-dark");
  assert.deepEqual(desk.complaints, []);
  await desk.sent();
});

test("over plain http from another machine nobody signs in, and the page says what to do", async () => {
  const phone = await startBrowser({ ...PHONE, colorScheme: "dark", map: "survey.example" });
  const page = phone.context.pages()[0];
  await page.goto(curator.base.replace("127.0.0.1", "survey.example"));
  const refused = page.getByRole("heading", { name: "Not over this connection" });
  await refused.waitFor();
  assert.equal(await page.locator("input, form[novalidate]").count(), 0, "the token is not asked for");
  for (const words of ["https://", "--tls-cert", "proxy", "ssh -L"]) assert.ok((await page.textContent("main")).includes(words), words);
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
  await screenshot(page, "owner-insecure-phone-dark");
  // A token from before is not used either.
  await page.evaluate((token) => sessionStorage.setItem("undertone-owner", token), curator.token);
  await page.goto(`${curator.base.replace("127.0.0.1", "survey.example")}/?again#/survey/commuting`);
  await refused.waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  const { connections } = await phone.sent();
  const all = Buffer.concat(connections.map(({ bytes }) => bytes)).toString("latin1");
  assert.ok(all.includes("GET / ") && !all.includes("/v1/") && !all.includes(curator.token), "nothing was asked of the curator");
});

test("a long list comes in parts, and a survey without a round can be given one", async () => {
  const desk = await startBrowser(DESK);
  const page = desk.context.pages()[0];
  const row = (at) => ({ id: `survey-${at}`, title: `Survey ${at}`, question: "Which?", state: "open", round: { number: 1, state: "open" }, created: "2026-11-15T00:00:00Z", reports: at, waiting: 0, duplicates: 0 });
  const bare = { ...row(0), id: "bare", title: "Bare", state: "planned", round: null, rounds: [], plan: { rounds: 2 }, minimum: 100, spent_ldp: "0", total_ldp: "3" };
  await page.route(/\/v1\/surveys\?/, (route) => {
    const query = new URL(route.request().url()).searchParams;
    const [from, limit] = [query.has("after") ? Number(query.get("after").split("-")[1]) + 1 : 0, Number(query.get("limit"))];
    const surveys = Array.from({ length: Math.min(limit, 130 - from) }, (_, i) => (from + i === 0 ? bare : row(from + i)));
    route.fulfill({ json: { surveys, next: from + limit < 130 ? surveys.at(-1).id : null } });
  });
  await page.route(/\/v1\/surveys\/bare(\/.*)?$/, (route) => {
    const kind = new URL(route.request().url()).pathname.split("/")[4];
    route.fulfill({ json: { estimates: { rounds: [], gain: null, minimum: 100 }, observer: { groups: [] } }[kind] ?? bare });
  });
  await page.goto(curator.base);
  await page.getByLabel("Owner's token").fill(curator.token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("row", { name: /Survey 99/ }).waitFor();
  assert.equal(await page.locator("tbody tr").count(), 100);
  await page.getByRole("row", { name: /Bare.*no round yet/ }).waitFor();
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("row", { name: /Survey 129/ }).waitFor();
  assert.equal(await page.locator("tbody tr").count(), 130);
  assert.ok(await page.getByRole("button", { name: "Show more" }).isHidden());
  await page.getByRole("link", { name: "Bare" }).click();
  await page.getByRole("button", { name: "Open round 1" }).waitFor();
  await screenshot(page, "owner-no-round");
  assert.deepEqual(desk.complaints, []);
  await desk.sent();
});

test("text and lines stand out enough in both themes", () => {
  const css = readFileSync(new URL("../../crates/curator/src/web/style.css", import.meta.url), "utf8");
  const [light, dark] = css.split("@media (prefers-color-scheme: dark)");
  const read = (text) => Object.fromEntries([...text.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]));
  const luminance = (hex) => {
    const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  for (const theme of [read(light), { ...read(light), ...read(dark.split("* { box-sizing")[0]) }]) {
    for (const [text, ground] of [["ink", "paper"], ["ink", "card"], ["soft", "paper"], ["soft", "card"], ["accent", "card"], ["accent", "paper"], ["accent-ink", "accent"], ["ink", "wash"], ["ink", "warn-wash"], ["ink", "bad-wash"]]) {
      assert.ok(contrast(theme[text], theme[ground]) >= 4.5, `${text} on ${ground}: ${contrast(theme[text], theme[ground]).toFixed(2)}`);
    }
    // Greyed text is meant to recede, and still to be read; the same colour outlines inputs.
    assert.ok(contrast(theme.grey, theme.card) >= 3, `grey: ${contrast(theme.grey, theme.card).toFixed(2)}`);
  }
});
