// The owner's pages: sign in, the list of surveys, and what leads on from there.

import { count, field, h, notice, say, show, standing } from "./page.js";
import { surveyForm } from "./survey-form.js";
import { surveyView } from "./survey-view.js";

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const KEY = "undertone-owner";

/** A refusal of the curator, in its own words. */
class Refused extends Error {
  constructor(status, { code = "", detail = "" }) {
    super(detail || `the curator answers with ${status}`);
    Object.assign(this, { status, code });
  }
}

/** Talks to the curator as the owner. The token stays in this tab. */
const owner = {
  get token() {
    return sessionStorage.getItem(KEY);
  },
  async fetch(path, { method = "GET", body } = {}) {
    const headers = { authorization: `Bearer ${this.token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "omit", cache: "no-store" });
    if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})));
    return response;
  },
  async json(path, options) {
    return (await this.fetch(path, options)).json();
  },
};

/** Asks before something that cannot be taken back. */
export function confirmed(title, text, yes) {
  const dialog = document.getElementById("confirm");
  document.getElementById("confirm-title").textContent = title;
  document.getElementById("confirm-text").textContent = text;
  document.getElementById("confirm-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

let leaving = () => {};
let turns = 0;

async function route() {
  leaving();
  leaving = () => {};
  turns += 1;
  const turn = turns;
  /** Whether the address is still the one this began with; what comes late is not shown. */
  const current = () => turn === turns;
  if (!globalThis.isSecureContext) return insecure();
  if (!owner.token) return signIn();
  nav.hidden = false;
  const [, kind, id] = location.hash.split("/");
  try {
    if (kind === "new") document.title = "New survey";
    if (kind === "new") show(main, surveyForm({ owner, done: (made) => location.assign(`#/survey/${made}`) }));
    else if (kind === "survey") await surveyView({ owner, id, main, confirmed, current, leave: (stop) => (leaving = stop) });
    else await list(current);
  } catch (error) {
    if (!current()) return;
    if (error.status === 401) {
      sessionStorage.removeItem(KEY);
      return signIn("The curator does not know this token.");
    }
    show(main, h("h1", {}, "That did not work"), notice("bad", error.message), h("p", {}, h("a", { href: "#/" }, "Back to the surveys")));
  }
  if (current()) main.focus({ preventScroll: true });
}

/** On plain http from another machine the token would be readable on the way: it is not asked for. */
function insecure() {
  sessionStorage.removeItem(KEY);
  nav.hidden = true;
  document.title = "Undertone";
  const port = location.port || "80";
  show(
    main,
    h(
      "section",
      { class: "card signin" },
      h("h1", {}, "Not over this connection"),
      notice("bad", h("p", {}, `This page was opened over plain http from another machine (${location.origin}). Whoever is on the way could read the owner's token and change this page, so the token is not asked for here.`)),
      h("p", {}, "What to do:"),
      h(
        "ul",
        {},
        h("li", {}, "Open the same address with https:// in front."),
        h("li", {}, "If that does not answer, the curator has no certificate. Start it with ", h("code", {}, "--tls-cert chain.pem --tls-key key.pem"), ", or put a proxy with TLS in front of it."),
        h("li", {}, "Until then, sign in on the curator's own machine at ", h("code", {}, `http://127.0.0.1:${port}/`), ", or bring that port to yours with ", h("code", {}, `ssh -L ${port}:127.0.0.1:${port} ${location.hostname}`), " and open the same address there."),
      ),
    ),
  );
}

function signIn(problem = null) {
  nav.hidden = true;
  document.title = "Undertone";
  const box = h("input", { type: "password", autocomplete: "current-password", required: true, spellcheck: "false" });
  const submit = async (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, box.value.trim());
    try {
      await owner.json("/v1/surveys?limit=1");
      await route();
    } catch (error) {
      sessionStorage.removeItem(KEY);
      signIn(error.status === 401 ? "The curator does not know this token." : error.message);
    }
  };
  show(
    main,
    h(
      "section",
      { class: "card signin" },
      h("h1", {}, "Surveys that cannot tell on anyone"),
      h("p", {}, "This curator collects answers that were randomised on people's own devices. To look after its surveys, give the owner's token."),
      problem && notice("bad", problem),
      h("form", { submit }, field("token", "Owner's token", box, "`undertone serve` prints it when it starts. It is kept in this tab only."), h("button", { class: "main", type: "submit" }, "Sign in")),
    ),
  );
  box.focus();
}

/** So many surveys are shown at first, and so many more each time they are asked for. */
const PAGE = 100;

async function list(current) {
  const place = h("tbody", {});
  let wanted = PAGE;
  const more = h("button", { type: "button", click: () => ((wanted += PAGE), draw()) }, "Show more");
  const draw = async () => {
    const surveys = [];
    let after = null;
    do {
      const query = new URLSearchParams({ limit: Math.min(wanted - surveys.length, 1000), ...(after && { after }) });
      const page = await owner.json(`/v1/surveys?${query}`);
      surveys.push(...page.surveys);
      after = page.next;
    } while (after !== null && surveys.length < wanted);
    more.hidden = after === null;
    if (surveys.length === 0) return false;
    show(
      place,
      surveys.map((survey) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, h("a", { href: `#/survey/${survey.id}` }, survey.title), h("div", { class: "soft small" }, survey.question)),
          h("td", {}, h("span", { class: `badge ${survey.state}` }, standing(survey))),
          h("td", { class: "n" }, count(survey.reports + survey.waiting)),
        ),
      ),
    );
    return true;
  };
  const some = await draw();
  if (!current()) return;
  document.title = "Surveys";
  const head = h("div", { class: "row apart" }, h("h1", {}, "Surveys"), h("a", { class: "button", href: "#/new" }, "New survey"));
  if (!some) {
    show(main, head, h("section", { class: "card" }, h("p", {}, "There are none yet."), h("p", { class: "soft" }, "A survey asks one question. People's devices check its promise, randomise their answer and send only that; this page shows what all of them say together.")));
    return;
  }
  const columns = h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Survey"), h("th", { scope: "col" }, "State"), h("th", { class: "n", scope: "col" }, "Reports")));
  show(main, head, h("div", { class: "card scroll" }, h("table", {}, columns, place)), more);
  const timer = setInterval(() => draw().catch(() => clearInterval(timer)), 4000);
  leaving = () => clearInterval(timer);
}

document.getElementById("leave").addEventListener("click", () => {
  sessionStorage.removeItem(KEY);
  location.hash = "#/";
  route();
  say("Signed out.");
});
addEventListener("hashchange", route);
route();
