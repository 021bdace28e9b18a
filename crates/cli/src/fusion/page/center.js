// The page of a running centre: asks for its state once a second and shows it.

import { count, h, nats, percent, percents, say, show } from "./page.js";
import { decisionsChart, rangeChart } from "./chart.js";

const EVERY = 1000;
const PATIENCE = 5000;
const place = (id) => document.getElementById(id);
const text = (id, words) => {
  const element = place(id);
  if (element.textContent !== words) element.textContent = words;
};

/** What a sensor's state is called, and how it looks. */
const STATES = {
  waiting: ["not heard yet", "over"],
  live: ["live", ""],
  silent: ["silent", "quiet"],
  spent: ["budget used up", "over"],
  ended: ["ended", "over"],
  dead: ["dead", "fault"],
};

const clock = (seconds) => new Date(1000 * seconds).toLocaleTimeString("en-GB");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
function ago(seconds) {
  if (seconds === null) return "never";
  if (seconds < 2) return "just now";
  if (seconds < 120) return `${seconds} s ago`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3600)} h ago`;
}

let [state, announced, drawn] = [null, null, ""];

/** The picture is drawn anew only when there is something new in it. */
function drawChart() {
  const chart = place("chart");
  const width = Math.floor(chart.clientWidth);
  if (!state || width === 0) return;
  const { decisions, decided, public: hypothesis, sensors } = state;
  const key = `${width} ${decided}`;
  if (key === drawn) return;
  drawn = key;
  show(chart, decisionsChart(decisions, hypothesis, sensors.length, width));
}

function showDecisions() {
  const { decisions, decided, public: hypothesis, sensors, seconds_since_decision: since } = state;
  const last = decisions[decisions.length - 1];
  const verdict = last ? (last.decision ?? String(last.value)) : "nothing yet";
  text("public-title", last ? `${hypothesis.name}, epoch ${count(last.epoch)}` : hypothesis.name);
  text("verdict", verdict);
  const aim = hypothesis.objective === "error" ? "" : ` It decides for the objective ${hypothesis.objective}, not for the likeliest value.`;
  text("belief", last ? `The centre's belief in it: ${percent(last.posterior[last.value])}.${aim}` : "The centre waits for its sensors.");
  text("heard", last ? `${last.heard} of ${sensors.length}` : "–");
  text("decided", count(decided));
  text("last", last ? ago(since) : "–");
  document.title = `${hypothesis.name}: ${verdict} · Undertone`;
  drawChart();
  const { name, values } = hypothesis;
  const key = (look, ...words) => h("span", {}, h("i", { class: look }), ...words);
  const two = values.length === 2;
  show(
    place("chart-legend"),
    two && h("span", {}, `height: belief that ${name} is ${values[1]}`),
    two && key("", `decided: ${values[1]}`),
    two && key("first-key", `decided: ${values[0]}`),
    two && key("prior-key", "before anything was heard"),
    key("some-key", "ring: a sensor was missing"),
    key("none-key", "nothing was heard"),
  );
  const row = ({ epoch, at, decision, value, posterior, heard }) =>
    h("tr", {}, h("td", { class: "n" }, count(epoch)), h("td", {}, clock(at)), h("td", {}, decision ?? String(value)), h("td", { class: "n" }, percent(posterior[value])), h("td", { class: "n" }, `${heard} of ${sensors.length}`));
  show(place("decisions"), decisions.slice(-10).reverse().map(row));
}

function showPrivate() {
  const { private: hypothesis, budget } = state;
  text("private-title", `What an attacker could know of ${hypothesis.name}, at most`);
  text("private-words", hypothesis.words);
  const line = (belief) =>
    h(
      "li",
      {},
      h("span", { class: "name" }, belief.value),
      rangeChart(belief),
      h("span", { class: "figures" }, `${percents(belief.least, belief.most)} now · ${percents(belief.least_certified, belief.most_certified)} in the end · ${percent(belief.before)} before`),
    );
  show(place("ranges"), hypothesis.beliefs.map(line));
  const bar = place("budget");
  [bar.max, bar.value] = [budget.limit, Math.min(budget.epochs, budget.limit)];
  // Where hypotheses move, some numbers of epochs are certified, and the next of them is shown.
  const upTo = budget.certified_for > 0 ? ` (certified for up to ${plural(budget.certified_for, "epoch")})` : "";
  text("budget-words", `${count(budget.epochs)} of ${plural(budget.limit, "epoch")} · ${nats(budget.information)} of ${nats(budget.certified)} nats${upTo}`);
  // More than this turns one in a thousand into all but certainty.
  const next = Number(budget.always) > 14 ? " (next to no promise)" : "";
  const always = budget.always === null ? "nothing is promised" : `belief moves by at most ${nats(budget.always)} nats${next}`;
  const moving = budget.certified_for !== null;
  const otherwise = moving ? "If they move otherwise" : "However readings depend on each other over time";
  text("assumption", `From the certificate of the integers that run, ${budget.assumption}. ${otherwise}, ${always}.`);
}

function showSensors() {
  const card = (sensor) => {
    const [words, look] = STATES[sensor.state] ?? [sensor.state, ""];
    const budget = h("progress", { "aria-label": `Budget of ${sensor.name}: ${sensor.drawn} of ${plural(sensor.limit, "epoch")}` });
    [budget.max, budget.value] = [sensor.limit, Math.min(sensor.drawn, sensor.limit)];
    const missed = sensor.missed_in_a_row > 0 ? `missed the last ${count(sensor.missed_in_a_row)}` : `missed ${count(sensor.missed)}`;
    return h(
      "li",
      { class: look, "data-sensor": sensor.index, "data-state": sensor.state },
      h("div", { class: "head" }, h("span", { class: "name" }, sensor.name), h("span", { class: "state" }, words)),
      budget,
      h("div", { class: "figures" }, h("span", {}, `budget ${count(sensor.drawn)} of ${count(sensor.limit)}`), h("span", {}, `LDP ${nats(sensor.ldp)}`), h("span", {}, plural(sensor.accepted, "report")), h("span", {}, missed)),
    );
  };
  show(place("sensors"), state.sensors.map(card));
}

function showEvents() {
  const line = ({ at, words, times, fault, kind }) =>
    h("li", { "data-kind": kind }, h("time", { datetime: new Date(1000 * at).toISOString() }, clock(at)), h("span", { class: fault ? "fault" : null }, words, times > 1 ? ` (${count(times)} times)` : ""));
  const list = place("events");
  const position = list.scrollTop;
  show(list, state.events.map(line));
  list.scrollTop = position;
  list.hidden = state.events.length === 0;
  place("quiet").hidden = state.events.length > 0;
  // Screen readers hear of new faults, and of nothing else.
  const fault = state.events.find((event) => event.fault);
  const key = fault ? `${fault.at} ${fault.words}` : "";
  if (announced !== null && key !== announced && fault && fault.kind !== "refused") say(fault.words);
  announced = key;
}

function trouble(words) {
  const notice = place("trouble");
  if (notice.textContent !== words) notice.textContent = words;
  notice.hidden = words === "";
}

function showAll() {
  text("network", `network ${state.bundle.slice(0, 12)}`);
  const health = place("health");
  text("health", state.connected ? "broker connected" : "broker gone");
  health.className = `badge ${state.connected ? "open" : "bad"}`;
  trouble(state.connected ? "" : "The broker is gone. The centre tries again; nothing is decided meanwhile.");
  showDecisions();
  showPrivate();
  showSensors();
  showEvents();
}

async function look() {
  try {
    const response = await fetch("/v1/state", { signal: AbortSignal.timeout(PATIENCE) });
    if (!response.ok) throw new Error(`${response.status}`);
    state = await response.json();
    showAll();
  } catch {
    place("health").className = "badge bad";
    text("health", "no answer");
    trouble(state ? `The centre does not answer since ${clock(state.at)}: it has ended, or cannot be reached. What stands below is old.` : "The centre does not answer.");
  }
  setTimeout(look, EVERY);
}

new ResizeObserver(drawChart).observe(place("chart"));
look();
