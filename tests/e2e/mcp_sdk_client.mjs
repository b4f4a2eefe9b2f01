// The public SDK client of the session era, through everything that a server can offer. Prints one
// JSON object of what it saw; two runs, with and without the gate, must be equal.
//
//   MCP_MODULES=node_modules node mcp_sdk_client.mjs COMMAND ARGS...
//   MCP_MODULES=node_modules MCP_TOKEN=... node mcp_sdk_client.mjs http://...
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (path) =>
  import(pathToFileURL(join(process.env.MCP_MODULES, '@modelcontextprotocol/sdk/dist/esm', path)).href);
const { Client } = await load('client/index.js');
const { StdioClientTransport } = await load('client/stdio.js');
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');
const types = await load('types.js');

const seen = { asked: [], logged: 0, progress: [] };
const client = new Client(
  { name: 'sdk', version: '1' },
  { capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: {} } });
client.setRequestHandler(types.ListRootsRequestSchema, () => {
  seen.asked.push('roots/list');
  return { roots: [{ uri: 'file:///r', name: 'r' }] };
});
client.setRequestHandler(types.CreateMessageRequestSchema, (request) => {
  seen.asked.push('sampling/createMessage');
  return { model: 'm', role: 'assistant', content: { type: 'text', text: `you said ${request.params.messages.length}` } };
});
client.setRequestHandler(types.ElicitRequestSchema, () => {
  seen.asked.push('elicitation/create');
  return { action: 'decline' };
});
client.setNotificationHandler(types.LoggingMessageNotificationSchema, () => { seen.logged += 1; });

const [command, ...args] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${process.env.MCP_TOKEN}` };
await client.connect(command.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers } })
  : new StdioClientTransport({ command, args, stderr: 'ignore' }));
seen.server = client.getServerVersion();
seen.capabilities = client.getServerCapabilities();
await new Promise((resolve) => setTimeout(resolve, 500));

const tools = (await client.listTools()).tools;
seen.tools = tools.map((tool) => tool.name).sort();
const has = (name) => seen.tools.includes(name);
const call = async (name, args, options) =>
  client.callTool({ name, arguments: args }, undefined, options).catch((error) => ({ failed: error.code, message: error.message }));

seen.echo = await call('echo', { message: 'hi' });
seen.sum = await call(has('get-sum') ? 'get-sum' : 'add', { a: 2, b: 3 });
seen.unheard = (await call('echo', {})).isError ?? 'no error';
const long = has('trigger-long-running-operation') ? 'trigger-long-running-operation' : 'longRunningOperation';
seen.long = await call(long, { duration: 0.4, steps: 4 }, { onprogress: (p) => seen.progress.push(p.progress) });
const sampling = has('trigger-sampling-request') ? 'trigger-sampling-request' : 'sampleLLM';
seen.sampled = (await call(sampling, { prompt: 'p', maxTokens: 10 })).content?.[0]?.type;
if (has('trigger-elicitation-request')) seen.elicited = (await call('trigger-elicitation-request', {})).content?.[0]?.type;

const abort = new AbortController();
setTimeout(() => abort.abort('enough'), 150);
seen.aborted = await client
  .callTool({ name: long, arguments: { duration: 20, steps: 4 } }, undefined, { signal: abort.signal })
  .then(() => 'answered', () => 'aborted');

seen.resources = (await client.listResources()).resources.length;
const first = (await client.listResources()).resources[0];
seen.resource = (await client.readResource({ uri: first.uri })).contents.length;
seen.templates = (await client.listResourceTemplates()).resourceTemplates.length;
const prompts = (await client.listPrompts()).prompts;
seen.prompts = prompts.map((prompt) => prompt.name).sort();
const plain = prompts.find((prompt) => !(prompt.arguments ?? []).some((argument) => argument.required));
seen.prompt = (await client.getPrompt({ name: plain.name })).messages;
seen.level = await client.setLoggingLevel('error');
seen.pong = await client.ping();
seen.asked.sort();
delete seen.logged;
// The client drops a call with its answer: messages that arrive beside the answer are sometimes lost.
seen.progress = seen.progress.slice(0, 3);
await client.close();
console.log(JSON.stringify(seen));
process.exit(0);
