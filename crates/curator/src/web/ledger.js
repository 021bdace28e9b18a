// What a person's answers may still tell, the limits that are theirs to set, and the way to another browser or phone.

import { dayText, exportLedger, importLedger, natsText } from "./undertone.js";
import { field, h, nats, notice, say, show } from "./page.js";

/** More than any ledger has. */
const LARGEST_LEDGER = 64 << 20;

/** Whether another site shows this page inside its own; browsers then keep another memory. */
const embedded = () => window.top !== window.self;

/** Tenths of a thousandth of a nat, rounded down: what is left is never more than is said. */
const down = (units) => natsText(units - (units % 1_000_000n));

/** A part of a whole in percent, rounded down or up. */
const percentDown = (part, whole) => (whole === 0n ? 0n : (100n * part) / whole);
const percentUp = (part, whole) => (whole === 0n ? 100n : (100n * part + whole - 1n) / whole);

/** How long a budget lasts, in words. */
const period = (days) => (days === null ? "ever" : days === 365 ? "in a year" : `in ${days} days`);

/** What is left of the three budgets in words, and in nats; `cost` is what this answer would take, null without a finite level. */
export function leftCard(budgets, cost) {
  const line = (level, before) => {
    const { left, budget, days } = budgets[level];
    const share = left > 0n && percentDown(left, budget) === 0n ? "less than 1\u00a0%" : `${percentDown(left, budget)}\u00a0%`;
    const takes = cost === null ? "" : `; this answer takes ${percentUp(cost, budget)}\u00a0%`;
    return h("li", {}, before, `${days === null ? "," : ""} ${period(days)}, `, h("strong", {}, `${share} is left`), takes, ".");
  };
  const facts = [
    ["Anybody, all questions", budgets.device],
    ["This collector, all questions", budgets.collector],
    ["This question, whoever asks", budgets.question],
  ];
  return h(
    "section",
    { class: "card", "aria-labelledby": "left" },
    h("h2", { id: "left" }, "What is left to tell"),
    embedded() && notice("warn", "This page is shown inside another site. Your browser keeps a separate memory for that, so what you answered elsewhere is not counted here. ", h("a", { href: location.href, target: "_blank", rel: "noopener" }, "Open it by itself"), "."),
    h("ul", {}, line("device", "Of what this browser may tell anybody"), line("collector", "Of what it may tell this collector"), line("question", "Of what it may tell about this question")),
    cost === null && h("p", {}, "No budget counts this answer, because some message rules an answer out completely. Only your limits on belief hold it back."),
    h("details", {}, h("summary", {}, "In nats"), h("div", { class: "scroll" }, h("table", {}, h("tbody", {}, facts.map(([name, account]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, accountWords(account)))))))),
    h("p", { class: "small soft" }, "Counted is what this browser told through this address. A page at another address has a memory of its own, and so has another browser, another device or a private window; cleared site data is forgotten."),
  );
}

/** What is spent of a budget, rounded up, what is left of it, rounded down, and what a year may bring. */
function accountWords({ spent, budget, left, days, uncounted, yearly }) {
  const uncountedWords = uncounted === 0 ? "" : `; ${uncounted} more answer${uncounted > 1 ? "s" : ""} that no budget counts`;
  return `${nats(natsText(spent))} of ${down(budget)} ${period(days)}; ${down(left)} are left; at most ${nats(natsText(yearly))} in any year${uncountedWords}`;
}

// ---------------------------------------------------------------- limits

/** The form in which a person sets their limits; `save(limits, budgets)` keeps them or throws, `done` shows what follows. */
export function limitsForm(limits, budgets, save, done) {
  const text = (value) => h("input", { type: "text", inputmode: "decimal", value });
  const boxes = { lip: text(limits.lip), ldp: text(limits.ldp), secretName: h("input", { type: "text", value: limits.secretName }), secretLdp: text(limits.secretLdp) };
  const purses = Object.fromEntries(Object.entries(budgets).map(([level, { budget, days }]) => [level, { nats: text(natsText(budget)), days: text(days === null ? "" : String(days)) }]));
  const problem = h("p", { class: "notice bad", role: "alert", hidden: true });
  const submit = async (event) => {
    event.preventDefault();
    const next = Object.fromEntries(Object.entries(boxes).map(([name, box]) => [name, box.value.trim()]));
    const given = ({ nats: amount, days }) => ({ nats: amount.value.trim(), days: days.value.trim() === "" ? null : Number(days.value.trim()) });
    try {
      await save(next, Object.fromEntries(Object.entries(purses).map(([level, purse]) => [level, given(purse)])));
    } catch (error) {
      problem.textContent = `Limits are numbers of nats: ${error.message}.`;
      problem.hidden = false;
      return;
    }
    await done();
    say("Your limits are saved on this device.");
    document.getElementById("limits").open = true;
  };
  const purse = (level, id, label, whose, hint) => {
    const { nats: amount, days } = purses[level];
    const whole = field(id, label, amount, hint);
    days.setAttribute("aria-label", `Days for ${whose}, empty for ever`);
    const pair = h("div", { class: "pair" });
    amount.before(pair);
    pair.append(amount, h("span", { "aria-hidden": "true" }, "within"), days, h("span", { "aria-hidden": "true" }, "days"));
    return whole;
  };
  return h(
    "details",
    { class: "card", id: "limits" },
    h("summary", {}, "Your own limits"),
    h("p", { class: "small soft" }, "This device refuses any question with which all your answers to it would tell more. The numbers are in nats: e to that power is the factor. They stay on this device."),
    h(
      "form",
      { submit, novalidate: "" },
      field("limit-lip", "Belief in an answer of yours may change by (LIP)", boxes.lip, "1.0986 is a factor of 3. Applies where the question says what people usually answer."),
      field("limit-ldp", "Odds between two answers may change by (LDP)", boxes.ldp, "2.1972 is a factor of 9. Always applies, over all times you are asked."),
      purse("question", "limit-budget", "All my answers to one question together (LDP)", "one question", "A question may be asked again, also by others. This is the most they may add up to; without days, ever."),
      purse("collector", "limit-collector", "All my answers to this collector together (LDP)", "this collector", "The same collector may ask many questions, or one in many words."),
      purse("device", "limit-device", "Everything I tell anybody together (LDP)", "anybody", "Collectors may know each other."),
      field("limit-secret", "A secret of yours (optional)", boxes.secretName, "As questions call it, for example income."),
      field("limit-secret-ldp", "Odds between two values of it may change by", boxes.secretLdp),
      problem,
      h("button", { type: "submit" }, "Save my limits"),
    ),
  );
}

// ---------------------------------------------------------------- moving

/** The way of a ledger to another browser or phone and back; `done` shows what follows a ledger that was taken over. */
export function movingCard(device, done) {
  const place = h("div", {});
  const give = async () => {
    try {
      const url = URL.createObjectURL(new Blob([await exportLedger(device)], { type: "application/json" }));
      const link = h("a", { class: "button", href: url, download: "undertone-ledger.json" }, "Save the file");
      show(place, notice("warn", h("p", {}, "This browser answers nothing more. The file is all that is left of what it told: take it over on the other device, and delete it then."), link));
      say("The ledger is in the file. This browser answers nothing more.");
      link.click();
    } catch (error) {
      show(place, notice("bad", error.message));
    }
  };
  const ask = () =>
    show(
      place,
      notice("warn", h("p", {}, "This can be done once. Afterwards this browser answers nothing more, until a ledger comes back to it."), h("button", { type: "button", click: give }, "Yes, stop answering here")),
    );
  return h(
    "details",
    { class: "card", id: "moving" },
    h("summary", {}, "Move to another browser or phone"),
    h("p", { class: "small soft" }, "A file takes along what this browser told, what it waits to send, and your budgets, so that a new device does not start anew. Your limits on belief and on a secret are not in it: set them again there."),
    h("p", {}, h("button", { type: "button", click: ask }, "Make the file")),
    place,
    taking(device, done),
  );
}

/** Takes over a ledger from a file. */
function taking(device, done) {
  const problem = h("p", { class: "notice bad", role: "alert", hidden: true });
  const box = h("input", { type: "file", accept: "application/json,.json" });
  box.addEventListener("change", async () => {
    problem.hidden = true;
    try {
      if (box.files[0].size > LARGEST_LEDGER) throw new Error("The file is too large for a ledger");
      await importLedger(device, await box.files[0].text());
    } catch (error) {
      problem.textContent = `${error.message}.`;
      problem.hidden = false;
      return;
    }
    await done();
    say("The ledger was taken over. What both devices told is counted.");
  });
  return h("div", {}, field("take", "Take over a ledger from another device", box, "What it told is added to what this browser told. Nothing is replaced."), problem);
}

/** The page of a browser whose ledger has moved. */
export function movedPage(main, device, day, done) {
  show(
    main,
    h("h1", {}, "Your answers are given elsewhere"),
    notice("warn", `The ledger of this browser was moved to another device on ${dayText(day)}. Nothing is drawn and nothing is sent here any more.`),
    h("p", {}, "Answer on that device, or bring its ledger back:"),
    h("section", { class: "card" }, taking(device, done)),
  );
}
