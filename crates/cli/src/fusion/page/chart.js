// Two pictures in SVG: decisions over time, and between what a belief can lie. Their numbers stand beside them in words.

const SVG = "http://www.w3.org/2000/svg";

/** An element of a picture. */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

const HEIGHT = 150;
/** Decisions in the picture: as many as there is room for, with so many pixels for each. */
const WINDOW = 120;
const STEP = 5.5;

/** How wide a text of 13 pixels is drawn, about. */
const room = (names) => Math.min(140, 14 + 7.5 * Math.max(4, ...names.map((name) => name.length)));
const shortened = (text) => (text.length > 16 ? `${text.slice(0, 15)}…` : text);

/**
 * One dot for every decision, from left to right. Of two values, the height is the belief in the second, and the dot of a decision for
 * it is full; of more, every value has its line. Rings are decisions for which a sensor was missing, or for which none was heard.
 */
export function decisionsChart(decisions, { values, prior }, sensors, width) {
  const two = values.length === 2;
  const names = two ? [] : values.map(shortened);
  const left = room(names);
  const [top, right, bottom] = [12, 8, 26];
  const height = two ? HEIGHT : Math.max(HEIGHT, 24 * values.length + top + bottom);
  const inner = { width: Math.max(40, width - left - right), height: height - top - bottom };
  const window = Math.max(20, Math.min(WINDOW, Math.floor(inner.width / STEP)));
  const shown = decisions.slice(-window);
  // The belief in what is rare is small: a scale that shows it.
  const most = Math.max(prior[1], ...shown.map(({ posterior }) => posterior[1]));
  const scale = two ? [0.02, 0.1, 0.25, 0.5].find((end) => most <= end) ?? 1 : 1;
  const x = (at) => left + ((at + 0.5) / window) * inner.width;
  const y = (share) => top + (1 - share / scale) * inner.height;
  const lane = (value) => 1 - (value + 0.5) / values.length;
  const level = ({ posterior, value }) => (two ? posterior[1] : lane(value));
  const counts = values.map((name, value) => `${name} ${shown.filter((decision) => decision.value === value).length}`);
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": `The last ${shown.length} decisions: ${counts.join(", ")}` });
  const rule = (share, name, text) => {
    picture.append(s("line", { class: name, x1: left, x2: left + inner.width, y1: y(share), y2: y(share) }));
    if (text) picture.append(s("text", { x: left - 10, y: y(share) + 4, "text-anchor": "end" }, text));
  };
  if (two) {
    for (const part of [1, 0.5, 0]) rule(part * scale, "rule", `${+(100 * part * scale).toFixed(1)} %`);
    rule(prior[1], "prior");
  } else {
    names.forEach((name, value) => rule(lane(value), "rule", name));
  }
  if (two && shown.length > 1) {
    picture.append(s("polyline", { class: "trace", points: shown.map((decision, at) => `${x(at).toFixed(1)},${y(level(decision)).toFixed(1)}`).join(" ") }));
  }
  const radius = Math.max(2.5, Math.min(4, inner.width / window / 1.6));
  shown.forEach((decision, at) => {
    const ring = decision.heard === 0 ? " none" : decision.heard < sensors ? " some" : "";
    const first = two && decision.value === 0 ? " first" : "";
    picture.append(s("circle", { class: `dot${ring}${first}`, cx: x(at).toFixed(1), cy: y(level(decision)).toFixed(1), r: radius }));
  });
  if (shown.length > 0) {
    const label = (at, text, anchor) => picture.append(s("text", { x: x(at), y: height - 6, "text-anchor": anchor }, text));
    const apart = x(shown.length - 1) - x(0) > 160;
    if (apart) label(0, `epoch ${shown[0].epoch}`, "start");
    label(shown.length - 1, `${apart ? "" : "epoch "}${shown[shown.length - 1].epoch}`, apart ? "end" : "start");
  }
  return picture;
}

/** Between what a belief can lie now and when the budget is used up, on a scale from nought to one. */
export function rangeChart({ before, least, most, least_certified, most_certified }) {
  const band = (name, low, high, y, height) => {
    // What is narrower than the eye can see is still drawn.
    const width = Math.max(0.4, 100 * (high - low));
    return s("rect", { class: name, x: Math.min(100 * low, 100 - width), y, width, height });
  };
  return s(
    "svg",
    { viewBox: "0 0 100 18", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { class: "track", x: 0, y: 3, width: 100, height: 12, "vector-effect": "non-scaling-stroke" }),
    band("budget", least_certified, most_certified, 3, 12),
    band("now-band", least, most, 5, 8),
    s("rect", { class: "before", x: Math.min(99.6, Math.max(0, 100 * before - 0.2)), y: 0, width: 0.4, height: 18, "vector-effect": "non-scaling-stroke" }),
  );
}
