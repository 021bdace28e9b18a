// A curator to test against, browsers with their own network log, and a crowd.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Consent, MemoryDevice } from "../../bindings/js/undertone.js";

const output = process.env.UNDERTONE_BROWSER_OUTPUT;
const { chromium } = createRequire(join(output, "x.js"))("playwright-core");

export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
export const DESK = { viewport: { width: 1100, height: 900 } };

/** Where screenshots go. */
export function screenshot(page, name) {
  const directory = join(output, "screenshots");
  mkdirSync(directory, { recursive: true });
  return page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}

/** Starts `undertone serve` on a free port; a store of one's own unless the environment names one. */
export async function startCurator() {
  const directory = mkdtempSync(join(tmpdir(), "undertone-browser-"));
  const store = process.env.UNDERTONE_TEST_STORE ?? `sqlite:${join(directory, "surveys.db")}`;
  // A token of one's own: a store on PostgreSQL outlives a curator, and so does the file with its token.
  const tokenFile = join(directory, "token");
  const child = spawn(process.env.UNDERTONE_BIN, ["--json", "serve", "--create", "--listen", "127.0.0.1:0", "--admin-token-file", tokenFile], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, UNDERTONE_LOG: "warn", UNDERTONE_ADMIN_TOKEN: undefined, UNDERTONE_STORE: store },
  });
  let [said, complaint] = ["", ""];
  child.stderr.on("data", (text) => (complaint += text));
  const first = new Promise((resolve, reject) => {
    child.stdout.on("data", (text) => {
      said += text;
      if (said.includes("\n")) resolve(JSON.parse(said.split("\n")[0]));
    });
    child.on("exit", (code) => reject(new Error(`undertone serve ended with ${code}: ${complaint}`)));
  });
  const { address } = await first;
  const token = readFileSync(tokenFile, "utf8").trim();
  const base = address.replace(/\/$/, "");
  const stop = async () => {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await gone;
    rmSync(directory, { recursive: true, force: true });
  };
  /** As the owner. */
  const api = async (path, options = {}) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${base}${path}`, { headers, ...options });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  return { base, token, api, stop };
}

/**
 * A Chromium with a fresh profile that writes its own network log: every byte that any part of it sends, from pages,
 * workers, beacons or sockets. `sent()` ends it and reads the log.
 */
export async function startBrowser({ map = null, ...options } = {}) {
  const directory = mkdtempSync(join(tmpdir(), "undertone-chromium-"));
  const log = join(directory, "net.json");
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    `--log-net-log=${log}`,
    "--net-log-capture-mode=Everything",
    // Nothing but this machine can be reached, and names resolve to nothing unless a test says otherwise.
    `--host-resolver-rules=${map ? `MAP ${map} 127.0.0.1, ` : ""}MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
  ];
  const context = await chromium.launchPersistentContext(join(directory, "profile"), { executablePath: process.env.CHROMIUM, headless: true, args, ...options });
  running.add(context);
  const complaints = [];
  const watch = (page) => {
    page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(`${message.type()}: ${message.text()}`));
    page.on("websocket", (socket) => complaints.push(`socket: ${socket.url()}`));
    page.on("worker", (worker) => complaints.push(`worker: ${worker.url()}`));
  };
  context.pages().forEach(watch);
  context.on("page", watch);
  context.on("serviceworker", (worker) => complaints.push(`service worker: ${worker.url()}`));
  const sent = async () => {
    running.delete(context);
    await context.close();
    const found = readLog(log);
    rmSync(directory, { recursive: true, force: true });
    return found;
  };
  return { context, complaints, sent };
}

const running = new Set();

/** Ends what a failed test has left open. */
export const closeBrowsers = () => Promise.all([...running].map((context) => context.close()));

/** Every connection in a network log: where to, and the bytes sent. */
function readLog(path) {
  let text = readFileSync(path, "utf8");
  // A browser that is ended may leave the list open.
  if (!text.trimEnd().endsWith("}")) text = `${text.trimEnd().replace(/,$/, "")}]}`;
  const { constants, events } = JSON.parse(text);
  const type = Object.fromEntries(Object.entries(constants.logEventTypes).map(([name, value]) => [value, name]));
  const connections = new Map();
  const others = [];
  for (const { type: kind, source, params } of events) {
    const name = type[kind];
    if (name === "TCP_CONNECT" && params?.remote_address) connections.set(source.id, { to: params.remote_address, bytes: [] });
    if (name === "SOCKET_BYTES_SENT") {
      if (!connections.has(source.id)) connections.set(source.id, { to: "unknown", bytes: [] });
      connections.get(source.id).bytes.push(Buffer.from(params.bytes ?? "", "base64"));
      if (params.byte_count !== undefined && params.bytes === undefined) others.push(`${name} without its bytes`);
    }
    if (name === "UDP_BYTES_SENT" || name === "WEBSOCKET_SENT_FRAME_HEADER") others.push(name);
  }
  return { connections: [...connections.values()].map(({ to, bytes }) => ({ to, bytes: Buffer.concat(bytes) })), others };
}

/** The HTTP/1.1 requests in what was sent over a connection; whatever is not one is an error. */
export function requestsIn(bytes) {
  const requests = [];
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) throw new Error(`not a request: ${rest.toString("latin1")}`);
    const [line, ...fields] = rest.subarray(0, end).toString("latin1").split("\r\n");
    const match = /^([A-Z]+) (\S+) HTTP\/1\.1$/.exec(line);
    if (!match) throw new Error(`not a request: ${line}`);
    const headers = Object.fromEntries(fields.map((field) => [field.slice(0, field.indexOf(":")).toLowerCase(), field.slice(field.indexOf(":") + 1).trim()]));
    const length = Number(headers["content-length"] ?? 0);
    const body = rest.subarray(end + 4, end + 4 + length);
    requests.push({ method: match[1], path: match[2], headers, body: body.toString("utf8") });
    rest = rest.subarray(end + 4 + length);
  }
  return requests;
}

/** Simulated people, each with a device of their own, answering through the real client. */
export async function crowd(base, id, symbols, group = null) {
  const asked = new Client(base);
  const survey = await asked.survey(id, { group });
  const reports = [];
  for (const symbol of symbols) {
    const person = new Client(base, { device: new MemoryDevice({ budgets: { question: "50" } }), consent: new Consent({ lip: null, ldp: null }) });
    reports.push((await person.record(survey, symbol)).report);
  }
  await asked.submit(id, reports);
  return reports.length;
}
