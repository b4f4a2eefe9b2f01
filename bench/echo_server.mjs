// The smallest tool server: one tool, `echo`, on standard streams or over HTTP. It makes the overhead of a gate easy to see.
//
//   node echo_server.mjs            standard streams
//   node echo_server.mjs http       a free port of the loopback; prints its address
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const tool = { name: 'echo', description: 'Says it again', inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] } };

function answer({ id, method, params }) {
  if (id === undefined) return undefined;
  const say = (result) => ({ jsonrpc: '2.0', id, result });
  switch (method) {
    case 'initialize':
      return say({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } });
    case 'tools/list': return say({ tools: [tool] });
    case 'tools/call': return say({ content: [{ type: 'text', text: params.arguments.message }] });
    case 'ping': return say({});
    default: return { jsonrpc: '2.0', id, error: { code: -32601, message: `Method not found: ${method}` } };
  }
}

function serveStreams() {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const said = answer(JSON.parse(line));
    if (said) process.stdout.write(`${JSON.stringify(said)}\n`);
  }).on('close', () => process.exit(0));
}

function serveHttp() {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    let body = '';
    request.setEncoding('utf8').on('data', (part) => { body += part; }).on('end', () => {
      const said = answer(JSON.parse(body));
      if (!said) return response.writeHead(202).end();
      const text = JSON.stringify(said);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}

if (process.argv[2] === 'http') serveHttp();
else serveStreams();
