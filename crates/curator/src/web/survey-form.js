// Creating a survey: the question, the answers, the promise in words, what is known beforehand, the rounds.

import { factor, field, h, show } from "./page.js";
import { cost, DEVICE, fits, fitted, read, written } from "./plan.js";

const PROMISES = [
  ["1", "Balanced", "Seeing one message changes a belief by a factor of at most 2.72, or less where that is more than devices allow."],
  ["0.5", "Strong", "Changes a belief by a factor of at most 1.65. Needs the most people for the same accuracy."],
  ["2", "Light", "Changes a belief by a factor of at most 7.39, or less where that is more than devices allow: with a prior, or with several rounds."],
  ["own", "Another level", "Epsilon in nats, used as it is; e to that power is the factor."],
];

const lines = (text) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");

/** The form; `done` gets the new survey's id. */
export function surveyForm({ owner, done }) {
  const text = (attributes = {}) => h("input", { type: "text", autocomplete: "off", ...attributes });
  const area = (attributes = {}) => h("textarea", { autocomplete: "off", ...attributes });
  const number = (value, attributes = {}) => h("input", { type: "number", value: String(value), min: "1", step: "1", ...attributes });
  const boxes = {
    title: text({ required: true, maxlength: "200" }),
    id: text({ pattern: "[a-z0-9\\-]{1,64}" }),
    question: area({ required: true, maxlength: "2000" }),
    words: area({ placeholder: "yes\nno" }),
    points: area({ placeholder: "0\n1\n2\n3" }),
    edges: area({ placeholder: "0\n20\n40\n60\n100" }),
    epsilon: text({ inputmode: "decimal", value: "1" }),
    prior: area({ placeholder: "70\n30" }),
    source: text({ maxlength: "300" }),
    rounds: number(1, { max: "20" }),
    confidence: text({ inputmode: "decimal", value: "95" }),
    total: text({ inputmode: "decimal" }),
    minimum: number(100),
    people: number(100, { min: "2" }),
    retention: area({ maxlength: "2000" }),
    contact: text({ maxlength: "500" }),
    origins: area({ placeholder: "https://example.org" }),
  };
  const radios = (name, options, change) => {
    const made = options.map(([value, label, hint], at) => {
      const input = h("input", { type: "radio", name, value, checked: at === 0, change });
      return [input, h("label", { class: "choice" }, input, h("span", {}, h("strong", {}, label), h("span", { class: "soft small" }, hint)))];
    });
    return { inputs: made.map(([input]) => input), labels: made.map(([, label]) => label), value: () => made.find(([input]) => input.checked)[0].value };
  };

  // Each kind of answers, each way to promise and to know shows its own fields.
  const parts = {};
  const update = () => {
    for (const [kind, part] of Object.entries(parts)) {
      const [group, value] = kind.split(":");
      part.hidden = { answers, promise, known }[group].value() !== value;
    }
    show(summary, promised(planned()));
  };
  /** The levels of all rounds: presets are lowered to what people's devices allow, a level of one's own is not. */
  const planned = () => {
    const own = promise.value() === "own";
    const rounds = Math.min(Math.max(Math.floor(Number(boxes.rounds.value)) || 1, 1), 20);
    const wanted = { level: read(own ? boxes.epsilon.value.trim() : promise.value()), rounds, prior: known.value() === "prior" };
    return own ? { ...wanted, lowered: false, wanted } : { ...fitted(wanted), wanted };
  };
  const answers = radios("answers", [["words", "Words", "One of a few answers, such as yes and no."], ["points", "Numbers", "One of a list of numbers."], ["edges", "Ranges", "Any number, counted by the range it falls in."]], () => update());
  const promise = radios("promise", PROMISES, () => update());
  const known = radios("known", [["nothing", "Nothing", "The first round assumes nothing; later rounds may learn from it."], ["prior", "What people usually answer", "From a census or an earlier survey. Allows a better estimate for the same bound on belief."]], () => update());
  const summary = h("div", { class: "notice", "aria-live": "polite" });
  Object.assign(parts, {
    "answers:words": field("words", "The answers, one per line", boxes.words, "At least two, all different."),
    "answers:points": field("points", "The numbers, one per line, increasing", boxes.points),
    "answers:edges": field("edges", "The edges, one per line, increasing", boxes.edges, "Four edges make three ranges. Numbers outside count for the ends."),
    "promise:own": field("epsilon", "Epsilon", boxes.epsilon),
    "known:prior": h("div", {}, field("prior", "Shares in percent, one per line, in the order of the answers", boxes.prior), field("source", "Where they come from", boxes.source, "Shown to everybody as your word, because a wrong prior is the one thing no check can see.")),
  });
  boxes.epsilon.addEventListener("input", update);
  boxes.rounds.addEventListener("input", update);

  const problem = h("p", { class: "notice bad", role: "alert", hidden: true });
  const button = h("button", { class: "main", type: "submit" }, "Create and open round 1");
  const submit = async (event) => {
    event.preventDefault();
    problem.hidden = true;
    button.disabled = true;
    button.textContent = "Designing and verifying …";
    try {
      const made = await owner.json("/v1/surveys", { method: "POST", body: body() });
      done(made.id);
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
      problem.scrollIntoView({ block: "center" });
    } finally {
      button.disabled = false;
      button.textContent = "Create and open round 1";
    }
  };
  const body = () => {
    const value = (name) => boxes[name].value.trim();
    const fit = planned();
    const plan = {
      epsilon: promise.value() === "own" ? value("epsilon") : written(fit.level),
      rounds: Number(value("rounds")),
      confidence: Number(value("confidence")) / 100,
    };
    if (fit.lowered) plan.total_ldp = written(cost(fit).ldp);
    if (fit.lowered && fit.cap !== null) plan.ldp_per_round = written(fit.cap);
    if (value("total")) plan.total_ldp = value("total");
    if (known.value() === "prior") plan.prior = { p: shares(lines(value("prior"))), source: value("source") };
    const people = Number(value("people"));
    const made = {
      title: value("title"),
      question: value("question"),
      answers: { words: () => ({ names: lines(value("words")) }), points: () => ({ points: lines(value("points")) }), edges: () => ranges(lines(value("edges"))) }[answers.value()](),
      plan,
      minimum: Number(value("minimum")),
      group_minimum: people,
      retention: value("retention"),
      contact: value("contact"),
      origins: lines(value("origins")),
    };
    if (value("id")) made.id = value("id");
    return made;
  };
  const form = h(
    "form",
    { submit },
    h("h1", {}, "New survey"),
    h("section", { class: "card" }, h("h2", {}, "The question"), field("title", "Title", boxes.title, "For lists and the page's name."), field("question", "What people are asked", boxes.question), field("id", "Name in addresses (optional)", boxes.id, "1 to 64 of a-z, 0-9 and -. Left out, a random one is made.")),
    h("section", { class: "card" }, h("h2", {}, "The answers"), h("fieldset", {}, h("legend", { class: "hidden" }, "Kind of answers"), answers.labels), parts["answers:words"], parts["answers:points"], parts["answers:edges"]),
    h("section", { class: "card" }, h("h2", {}, "The promise"), h("fieldset", {}, h("legend", { class: "hidden" }, "Level"), promise.labels), parts["promise:own"], summary),
    h("section", { class: "card" }, h("h2", {}, "What is known beforehand"), h("fieldset", {}, h("legend", { class: "hidden" }, "Prior"), known.labels), parts["known:prior"], field("rounds", "Rounds", boxes.rounds, "With more than one, each round learns from those before it. The same person may answer in each, and pays for each: more rounds mean a lower level for each of them.")),
    h(
      "details",
      { class: "card" },
      h("summary", {}, "More"),
      field("minimum", "Nothing is shown of an open round below this many reports", boxes.minimum),
      field("people", "At least this many people share a policy", boxes.people, "A policy of its own would tell who somebody is. This is your word: people are shown it as such, because nothing can check it."),
      field("confidence", "Confidence of what a round learns, in percent", boxes.confidence),
      field("total", "Most attained LDP for one person over all rounds, in nats (optional)", boxes.total),
      field("retention", "How long reports are kept", boxes.retention),
      field("contact", "Whom to ask", boxes.contact),
      field("origins", "Other sites whose pages may send answers, one per line", boxes.origins),
    ),
    problem,
    h("div", { class: "row spaced" }, button, h("a", { href: "#/" }, "Cancel")),
  );
  update();
  return form;
}

/** What was changed about a plan so that it fits. */
const lowering = ({ level, cap, wanted }) => (level < wanted.level ? `Lowered from ${written(wanted.level)} to ${written(level)} nats` : `LDP held to ${written(cap)} nats`);

/** The promise of a plan in words: what one message does, what all rounds do together, and whether devices go along. */
function promised(plan) {
  const { level, rounds, prior, lowered, wanted } = plan;
  if (Number.isNaN(level)) return h("p", {}, "Give the level as a number.");
  const times = (units) => factor(units / 1e4);
  const all = cost(plan);
  const together = [all.lip === null ? null : `change a belief by a factor of at most ${times(all.lip)}`, `cost at most ${written(all.ldp)} nats of LDP`].filter(Boolean).join(" and ");
  const usual = `a factor of ${times(DEVICE.lip)} on beliefs and ${written(DEVICE.ldp)} nats of LDP for one question`;
  const first = prior ? "its bound is on belief (LIP) under that prior" : "its bound holds whatever people believe (LDP)";
  return [
    h("p", {}, `Round 1: one message changes a belief about a person by a factor of at most ${times(level)}; ${first}.`),
    rounds > 1 && h("p", {}, "Each later round is designed for what the rounds before it say, never weaker than this for any prior in the stated confidence."),
    lowered && h("p", {}, h("strong", {}, lowering(plan)), rounds > 1 ? ` in each of the ${rounds} rounds, so that the same people can answer in all of them.` : ", so that people can answer.", " The estimates need more people for it."),
    rounds > 1 && h("p", {}, `All ${rounds} rounds together ${together}. `, fits(plan) ? `Devices allow ${usual} unless told otherwise, so they answer every round.` : null),
    !fits(plan) && h("p", {}, h("strong", {}, "Devices refuse this"), ` unless their owners have raised their limits: they allow ${usual}, and ${rounds > 1 ? "all rounds together are" : "this is"} above it.`),
  ];
}

/** Percentages as shares that sum to one; small slips of rounding are spread. */
function shares(texts) {
  const values = texts.map((text) => Number(text.replace("%", "").replace(",", ".").trim()));
  if (values.length === 0 || values.some((value) => !(value >= 0))) throw new Error("Give one percentage per answer, none negative.");
  const total = values.reduce((a, b) => a + b, 0);
  if (!(Math.abs(total - 100) <= 1)) throw new Error(`The percentages sum to ${total}, not to 100.`);
  return values.map((value) => value / total);
}

/** Ranges between edges, each with its middle as the value that stands for it. */
function ranges(edges) {
  const exact = edges.map((edge) => {
    const match = /^(-?)([0-9]+)(?:\.([0-9]{1,8}))?$/.exec(edge);
    if (!match) throw new Error(`${edge} is not a number with at most 8 places.`);
    return BigInt(match[1] + match[2] + (match[3] ?? "").padEnd(9, "0"));
  });
  const written = (units) => {
    const digits = (units < 0n ? -units : units).toString().padStart(10, "0");
    const fraction = digits.slice(-9).replace(/0+$/, "");
    return `${units < 0n ? "-" : ""}${digits.slice(0, -9)}${fraction ? `.${fraction}` : ""}`;
  };
  return { edges: exact.map(written), values: exact.slice(1).map((high, at) => written((high + exact[at]) / 2n)) };
}
