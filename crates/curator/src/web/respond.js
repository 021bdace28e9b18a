// The respondent's page. Between opening it and pressing "Send" nothing goes over the network, and what goes then is the
// report alone, shown byte for byte beforehand.

import { AboveConsent, BrowserDevice, Client, Consent, encodeBody, natsText, OverBudget, Sequence, toHex } from "./undertone.js";
import { leftCard, limitsForm, movedPage, movingCard } from "./ledger.js";
import { count, field, h, nats, notice, percent, ratioFactor, say, show } from "./page.js";

const main = document.getElementById("main");
const MOST_RADIOS = 30;
const MOST_OPTIONS = 300;
const MOST_FOUND = 12;
const MOST_LISTED = 8;

const surveyId = decodeURIComponent(location.pathname.split("/").at(-1));

start().catch((error) => {
  show(main, h("h1", {}, "This question cannot be asked"), notice("bad", reason(error)), h("p", { class: "soft" }, "Nothing was sent."));
});

/** A person's words for what went wrong. */
function reason(error) {
  const said = {
    DecodeError: "The promise that came with this question cannot be read",
    Refusal: "The promise that came with this question is false",
  }[error.name];
  return said ? `${said}: ${error.message}.` : error.message;
}

async function start() {
  if (!globalThis.crypto?.subtle) return insecure();
  const device = await BrowserDevice.open();
  const { moved } = (await device.load()).state;
  if (moved !== null) return movedPage(main, device, moved.day, start);
  const limits = { ...new Limits(), ...(await device.setting("consent")) };
  const client = new Client(location.origin, { device, consent: consentOf(limits) });
  const surveys = await fetched(client);
  document.title = surveys[0].title;
  // What this device has drawn in this round is what it stays with.
  for (const survey of surveys) {
    const page = { device, client, survey, limits, choose: null };
    const own = await client.answered(survey);
    if (own) return drawn(page, own.report, own.delivery, null);
  }
  const choose = () => chooseGroup(surveys, (survey) => ask({ device, client, survey, limits, choose }));
  return surveys.length > 1 ? choose() : ask({ device, client, survey: surveys[0], limits, choose: null });
}

/** The survey, once for every group it has, all of them now: which one a person chooses then makes no request. */
async function fetched(client) {
  try {
    return [await client.survey(surveyId)];
  } catch (error) {
    if (error.code !== "group") throw error;
    const surveys = [];
    for (const { group } of error.groups) surveys.push(await client.survey(surveyId, { group }));
    return surveys;
  }
}

/** Asks which group a person is in, and says what that tells. */
function chooseGroup(surveys, done) {
  const radios = surveys.map((_, at) => h("input", { type: "radio", name: "group", value: String(at), autocomplete: "off" }));
  const choices = radios.map((radio, at) => h("label", { class: "choice" }, radio, h("span", {}, h("strong", {}, surveys[at].group), h("span", { class: "soft small" }, `At least ${count(surveys[at].people)} people, says the survey's owner.`))));
  const problem = h("p", { class: "notice bad", role: "alert", hidden: true });
  const submit = (event) => {
    event.preventDefault();
    const at = radios.findIndex((radio) => radio.checked);
    if (at >= 0) return done(surveys[at]);
    problem.textContent = "Choose a group first.";
    problem.hidden = false;
  };
  show(
    main,
    h("p", { class: "soft" }, surveys[0].title),
    h("form", { submit, novalidate: "" }, h("fieldset", {}, h("legend", { class: "question" }, h("h1", { class: "question" }, "Which group are you in?")), choices), problem, h("button", { class: "main wide", type: "submit" }, "Go on"), h("p", { class: "hint" }, "Choosing sends nothing.")),
    h(
      "section",
      { class: "card", "aria-labelledby": "group-tells" },
      h("h2", { id: "group-tells" }, "What your group tells"),
      h(
        "ul",
        {},
        h("li", {}, "This question is asked in groups, and each group's answers are randomised in its own way. Your message names that way, so ", h("strong", {}, "whoever receives it learns which group you chose. "), "That part is not randomised."),
        h("li", {}, "So choose by something anybody may know about you, such as where you live. If your group is nobody's business, do not answer."),
        h("li", {}, "How many people are in a group is what the survey's owner says. Nothing here can check it."),
      ),
    ),
  );
}

/** The group of everybody, which is no group to speak of. */
const EVERYONE = "everyone";

/** Browsers offer SHA-256 only to pages from https or from this machine. */
function insecure() {
  show(
    main,
    h("h1", {}, "This page is not secure enough"),
    notice(
      "bad",
      h("p", {}, "It was opened over plain http from another machine. Browsers then switch off the part that checks promises (SHA-256), and anyone on the way could change this page."),
      h("p", {}, "So your answer is not asked for here, and nothing is sent."),
    ),
    h("p", {}, "Open the same address with https:// in front, or tell whoever sent you the link."),
  );
}

/** What a person agrees to, as text, as the page keeps it. */
class Limits {
  lip = "1.0986122887";
  ldp = "2.1972245774";
  secretName = "";
  secretLdp = "";
}

function consentOf({ lip, ldp, secretName, secretLdp }) {
  return new Consent({ lip, ldp, secret: secretName ? { name: secretName, ldp: secretLdp || "0" } : null });
}

// ---------------------------------------------------------------- asking

async function ask(page) {
  const { client, survey } = page;
  const budgets = await client.budgets(survey);
  const obstacle = await objection(page);
  const input = answerInput(survey, obstacle !== null);
  const error = h("p", { class: "notice bad", role: "alert", id: "problem", hidden: true });
  const submit = async (event) => {
    event.preventDefault();
    error.hidden = true;
    try {
      const symbol = input.read();
      const { report, delivery } = await client.record(survey, symbol);
      // The browser may otherwise drop what this device remembers when space is short.
      navigator.storage?.persist?.();
      drawn(page, report, delivery, input.label(symbol));
    } catch (failed) {
      error.textContent = failed.message;
      error.hidden = false;
    }
  };
  show(
    main,
    h("p", { class: "soft" }, survey.title),
    page.choose && h("p", { class: "small" }, "You answer as ", h("strong", {}, survey.group), ". ", h("button", { type: "button", class: "quiet", click: page.choose }, "Choose another group")),
    obstacle,
    h(
      "form",
      { submit, novalidate: "" },
      input.element,
      error,
      h("button", { class: "main wide", type: "submit", disabled: obstacle !== null }, "Randomise my answer on this device"),
      h("p", { class: "hint" }, "Nothing is sent yet. You will see exactly what would be."),
    ),
    explained(page),
    leftCard(budgets, survey.policy.cost),
    limitsForm(page.limits, budgets, (limits, next) => saveLimits(page, limits, next), () => ask(page)),
    movingCard(page.device, start),
  );
}

/** Keeps a person's limits on this device; throws if one is no number. */
async function saveLimits({ device, client, limits }, next, budgets) {
  client.consent = consentOf(next);
  await client.setBudgets(budgets);
  Object.assign(limits, next);
  await device.setting("consent", next);
}

/** Why this device will not answer, or null. */
async function objection({ client, survey }) {
  if (!survey.open) return notice("warn", `Round ${survey.round.number} of this survey is closed. It takes no answers.`);
  try {
    // What this question alone would tell comes first, then what it adds to earlier answers.
    client.consent.check(new Sequence().after(survey.policy));
    await client.check(survey);
    return null;
  } catch (error) {
    const said = error instanceof AboveConsent ? "Above your limits. " : error instanceof OverBudget ? "Above your budget. " : "This device cannot answer. ";
    return notice("bad", h("p", {}, h("strong", {}, said), `${error.message[0].toUpperCase()}${error.message.slice(1)}.`), h("p", {}, "So nothing is drawn and nothing is sent. You can change your limits below."));
  }
}

/** Radio buttons, a list, a search or a number, by what the answers are. */
function answerInput({ question, policy: { inputs: alphabet } }, disabled) {
  const legend = h("legend", { class: "question" }, h("h1", { class: "question" }, question));
  const numeric = alphabet.kind === "points" || alphabet.kind === "bins";
  if (!numeric && alphabet.size <= MOST_RADIOS) {
    const radios = Array.from({ length: alphabet.size }, (_, at) => h("input", { type: "radio", name: "answer", value: String(at), disabled, autocomplete: "off" }));
    const choices = radios.map((radio, at) => h("label", { class: "choice" }, radio, h("span", {}, alphabet.label(at))));
    const read = () => {
      const at = radios.findIndex((radio) => radio.checked);
      if (at < 0) throw new Error("Choose an answer first.");
      return at;
    };
    return { element: h("fieldset", {}, legend, choices), read, label: (at) => alphabet.label(at) };
  }
  if (!numeric && alphabet.size > MOST_OPTIONS) return searched(legend, alphabet, disabled);
  if (!numeric) {
    const options = Array.from({ length: alphabet.size }, (_, at) => h("option", { value: String(at) }, alphabet.label(at)));
    const select = h("select", { disabled, autocomplete: "off" }, h("option", { value: "" }, "Choose …"), options);
    const read = () => {
      if (select.value === "") throw new Error("Choose an answer first.");
      return Number(select.value);
    };
    return { element: h("fieldset", {}, legend, field("answer", "Your answer", select)), read, label: (at) => alphabet.label(at) };
  }
  const last = alphabet.size - 1;
  const [low, high] = alphabet.kind === "bins" ? [alphabet.range(0)[0], alphabet.range(last)[1]] : [alphabet.label(0), alphabet.label(last)];
  const named = (at) => (alphabet.kind === "bins" ? alphabet.range(at).join(" to ") : alphabet.label(at));
  const box = h("input", { type: "text", inputmode: "decimal", disabled, autocomplete: "off" });
  const falls = h("p", { class: "hint", "aria-live": "polite" });
  const read = () => {
    try {
      return alphabet.symbol(box.value.trim().replace(",", "."));
    } catch {
      throw new Error(alphabet.kind === "bins" ? "Give a number." : `Give one of the numbers from ${low} to ${high} that the question allows.`);
    }
  };
  box.addEventListener("input", () => {
    try {
      falls.textContent = alphabet.kind === "bins" ? `Counts as ${named(read())}.` : "";
    } catch {
      falls.textContent = "";
    }
  });
  const hint = alphabet.kind === "bins" ? `A number; below ${low} counts as the lowest range, above ${high} as the highest.` : `From ${low} to ${high}.`;
  return { element: h("fieldset", {}, legend, field("answer", "Your answer", box, hint), falls), read, label: named };
}

/** A box to search thousands of answers with, on this device: what is typed goes nowhere. */
function searched(legend, alphabet, disabled) {
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const labels = Array.from({ length: alphabet.size }, (_, at) => alphabet.label(at));
  const known = labels.map(plain);
  const box = h("input", { type: "search", disabled, autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "search" });
  const found = h("div", { id: "found" });
  const said = h("p", { class: "hint", id: "found-says", role: "status" });
  let chosen = null;
  const choice = (at) => {
    const change = () => {
      chosen = at;
    };
    const radio = h("input", { type: "radio", name: "answer", value: String(at), checked: at === chosen, disabled, autocomplete: "off", change });
    return h("label", { class: "choice" }, radio, h("span", {}, labels[at]));
  };
  const look = () => {
    const wanted = plain(box.value.trim());
    if (wanted === "") {
      show(found, chosen === null ? null : choice(chosen));
      said.textContent = `${count(alphabet.size)} answers. Type a part of yours.`;
      return;
    }
    // The same, then those that begin with it, then those that have it anywhere.
    const ranks = [[], [], []];
    for (let at = 0; at < known.length; at++) {
      const place = known[at].indexOf(wanted);
      if (place >= 0) ranks[known[at] === wanted ? 0 : place === 0 ? 1 : 2].push(at);
    }
    const all = ranks.flat();
    const listed = all.slice(0, MOST_FOUND);
    // What was chosen stays in sight, and so does the fact that it was.
    if (chosen !== null && !listed.includes(chosen)) listed.unshift(chosen);
    show(found, listed.map(choice));
    said.textContent = all.length === 0 ? "No answer has that in it." : all.length > MOST_FOUND ? `${count(all.length)} answers have that in them: type more.` : "";
  };
  box.addEventListener("input", look);
  // Return is for searching: it must not send the form off.
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  look();
  const read = () => {
    if (chosen === null) throw new Error("Search for your answer and choose it first.");
    return chosen;
  };
  return { element: h("fieldset", {}, legend, field("answer", "Search for your answer", box), said, found), read, label: (at) => labels[at] };
}

// ---------------------------------------------------------------- what leaves the device

/** What a message tells, in words and in numbers. */
function explained({ survey }) {
  const { policy } = survey;
  const cost = policy.cost === null ? null : natsText(policy.cost);
  const lip = policy.lip === undefined ? undefined : policy.lip === null ? null : natsText(policy.lip);
  const { context, provenance, claims } = policy.draft;
  const { ldp, upper, lower } = policy.attained.input;
  const belief = lip ? [upper, lower].map(({ ratio }) => ratioFactor(ratio)).sort((a, b) => b - a)[0] : null;
  const words = [
    h("li", {}, "Your answer stays on this device. The device draws a message at random, with chances that depend a little on your answer, and only that message can be sent."),
    cost === null
      ? h("li", {}, "Some message rules an answer out completely: nothing bounds what it tells somebody who expects otherwise.")
      : h("li", {}, "Whatever somebody believed about you before, seeing your message changes the odds between two answers by a factor of at most ", h("strong", {}, ratioFactor(ldp.ratio)), "."),
    lip ? h("li", {}, "For somebody who knows what people usually answer, their belief in any answer of yours grows or shrinks by a factor of at most ", h("strong", {}, belief), ".") : null,
    cost === null ? null : h("li", {}, "You can deny any answer: every message can come from every answer."),
    survey.group === EVERYONE ? null : h("li", {}, "The message tells that you chose the group ", h("strong", {}, survey.group), "."),
  ];
  const facts = [
    ["Checked on this device", `${claims.length} claim${claims.length > 1 ? "s" : ""} verified exactly`],
    ["Odds between answers (LDP)", cost === null ? "no bound" : `${nats(cost)} nats`],
    lip === undefined ? null : ["Belief (LIP)", lip === null ? "no bound" : `${nats(lip)} nats`],
    policy.secretLdp === undefined ? null : [`About “${context.name}” (LDP)`, policy.secretLdp === null ? "no bound" : `${nats(natsText(policy.secretLdp))} nats`],
    ["What is assumed", { unknown: "nothing", prior: "how people usually answer", priors: "one of several habits of answering", box: "a range of habits of answering", secret: `how “${context.name}” goes with answers` }[context.kind]],
    provenance.source ? ["Where that comes from", context.kind === "unknown" ? provenance.source : `${provenance.source}, says the survey's owner`] : null,
    ["Shared by", `at least ${count(survey.people)} people, says the survey's owner; nothing checks it`],
    ["Kept, says the owner", survey.retention || "not stated"],
    ["Contact, says the owner", survey.contact || "not stated"],
    ["Policy", h("code", {}, policy.id)],
  ].filter(Boolean);
  return h(
    "section",
    { class: "card", "aria-labelledby": "leaves" },
    h("h2", { id: "leaves" }, "What leaves this device"),
    h("ul", {}, words),
    odds(policy),
    h("details", {}, h("summary", {}, "The promise in numbers"), h("div", { class: "scroll" }, h("table", {}, h("tbody", {}, facts.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))))))),
    h("p", { class: "small" }, h("a", { href: `/v1/surveys/${survey.id}/officer` }, "The page for the privacy officer")),
  );
}

/** For a small policy the whole table of chances; for the others a sentence. */
function odds(policy) {
  const { inputs, outputs, shape, own, other, coin, family } = { ...policy.draft.channel };
  if (shape === "incidence") {
    const among = percent(Number(coin) / 2 ** 48);
    const said = family.kind === "subsets" ? `The message is a list of ${count(inputs)} marks of which ${count(family.size)} are set. Your answer is marked with ${among}.` : `The message is the number of one of ${count(outputs)} groups of answers. Your answer is in that group with ${among}.`;
    return h("p", { class: "small soft" }, said);
  }
  if (shape === "bits") {
    const chance = (units) => percent(Number(units) / 2 ** 32);
    return h("p", { class: "small soft" }, `The message is a list of ${inputs} marks. The mark of your answer is set with ${chance(own)}, every other mark with ${chance(other)}.`);
  }
  if (inputs > MOST_LISTED || outputs > MOST_LISTED) return null;
  const rows = Array.from({ length: inputs }, (_, x) => h("tr", {}, h("th", { scope: "row" }, policy.inputs.label(x)), policy.row(x).map((p) => h("td", { class: "n" }, percent(p)))));
  const head = Array.from({ length: outputs }, (_, y) => h("th", { class: "n", scope: "col" }, messageName(policy, y)));
  return h(
    "details",
    {},
    h("summary", {}, "How likely each message is"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Chances of each message" }, h("table", {}, h("caption", {}, "One line for each answer, one column for each message."), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Answer"), head)), h("tbody", {}, rows))),
  );
}

// ---------------------------------------------------------------- drawn, and sent

/** Shows the report; `chosen` is known only right after choosing and is kept nowhere. */
function drawn(page, report, delivery, chosen) {
  const { client, survey } = page;
  const { body } = encodeBody([report], client.form);
  const named = report.bits === null && survey.policy.draft.outputs === null && survey.policy.draft.channel.shape !== "incidence";
  const said = report.bits === null ? messageName(survey.policy, report.token) : marks(survey.policy, report.bits);
  const place = h("div", {});
  const bytes = new TextEncoder().encode(body);
  const send = async () => {
    show(place, h("button", { class: "main wide", disabled: true }, "Sending …"));
    const outcome = await client.send(survey).catch((error) => ({ delivery, obstacle: error.message }));
    drawn(page, report, outcome.delivery, chosen);
    if (outcome.obstacle) say("It could not be sent. It waits on this device.");
  };
  const heading = h("h1", { tabindex: "-1" }, { waiting: "Ready to send", accepted: "Thank you, it arrived" }[delivery] ?? "It was not accepted");
  if (delivery === "waiting") {
    show(place, h("button", { class: "main wide", type: "button", click: send }, "Send these bytes"), h("p", { class: "hint" }, "If you change your mind, close the page: it stays on this device."));
  } else if (delivery === "accepted") {
    show(place, notice("", "This device remembers the message. If you are asked again under the same promise it repeats it, because a second draw would tell more about you."));
  } else {
    show(place, notice("bad", `The survey refused it: ${delivery.refused.detail || delivery.refused.code || delivery.refused.status}.`));
  }
  show(
    main,
    h("p", { class: "soft" }, survey.title),
    heading,
    h("p", {}, survey.question),
    h(
      "section",
      { class: "card", "aria-label": "The message" },
      chosen === null ? null : h("p", {}, "You chose ", h("strong", {}, `“${chosen}”`), ". That stays here."),
      h("p", { class: "big" }, delivery === "accepted" ? "What was sent: " : "What the draw gave: ", h("strong", {}, said)),
      chosen === null ? null : h("p", { class: "small soft" }, named ? "It may or may not be what you chose. Nobody can tell, and that is the point." : "Other answers can give it too. Nobody can tell which one did, and that is the point."),
      h("h3", {}, delivery === "accepted" ? "The exact bytes that were sent" : "The exact bytes"),
      h("pre", { id: "bytes", tabindex: "0", "aria-label": "The exact bytes" }, body),
      h("details", {}, h("summary", {}, `The same ${bytes.length} bytes in hexadecimal`), h("pre", {}, toHex(bytes).replace(/(..)/g, "$1 ").trim())),
      place,
    ),
    explained(page),
  );
  heading.focus();
}

/** A message is an answer, a group of answers, or has a number of its own. */
const messageName = ({ draft, outputs }, token) => (draft.channel.shape === "incidence" ? `group ${token}` : draft.outputs === null ? `“${outputs.label(token)}”` : `message ${outputs.label(token)}`);

function marks(policy, bits) {
  const set = Array.from({ length: policy.outputs.size }, (_, at) => at).filter((at) => bits[at >> 3] & (0x80 >> (at & 7)));
  const shown = set.slice(0, 12).map((at) => policy.outputs.label(at));
  return set.length === 0 ? "no marks" : `marks at ${shown.join(", ")}${set.length > 12 ? ` and ${set.length - 12} more` : ""}`;
}
