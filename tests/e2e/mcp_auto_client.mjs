// The public client of both eras: requests the new era first, and prints the agreed one.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (path) =>
  import(pathToFileURL(join(process.env.MCP_MODULES, '@modelcontextprotocol/client/dist', path)).href);
const { Client, StreamableHTTPClientTransport } = await load('index.mjs');
const { StdioClientTransport } = await load('stdio.mjs');

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'auto', version: '1' }, { capabilities: {}, versionNegotiation: { mode: 'auto' } });
const headers = { Authorization: `Bearer ${process.env.MCP_TOKEN}` };
await client.connect(command.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers } })
  : new StdioClientTransport({ command, args, stderr: 'ignore' }));
const tools = (await client.listTools()).tools.length;
const echo = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
const version = client.getNegotiatedProtocolVersion?.() ?? client.getProtocolVersion?.() ?? null;
await client.close();
console.log(JSON.stringify({ version, tools, echo: echo.content[0].text }));
process.exit(0);
