// The fixture over HTTP, on a free port of the loopback.   node http.mjs [both|legacy|modern]
// Prints its address, one line.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { makeServer } from './fixture.mjs';
import { WebStandardStreamableHTTPServerTransport, createMcpHandler, isLegacyRequest, load } from './sdk.mjs';

const { localhostHostValidation, localhostOriginValidation, toNodeHandler } = await load('node/dist/index.mjs');

const era = process.argv[2] ?? 'both';
const sessions = new Map();
const modern = createMcpHandler(() => makeServer(modern.notify), { legacy: 'reject' });

const refuse = (status, code, message) => Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });

async function openSession() {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => { sessions.set(id, transport); },
    onsessionclosed: (id) => { sessions.delete(id); },
  });
  await makeServer().connect(transport);
  return transport;
}

async function serveSession(request) {
  const id = request.headers.get('mcp-session-id');
  if (id !== null && !sessions.has(id)) return refuse(404, -32001, 'Session not found');
  return (sessions.get(id) ?? await openSession()).handleRequest(request);
}

async function serve(request) {
  const legacy = era === 'legacy' || (era === 'both' && await isLegacyRequest(request));
  return legacy ? serveSession(request) : modern.fetch(request);
}

const checks = [localhostHostValidation(), localhostOriginValidation()];
const handle = toNodeHandler({ fetch: serve });
const server = createServer((req, res) => {
  if (checks.every((check) => check(req, res))) void handle(req, res);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
