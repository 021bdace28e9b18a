// One survey: live counts, what its people say, what an observer can learn, and the steps from round to round.

import { intervals, overTime } from "./chart.js";
import { between, count, h, nats, notice, percent, percents, say, show, standing } from "./page.js";

const POLL = 3000;
/** Answers with the largest shares that a table lists. */
const MOST_ROWS = 200;

/** Draws the view and keeps it fresh until it is stopped; `leave` is given how, `current` says whether it is still wanted. */
export async function surveyView({ owner, id, main, confirmed, current, leave }) {
  const path = `/v1/surveys/${encodeURIComponent(id)}`;
  const find = () => owner.json(path);
  const places = { head: h("div", {}), tiles: h("dl", { class: "tiles", "aria-label": "Counts" }), actions: h("div", {}), estimates: h("div", {}), observer: h("div", {}) };
  const points = [];
  const live = overTime(points);
  let [shown, round] = ["", null];

  /** Says why; of a survey that is gone, or to one who may not see it any more, nothing is offered. */
  const failed = async (error) => {
    const survey = await find().catch(() => null);
    const words = error.status === 401 ? "The curator does not know this token any more. Load the page again to sign in." : error.message;
    show(places.actions, notice("bad", words), survey && actions(survey));
  };

  const act = async (title, text, yes, request, said) => {
    if (!(await confirmed(title, text, yes))) return;
    try {
      await owner.json(...request);
      say(said);
      shown = "";
      await refresh();
    } catch (error) {
      await failed(error);
    }
  };

  const erase = async () => {
    const text = "Its rounds, counts, estimates and policies are deleted for good, also from the disk. Its name stays taken and its log readable.";
    if (!(await confirmed("Delete the survey?", text, "Delete it"))) return;
    try {
      await owner.fetch(`${path}/delete`, { method: "POST" });
      say("The survey is deleted.");
      location.hash = "#/";
    } catch (error) {
      await failed(error);
    }
  };

  const actions = (survey) => {
    // A survey of an earlier program may have no round yet.
    const { number = 0, state = "planned" } = survey.round ?? {};
    const { phase = "running" } = survey;
    const step = (label, kind, press) => h("button", { type: "button", class: kind, click: press }, label);
    const rounds = survey.plan.rounds;
    return h(
      "div",
      { class: "row spaced" },
      state === "open" && step(`Seal round ${number}`, "main", () => act(`Seal round ${number}?`, "No report is accepted afterwards. This cannot be undone.", "Seal it", [`${path}/rounds/${number}/seal`, { method: "POST" }], `Round ${number} is sealed.`)),
      state === "sealed" && step(`Release round ${number}`, "main", () => act(`Release round ${number}?`, "Its estimates and counts become public for good.", "Release it", [`${path}/rounds/${number}/release`, { method: "POST" }], `Round ${number} is released.`)),
      phase === "running" && state !== "open" && number < rounds && step(`Open round ${number + 1}`, state === "sealed" ? "" : "main", () => act(`Open round ${number + 1}?`, number === 0 ? "Its policy is designed, verified and published." : "A new policy is designed for what the rounds so far say, verified, and published. People who answer again pay for it from their own budget.", "Open it", [`${path}/rounds`, { method: "POST" }], `Round ${number + 1} is open.`)),
      phase === "paused" && step("Resume", "main", () => act("Take reports again?", "People can answer again, and devices send what they kept.", "Resume", [`${path}/resume`, { method: "POST" }], "The survey takes reports again.")),
      phase === "running" && state === "open" && step("Pause", "", () => act("Pause the survey?", "No report is taken until you resume it. Devices keep theirs and try again.", "Pause it", [`${path}/pause`, { method: "POST" }], "The survey is paused.")),
      ["running", "paused"].includes(phase) && step("Close", "", () => act("Close the survey?", "The open round is sealed, no report is accepted afterwards and no other round is opened. This cannot be undone.", "Close it", [`${path}/close`, { method: "POST" }], "The survey is closed.")),
      phase === "closed" && step("Archive", "", () => act("Archive the survey?", "It stays readable and is marked as out of the way.", "Archive it", [`${path}/archive`, { method: "POST" }], "The survey is archived.")),
      ["closed", "archived"].includes(phase) && step("Delete", "", erase),
      h("span", { class: "soft small" }, number === 0 ? `No round is open yet, ${rounds} planned` : `Round ${number} of ${rounds} planned`),
    );
  };

  const tiles = (survey) => {
    const tile = (name, value, more = null) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value, more && h("small", {}, ` ${more}`)));
    show(
      places.tiles,
      tile("Reports counted", count(survey.reports), survey.waiting ? `+ ${count(survey.waiting)} arriving` : null),
      tile("Repeated, not counted", count(survey.duplicates)),
      tile("Shown from", count(survey.minimum), "reports"),
      tile("LDP of all rounds", nats(survey.spent_ldp), `of ${nats(survey.total_ldp)} nats`),
    );
  };

  async function refresh() {
    const survey = await find();
    const now = Math.floor(Date.now() / 1000);
    const total = survey.reports + survey.waiting;
    if (survey.round?.number !== round) points.length = 0;
    round = survey.round?.number;
    if (points.at(-1)?.[0] !== now) points.push([now, total]);
    if (points.length > 2000) points.splice(0, 1000);
    tiles(survey);
    live.redraw();
    const state = JSON.stringify([survey.reports, survey.rounds.map((round) => round.state).concat(survey.phase)]);
    if (state === shown) return;
    const moved = shown === "" || JSON.stringify(JSON.parse(shown)[1]) !== JSON.stringify(JSON.parse(state)[1]);
    shown = state;
    if (moved) {
      head(survey);
      show(places.actions, actions(survey));
      show(places.observer, await observer());
    }
    show(places.estimates, await estimates(survey));
  }

  const head = (survey) => {
    const link = `${location.origin}/s/${survey.id}`;
    const copied = async (event) => {
      await navigator.clipboard?.writeText(link);
      event.target.textContent = "Copied";
      say("The link is copied.");
    };
    show(
      places.head,
      h("div", { class: "row apart" }, h("h1", {}, survey.title), h("span", { class: `badge ${survey.state}` }, standing(survey))),
      h("p", { class: "big" }, survey.question),
      h(
        "section",
        { class: "card" },
        h("div", { class: "row apart" }, h("div", {}, h("div", { class: "soft small" }, "People answer at"), h("a", { href: `/s/${survey.id}`, target: "_blank", rel: "noopener", id: "respondents" }, link)), h("button", { type: "button", click: copied }, "Copy the link")),
        h("p", { class: "small" }, h("a", { href: `${path}/officer`, target: "_blank", rel: "noopener" }, "Page for the privacy officer"), " · ", h("a", { href: `${path}/log`, target: "_blank", rel: "noopener" }, "Log"), " · created ", survey.created.slice(0, 10)),
        h("div", {}, survey.rounds.map((round) => round.groups.map((group) => promise(round, group)))),
      ),
    );
  };

  const promise = (round, { group, method, claims, lip, ldp, learned, unlearned, policy }) =>
    h(
      "details",
      {},
      h("summary", {}, `Round ${round.number}${group === "everyone" ? "" : `, ${group}`}: ${claims.map(worded).join(", ")}`),
      h(
        "ul",
        { class: "small" },
        h("li", {}, `Attained LDP ${nats(ldp)} nats${lip ? `, LIP ${nats(lip)} nats` : ""}; found by ${method}.`),
        learned && h("li", {}, `Designed for every prior in the box that round ${learned.round} gave: ${count(learned.reports)} reports, confidence ${percent(learned.confidence, 1)}.`),
        unlearned && h("li", {}, unlearned),
        h("li", {}, "Policy ", h("code", {}, policy)),
      ),
    );

  async function estimates() {
    const { rounds, gain, minimum } = await owner.json(`${path}/estimates`);
    const exports = h(
      "div",
      { class: "row spaced" },
      h("span", { class: "soft" }, "Export"),
      ["csv", "json", "parquet"].map((form) => h("button", { type: "button", click: () => download(form) }, { csv: "CSV", json: "JSON", parquet: "Parquet" }[form])),
    );
    const newest = [...rounds].reverse();
    return [
      newest.map((round) => estimated(round, minimum)),
      gain && h("section", { class: "card" }, h("h2", {}, "Against LDP all along"), h("p", {}, gain.in_words), gain.expected && h("p", { class: "small soft" }, "The open round is counted with as many reports as the last closed one.")),
      newest.some((round) => round.headline) && exports,
    ];
  }

  async function download(form) {
    try {
      const response = await owner.fetch(`${path}/export?form=${form}`);
      const link = h("a", { href: URL.createObjectURL(await response.blob()), download: `${id}.${form}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    } catch (error) {
      places.estimates.prepend(notice("bad", error.message));
    }
  }

  async function observer() {
    const { groups } = await owner.json(`${path}/observer`);
    return groups.map(({ group, risk: { beliefs, beliefs_left_out: left, beliefs_attained: attained, in_words: words } }) =>
      h(
        "section",
        { class: "card" },
        h("h2", {}, `What an observer can learn${group === "everyone" ? "" : ` about ${group}`}`),
        h("ul", {}, words.map((one) => h("li", {}, one))),
        h(
          "details",
          {},
          h("summary", {}, "Belief before and after one message"),
          h(
            "div",
            { class: "scroll", tabindex: "0", role: "region", "aria-label": "Beliefs" },
            h(
              "table",
              {},
              h("caption", {}, (attained ? "The worst message for each answer." : "Bounds that need not be reached.") + (left ? ` The ${beliefs.length} answers an observer learns most about; ${left} are left out.` : "")),
              h("thead", {}, h("tr", {}, ["Answer", "Before", "At least", "At most"].map((name, at) => h("th", { scope: "col", class: at ? "n" : null }, name)))),
              h("tbody", {}, beliefs.map((one) => h("tr", {}, h("th", { scope: "row" }, one.symbol), h("td", { class: "n" }, before(one)), h("td", { class: "n" }, percent(one.least)), h("td", { class: "n" }, percent(one.most))))),
            ),
          ),
        ),
      ),
    );
  }

  await refresh();
  if (!current()) return;
  document.title = id;
  show(main, places.head, places.tiles, places.actions, places.estimates, places.observer, h("section", { class: "card" }, h("h2", {}, "Reports while this page is open"), live.place));
  const timer = setInterval(() => refresh().catch((error) => error.status === 401 && (clearInterval(timer), failed(error))), POLL);
  leave(() => clearInterval(timer));
}

/** A claim such as `ldp:1.0986122887`, for people. */
function worded(claim) {
  const [, notion, levels, rest] = /^([a-z]+):([0-9.,]+)(.*)$/.exec(claim) ?? [null, "", "", claim];
  return `${notion.toUpperCase()} ${levels.split(",").map(nats).join(", ")}${rest}`.trim();
}

const before = ({ before_least: low, before_most: high }) => (low === high ? percent(low) : `${percent(low)} to ${percent(high)}`);

/** Shares in every group, with how they differ from the first one's. */
function byGroup(number, groups, differences) {
  const reference = differences[0].reference;
  const apart = (group, at) => differences.find((one) => one.group === group)?.shares[at];
  const cells = (group, share, at) => {
    const other = apart(group, at);
    if (!other) return [h("td", {}), h("td", {})];
    if (other.value === null) return [h("td", { class: "n soft" }, "not known"), h("td", {})];
    const clear = other.low > 0 || other.high < 0;
    return [h("td", { class: "n" }, clear ? h("strong", {}, points(other.value)) : points(other.value)), h("td", { class: "n" }, `${points(other.low, Math.floor)} to ${points(other.high, Math.ceil)}`)];
  };
  const row = ({ group, reports }, share, at, all) =>
    h(
      "tr",
      {},
      at === 0 && h("th", { scope: "rowgroup", rowspan: all.length }, group, h("div", { class: "soft small" }, `${count(reports)} reports`)),
      h("th", { scope: "row" }, share.symbol),
      h("td", { class: "n" }, percent(share.value)),
      h("td", { class: "n" }, percents(share.low, share.high)),
      cells(group, share, at),
    );
  const shown = groups.filter((one) => one.headline);
  const table = h(
    "table",
    { id: `groups-${number}`, "aria-describedby": `groups-${number}-says` },
    h("thead", {}, h("tr", {}, ["Group", "Answer", "Share", "Interval", `Minus ${reference}`, "Interval"].map((name, at) => h("th", { scope: "col", class: at > 1 ? "n" : null }, name)))),
    shown.map((one) => h("tbody", {}, one.headline.shares.map((share, at, all) => row(one, share, at, all)))),
  );
  const says = `Shares in each group, and how they differ from ${reference} in percentage points. A difference is in bold where its interval leaves out nought; each interval stands for itself, so among many differences some are bold by chance.`;
  return [h("h3", {}, "By group"), h("p", { class: "small soft", id: `groups-${number}-says` }, says), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Groups of round ${number}` }, table)];
}

/** A difference of shares in percentage points, with its sign. */
const points = (difference, round = null) => {
  const tenths = round ? round(1000 * difference + (round === Math.floor ? 1e-9 : -1e-9)) / 10 : 100 * difference;
  const text = Math.abs(tenths).toFixed(1);
  return text === "0.0" ? text : `${tenths < 0 ? "\u2212" : "+"}${text}`;
};

/** One round's estimates: headline with intervals first, the prior's reading second and grey if reports contradict it. */
function estimated({ number, state, reports, level, headline, mmse, mean, impossible, influence, shares_left_out: left, groups = [], differences = [], warnings = [], notes = [], too_few: few }, minimum) {
  const title = h("h2", {}, `Round ${number}, ${state}`);
  if (!headline) return h("section", { class: "card", id: `round-${number}` }, title, h("p", {}, few ?? notes[0] ?? `Nothing is shown below ${minimum} reports.`));
  const value = ({ value: v, low, high }) => [h("td", { class: "n" }, percent(v)), h("td", { class: "n" }, percents(low, high))];
  const remark = ({ identified, impossible: none }) => (none ? " fits no possible share" : identified === false ? " not determined" : null);
  const wide = (share) => remark(share) && h("span", { class: "soft small" }, remark(share));
  const all = headline.shares.length + (left ?? 0);
  const order = headline.shares.map((_, at) => at);
  // Of very many answers the largest; numbers keep their order while all of them are shown.
  if (all > MOST_ROWS) order.sort((a, b) => headline.shares[b].value - headline.shares[a].value).splice(MOST_ROWS);
  const cut = all > MOST_ROWS ? ` The ${MOST_ROWS} largest of ${count(all)} shares, many of them on top by chance alone: each interval is right on its own, not for the list. The export has ${left ? `the ${count(headline.shares.length)} largest` : "all"}.` : "";
  const table = h(
    "table",
    {},
    h("caption", {}, `${count(reports)} reports, intervals at ${percent(level, 0)}. ${headline.label[0].toUpperCase()}${headline.label.slice(1)}.${cut}`),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Answer"), h("th", { class: "n", scope: "col" }, "Share"), h("th", { class: "n", scope: "col" }, "Interval"), mmse && h("th", { class: "n", scope: "col" }, mmse.greyed ? "With the prior (contradicted)" : "With the prior"))),
    h(
      "tbody",
      {},
      order.map((at) => [headline.shares[at], at]).map(([share, at]) => h("tr", {}, h("th", { scope: "row" }, share.symbol, wide(share)), value(share), mmse && h("td", { class: mmse.greyed ? "n greyed" : "n" }, percent(mmse.shares[at].value)))),
    ),
  );
  return h(
    "section",
    { class: "card", id: `round-${number}` },
    title,
    impossible && notice("bad", "No population could have given these reports: somebody sends invented ones, or devices do not follow the policy."),
    warnings.map((warning) => notice("warn", warning)),
    h("div", { class: "legend", "aria-hidden": "true" }, h("span", {}, h("i", {}), "estimate and interval"), mmse && h("span", {}, h("i", { class: "second" }), mmse.greyed ? "with the prior, contradicted by the reports" : "with the prior")),
    headline.shares.length <= 40 && intervals(headline.shares, mmse),
    mean && h("p", {}, "Mean ", h("strong", { class: "number" }, mean.value.toPrecision(4)), ` (${between(mean.low, mean.high)})${remark(mean) ?? ""}.`),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Estimates of round ${number}` }, table),
    differences.length > 0 && byGroup(number, groups, differences),
    h("details", {}, h("summary", {}, "How this was worked out"), h("ul", { class: "small" }, h("li", {}, headline.because), influence && h("li", {}, influence.in_words), notes.map((note) => h("li", {}, note)))),
  );
}
