// A curator as far as a client can see one, with faults on demand.

import { createServer } from "node:http";

/**
 * `policies` are documents by id, `bytes` their canonical bytes, for clients that ask for those. `faults` is a list of what happens to the next
 * submissions: "lose" (stored, no answer), "busy", or a problem. Bodies longer than `largest` are too large. Addresses in `endless` answer for
 * ever; `taken` counts their bytes.
 */
export async function startCurator(surveys, policies, bytes = {}) {
  const curator = { stored: new Map(), attempts: [], faults: [], requests: [], largest: Infinity, endless: new Set(), taken: 0 };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    curator.requests.push({ method: request.method, url: request.url, headers: request.headers, body });
    const send = (status, type, content, headers = {}) => {
      response.writeHead(status, { "content-type": type, ...headers });
      response.end(content);
    };
    const problem = (status, code) => send(status, "application/problem+json", JSON.stringify({ status, code, detail: "as told" }));
    if (curator.endless.has(request.url)) {
      const chunk = Buffer.alloc(1 << 16, " ");
      response.writeHead(request.method === "POST" ? 202 : 200, { "content-type": "application/json" });
      response.on("error", () => {});
      const more = () => {
        while (!response.destroyed && response.write(chunk)) curator.taken += chunk.length;
      };
      response.on("drain", more);
      return more();
    }
    const { pathname, search } = new URL(request.url, "http://localhost");
    const [, , kind, id, last] = pathname.split("/");
    if (kind === "policies" && search === "?form=bytes" && id in bytes) return send(200, "application/octet-stream", bytes[id]);
    if (kind === "policies") return id in policies ? send(200, "application/json", policies[id]) : problem(404, "policy_unknown");
    if (!(id in surveys)) return problem(404, "survey_unknown");
    if (last !== "reports") return send(200, "application/json", JSON.stringify(surveys[id]));
    const parsed = request.headers["content-type"] === "application/json" ? JSON.parse(body) : null;
    const ids = parsed === null ? binaryIds(body) : (parsed.reports ?? [parsed]).map((report) => report.id);
    curator.attempts.push(ids);
    if (body.length > curator.largest) return problem(413, "body_too_large");
    const fault = curator.faults.shift();
    if (fault === "busy") return send(503, "application/problem+json", JSON.stringify({ code: "unavailable" }), { "retry-after": "0" });
    if (fault === "portal") return send(200, "text/html", "<p>Welcome to our network");
    if (fault && fault !== "lose") return problem(fault.status, fault.code);
    for (const one of ids) curator.stored.set(one, (curator.stored.get(one) ?? 0) + 1);
    if (fault === "lose") return request.socket.destroy();
    return send(202, "application/json", JSON.stringify({ accepted: ids.length }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  curator.base = `http://127.0.0.1:${server.address().port}`;
  curator.stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return curator;
}

function binaryIds(body) {
  const count = body.readUInt32BE(34);
  const each = (body.length - 38) / count;
  return Array.from({ length: count }, (_, i) => body.subarray(38 + i * each, 54 + i * each).toString("hex"));
}
