// The public SDK client calls one tool, as its user would, and prints the result or the error.
//
//   MCP_MODULES=node_modules MCP_CALL='{"name":..,"arguments":..}' node mcp_output_schema_client.mjs COMMAND ARGS...
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (...path) => import(pathToFileURL(join(process.env.MCP_MODULES, '@modelcontextprotocol', ...path)).href);
const { Client } = await load('sdk/dist/esm/client/index.js');
const { StdioClientTransport } = await load('sdk/dist/esm/client/stdio.js');

const client = new Client({ name: 'sdk', version: '1' }, { capabilities: {} });
const [command, ...args] = process.argv.slice(2);
await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore', env: process.env }));
const asked = JSON.parse(process.env.MCP_CALL);
const tool = (await client.listTools()).tools.find((one) => one.name === asked.name);
const said = await client.callTool(asked).catch((error) => ({ failed: error.message }));
await client.close();
console.log(JSON.stringify({ schema: tool.outputSchema !== undefined, said }));
process.exit(0);
