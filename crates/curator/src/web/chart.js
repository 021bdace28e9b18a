// Two charts, drawn with uPlot: shares with their intervals, and reports over time. The numbers are always in a table
// beside them, so the pictures are hidden from screen readers.

import uPlot from "./uplot.js";
import { colours, h, percent } from "./page.js";

const FONT = "13px system-ui, sans-serif";

/** Draws again when the place's width or the theme changes; stops once the place has left the page. */
function lively(place, build) {
  let [plot, width] = [null, 0];
  const draw = () => {
    const room = Math.floor(place.clientWidth);
    if (room === 0) return;
    width = room;
    plot?.destroy();
    plot = build(room);
  };
  const observer = new ResizeObserver(() => {
    if (!place.isConnected) observer.disconnect();
    else if (Math.floor(place.clientWidth) !== width) draw();
  });
  observer.observe(place);
  const theme = matchMedia("(prefers-color-scheme: dark)");
  theme.addEventListener("change", () => place.isConnected && draw());
  return { redraw: draw };
}

/** How wide a text is drawn. */
function widthOf(text) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = FONT;
  return context.measureText(text).width;
}

const shortened = (text, room) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);

/** Shares with intervals, one line per answer; `second` is drawn hollow, and faint if it is greyed. */
export function intervals(shares, second = null) {
  const place = h("div", { class: "chart", "aria-hidden": "true" });
  const all = [...shares, ...(second?.shares ?? [])];
  const most = Math.max(0.05, ...all.map((share) => share.high));
  const least = Math.min(0, ...all.map((share) => share.low));
  lively(place, (width) => {
    const c = colours();
    const ratio = devicePixelRatio || 1;
    const letters = width < 520 ? 14 : 26;
    const names = shares.map(({ symbol }) => shortened(symbol, letters));
    const room = 20 + Math.max(...names.map(widthOf));
    const bar = (u, at, { value, low, high }, offset, colour, hollow) => {
      const { ctx } = u;
      const middle = u.valToPos(at, "x", true) + offset * ratio;
      const [from, to, dot] = [low, high, value].map((v) => u.valToPos(v, "y", true));
      ctx.strokeStyle = colour;
      ctx.fillStyle = hollow ? c.card : colour;
      ctx.lineWidth = 2 * ratio;
      ctx.beginPath();
      ctx.moveTo(from, middle);
      ctx.lineTo(to, middle);
      for (const end of [from, to]) {
        ctx.moveTo(end, middle - 4 * ratio);
        ctx.lineTo(end, middle + 4 * ratio);
      }
      ctx.stroke();
      ctx.beginPath();
      ctx.arc(dot, middle, 5 * ratio, 0, 2 * Math.PI);
      ctx.fill();
      ctx.stroke();
    };
    const draw = (u) => {
      u.ctx.save();
      shares.forEach((share, at) => {
        bar(u, at, share, second ? -6 : 0, c.accent, false);
        if (second?.shares[at]) bar(u, at, second.shares[at], 7, c.grey, true);
      });
      u.ctx.restore();
    };
    const axis = { stroke: c.soft, font: FONT, grid: { stroke: c.line, width: 1 }, ticks: { show: false } };
    const options = {
      width,
      height: 52 + shares.length * (second ? 40 : 30),
      padding: [6, 14, 0, 0],
      cursor: { show: false },
      legend: { show: false },
      scales: {
        x: { time: false, ori: 1, dir: -1, range: [-0.6, shares.length - 0.4] },
        y: { ori: 0, range: [least, most * 1.04] },
      },
      axes: [
        { ...axis, side: 3, size: room, gap: 8, grid: { show: false }, splits: () => shares.map((_, at) => at), values: () => names },
        { ...axis, side: 2, size: 34, space: 64, values: (_, splits) => splits.map((value) => percent(value, 0)) },
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [draw] },
    };
    return new uPlot(options, [shares.map((_, at) => at), shares.map(({ value }) => value)], place);
  });
  return place;
}

/** Reports counted since this page was opened; `points` is a list of [seconds, count] that grows. */
export function overTime(points) {
  const place = h("div", { class: "chart", "aria-hidden": "true" });
  const { redraw } = lively(place, (width) => {
    if (points.length < 2) return null;
    const c = colours();
    const axis = { stroke: c.soft, font: FONT, grid: { stroke: c.line, width: 1 }, ticks: { show: false } };
    const options = {
      width,
      height: 150,
      padding: [8, 12, 0, 0],
      cursor: { show: false },
      legend: { show: false },
      scales: { x: { time: true, range: (_, first, last) => [first, Math.max(last, first + 30)] }, y: { range: (_, low, high) => [Math.max(0, low - 1), Math.max(high + 1, low + 4)] } },
      axes: [{ ...axis, space: 90, size: 34, values: (_, splits) => splits.map((at) => new Date(1000 * at).toLocaleTimeString("en-GB")) }, { ...axis, size: 62, values: (_, splits) => splits.map((n) => (Number.isInteger(n) ? n.toLocaleString("en") : "")) }],
      series: [{}, { stroke: c.accent, width: 2, fill: `${c.accent}22`, points: { show: points.length < 40, size: 5, fill: c.accent } }],
    };
    return new uPlot(options, [points.map(([at]) => at), points.map(([, n]) => n)], place);
  });
  return { place, redraw };
}
