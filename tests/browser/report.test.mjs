// The report of undertone-reproduce in a real browser: a phone, a desk, the dark, the filter, paper, no script.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { DESK, PHONE, closeBrowsers, screenshot, startBrowser } from "./harness.mjs";

// Short ones that between them have every kind of verdict, panels, a drawing, and errata.
const FIGURES = ["jstl21-fig-2", "jstl21-fig-3", "jstl21-fig-9", "jstl21-fig-10", "jlt18-fig-2", "stl19-fig-3"];
const PAGES = ["report.html", "jstl21.html", "jlt18.html", "stl19.html", "claims.html"];
const PROGRAM = join(dirname(process.env.UNDERTONE_BIN), "undertone-reproduce");
const skip = existsSync(PROGRAM) ? false : `there is no ${PROGRAM}`;

let folder;
const url = (page) => `file://${join(folder, page)}`;

before(() => {
  if (skip) return;
  folder = mkdtempSync(join(tmpdir(), "undertone-report-"));
  execFileSync(PROGRAM, [...FIGURES, "--quick", "--pdf", "-o", folder], { stdio: "pipe", env: process.env });
});

after(async () => {
  await closeBrowsers();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

/** Names of what is wider than the page and does not scroll by itself. */
const tooWide = (page) =>
  page.evaluate(() => {
    const scrolls = (element) => element && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
    const wide = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e));
    const own = document.documentElement.scrollWidth > innerWidth ? ["the page"] : [];
    return [...own, ...wide.map((e) => `${e.tagName} ${e.className?.baseVal ?? e.className} ${e.textContent.slice(0, 60)}`)];
  });

test("nothing is wider than a phone, and plots stay readable", { skip }, async () => {
  const { context, complaints, sent } = await startBrowser(PHONE);
  const page = await context.newPage();
  for (const name of PAGES) {
    await page.goto(url(name));
    assert.deepEqual(await tooWide(page), [], name);
  }
  await page.goto(url("jstl21.html"));
  const charts = await page.evaluate(() =>
    [...document.querySelectorAll(".chart")].map((chart) => {
      const plot = chart.querySelector("svg[role=img]");
      const scale = plot.getBoundingClientRect().width / plot.viewBox.baseVal.width;
      const letters = [...plot.querySelectorAll("text")].map((text) => scale * parseFloat(getComputedStyle(text).fontSize));
      return { width: chart.getBoundingClientRect().width, least: Math.min(...letters) };
    }),
  );
  assert.ok(charts.length >= 5);
  for (const { width, least } of charts) {
    assert.ok(width > 340, `a chart of ${width} px`);
    assert.ok(least >= 10, `letters of ${least} px`);
  }
  await screenshot(page, "report-phone");
  const { connections, others } = await sent();
  assert.deepEqual([complaints, connections, others], [[], [], []]);
});

test("the filter shows one verdict, and what says nothing of it is hidden", { skip }, async () => {
  const { context, sent } = await startBrowser(DESK);
  const page = await context.newPage();
  await page.goto(url("jstl21.html"));
  const shown = () =>
    page.evaluate(() => {
      const visible = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
      return {
        verdicts: [...new Set(visible(".claim").map((e) => [...e.classList].find((c) => c.startsWith("v-"))))],
        claims: visible(".claim").length,
        figures: visible(".experiment").map((e) => e.id),
      };
    });
  const all = await shown();
  assert.equal(all.figures.length, 4);
  assert.ok(all.verdicts.length >= 4, all.verdicts.join());
  for (const verdict of all.verdicts) {
    await page.click(`label[for="${verdict}"]`);
    const some = await shown();
    assert.deepEqual(some.verdicts, [verdict]);
    const count = Number(await page.textContent(`label[for="${verdict}"] small`));
    assert.equal(some.claims, count);
    assert.ok(some.figures.length >= 1 && some.figures.length <= 4);
  }
  await page.click('label[for="v-all"]');
  await page.click('label[for="k-arithmetic"]');
  assert.deepEqual((await shown()).figures, ["jstl21-fig-3"]);
  await page.click('label[for="k-all"]');
  assert.deepEqual(await shown(), all);
  // A number of the summary leads to what it counts.
  await page.goto(url("report.html"));
  await page.click('.bar a[href="jstl21.html#v-false"]');
  await page.waitForURL(/v-false$/);
  assert.deepEqual((await shown()).verdicts, ["v-false"]);
  await sent();
});

test("contents stand at the side, every picture has a title, and the dark is dark", { skip }, async () => {
  const { context, sent } = await startBrowser({ ...DESK, colorScheme: "dark" });
  const page = await context.newPage();
  await page.goto(url("jstl21.html"));
  const seen = await page.evaluate(() => {
    const box = (selector) => document.querySelector(selector).getBoundingClientRect();
    const dull = (colour) => colour.match(/\d+/g).slice(0, 3).every((part) => Number(part) < 64);
    return {
      beside: box(".contents").right <= box("main").left + 1,
      links: [...document.querySelectorAll(".contents a")].every((a) => document.getElementById(a.hash.slice(1))),
      untitled: [...document.querySelectorAll("svg:not([aria-hidden])")].filter((svg) => svg.getAttribute("role") !== "img" || !svg.querySelector("title")?.textContent).length,
      captions: [...document.querySelectorAll("figcaption")].map((caption) => caption.textContent),
      figures: document.querySelectorAll("figure").length,
      background: dull(getComputedStyle(document.body).backgroundColor),
      letters: [...document.querySelectorAll(".chart svg[role=img] text")].filter((text) => dull(getComputedStyle(text).fill)).length,
      backticks: document.body.innerText.includes("`"),
      // The map of all notions is a drawing of another program.
      keys: [...document.querySelectorAll("main > *, article > :not(figure)")].some((e) => /JSTL21|JLT18|STL19|ST20|ZDS22/.test(e.matches(".experiment") ? "" : e.innerText)),
    };
  });
  assert.deepEqual([seen.beside, seen.links, seen.untitled, seen.background, seen.letters, seen.backticks, seen.keys], [true, true, 0, true, 0, false, false]);
  assert.equal(seen.captions.length, seen.figures);
  assert.ok(seen.captions.every((caption) => /Section|Appendix/.test(caption)), seen.captions.join("\n"));
  await screenshot(page, "report-dark");
  await sent();
});

test("without a script everything is there, and the filter too", { skip }, async () => {
  const { context, sent } = await startBrowser({ ...DESK, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(url("jstl21.html"));
  await page.click('label[for="v-false"]');
  assert.equal(await page.locator(".claim.v-reproduced").first().isVisible(), false);
  assert.equal(await page.locator(".claim.v-false").first().isVisible(), true);
  await sent();
});

test("the summary is a sheet of paper", { skip }, () => {
  const pdf = readFileSync(join(folder, "report.pdf"), "latin1");
  assert.ok(pdf.startsWith("%PDF-"));
  assert.equal(pdf.match(/\/Type\s*\/Page\b/g).length, 1);
});
