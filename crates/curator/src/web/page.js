// What the pages share: building elements, saying things aloud, numbers for people.

/** An element. Attributes that are functions listen; `false` and null are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name === "class") element.className = value;
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replaces what a place shows. */
export function show(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

/** For screen readers. */
export function say(text) {
  const said = document.getElementById("said");
  said.textContent = "";
  requestAnimationFrame(() => {
    said.textContent = text;
  });
}

export const notice = (kind, ...children) => h("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : null }, ...children);

/** A labelled field; `hint` is tied to the input. */
export function field(id, label, input, hint = null) {
  input.id = id;
  if (hint) input.setAttribute("aria-describedby", `${id}-hint`);
  return h("div", { class: "field" }, h("label", { for: id }, label), input, hint && h("p", { class: "hint", id: `${id}-hint` }, hint));
}

export const count = (n) => Number(n ?? 0).toLocaleString("en");
export const percent = (p, digits = 1) => `${(100 * p).toFixed(digits)}\u00a0%`;

/** An interval of shares, its ends rounded outward. */
export const percents = (low, high) => {
  const steps = (share, round) => round(1000 * share + (round === Math.floor ? 1e-9 : -1e-9)) / 1000;
  return `${percent(Math.max(0, steps(low, Math.floor)))} to ${percent(Math.min(1, steps(high, Math.ceil)))}`;
};

/** An interval of numbers, its ends rounded outward to four digits. */
export const between = (low, high) => {
  const step = (value) => 10 ** (Math.floor(Math.log10(Math.abs(value) || 1)) - 3);
  const [down, up] = [step(low), step(high)];
  return `${(Math.floor(low / down + 1e-9) * down).toPrecision(4)} to ${(Math.ceil(high / up - 1e-9) * up).toPrecision(4)}`;
};

/** Nats as a factor for people, rounded up so that it is never below the truth. */
export function factor(nats) {
  const value = Math.exp(Number(nats));
  const places = value < 10 ? 2 : 1;
  return (Math.ceil(value * 10 ** places - 1e-9) / 10 ** places).toFixed(places);
}

/** An exact ratio `n/d` as such a factor. */
export function ratioFactor(ratio) {
  const [n, d] = ratio.split("/").map(BigInt);
  const places = n < 10n * d ? 2 : 1;
  const scaled = (n * 10n ** BigInt(places) + d - 1n) / d;
  return (Number(scaled) / 10 ** places).toFixed(places);
}

/** Few digits of nats, rounded up. */
export const nats = (text) => (text === null || text === undefined || text === "unbounded" ? "no bound" : String(Math.ceil(Number(text) * 1e4 - 1e-6) / 1e4));

/** Where a survey stands, in a few words. */
export const standing = ({ round, phase = "running" }) => {
  if (!round) return phase === "running" ? "no round yet" : phase;
  const said = `round ${round.number}, ${round.state}`;
  return phase === "running" || phase === round.state ? said : `${said}, ${phase}`;
};

/** The colours of the current theme, for canvases. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["ink", "soft", "line", "accent", "grey", "card"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}
