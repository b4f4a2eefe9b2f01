// The public client of both eras, through everything that the fixture of the conformance suite has. Prints one JSON
// object of what it saw; two runs, with and without the gate, must be equal.
//
//   MCP_MODULES=node_modules [MCP_TOKEN=...] node mcp_features_client.mjs legacy|modern COMMAND ARGS... | http://...
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';

const load = (path) =>
  import(pathToFileURL(join(process.env.MCP_MODULES, '@modelcontextprotocol/client/dist', path)).href);
const { Client, StreamableHTTPClientTransport } = await load('index.mjs');
const { StdioClientTransport } = await load('stdio.mjs');

const [era, command, ...args] = process.argv.slice(2);
const modern = era === 'modern';
const seen = { asked: [], told: [] };
const client = new Client({ name: 'features', version: '1' }, {
  capabilities: { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } },
  versionNegotiation: { mode: modern ? { pin: '2026-07-28' } : 'legacy' },
});
client.setRequestHandler('roots/list', () => {
  seen.asked.push('roots/list');
  return { roots: [{ uri: 'file:///r', name: 'r' }] };
});
client.setRequestHandler('sampling/createMessage', ({ params }) => {
  seen.asked.push(`sampling/createMessage ${params.messages[0].content.text}`);
  return { model: 'm', role: 'assistant', content: { type: 'text', text: 'Paris' }, stopReason: 'endTurn' };
});
const content = { username: 'ann', email: 'ann@example.org', name: 'Ann', color: 'blue', context: 'tests', ok: true };
client.setRequestHandler('elicitation/create', ({ params }) => {
  seen.asked.push(`elicitation/create ${params.message.replace(/^\[from server `[^`]+`\] /, '')}`);
  const known = Object.keys(params.requestedSchema?.properties ?? {}).filter((name) => name in content);
  return { action: 'accept', content: Object.fromEntries(known.map((name) => [name, content[name]])) };
});
for (const method of ['tools/list_changed', 'prompts/list_changed', 'resources/updated', 'message']) {
  client.setNotificationHandler(`notifications/${method}`, ({ params }) => {
    seen.told.push([method, params?.uri ?? params?.data ?? null]);
  });
}
const told = async (method, longest = 10_000) => {
  for (let left = longest; left > 0 && !seen.told.some(([name]) => name === method); left -= 20) await pause(20);
};

const headers = { Authorization: `Bearer ${process.env.MCP_TOKEN}` };
const transport = command.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers } })
  : new StdioClientTransport({ command, args, stderr: process.env.MCP_LOUD ? 'inherit' : 'ignore', env: process.env });
await client.connect(transport);
seen.opened = {
  era: client.getProtocolEra(), version: client.getNegotiatedProtocolVersion(), server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(), instructions: client.getInstructions(),
};

// Returns an answer, or its failure in words.
const look = async (what, work) => {
  seen[what] = await work().catch((error) => ({ failed: error.name, code: error.code ?? null, message: String(error.message), data: error.data ?? null }));
};
const call = (name, args = {}, options) => client.callTool({ name, arguments: args }, options);

await look('tools', () => client.listTools());
await look('text', () => call('test_simple_text'));
await look('kinds', () => call('test_multiple_content_types'));
await look('structured', () => call('structured', { a: 2, b: 3 }));
await look('tool error', () => call('test_error_handling'));
await look('bad arguments', () => call('structured', { a: 'two' }));
await look('elicitation', () => call('test_elicitation', { message: 'Who are you?' }));
await look('sampling', () => call('test_sampling', { prompt: 'What is the capital of France?' }));
await look('roots', () => call('test_input_required_result_list_roots'));
await look('several', () => call('test_input_required_result_multiple_inputs'));
await look('rounds', () => call('test_input_required_result_multi_round'));
await look('state', () => call('test_input_required_result_request_state'));
await look('asking prompt', () => client.getPrompt({ name: 'test_input_required_result_prompt' }));
seen.progress = [];
await look('progressed', () => call('test_tool_with_progress', {}, { onprogress: (step) => seen.progress.push(step.progress) }));
seen.progress = seen.progress.slice(0, 2);  // the client drops a call with its answer, and with it messages that arrive beside the answer

if (!modern) await look('level', () => client.setLoggingLevel('info'));
await look('logged', () => client.callTool({ name: 'test_tool_with_logging', arguments: {}, ...(modern ? { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } } : {}) }));
await pause(200);

await look('resources', () => client.listResources());
await look('templates', () => client.listResourceTemplates());
for (const uri of ['test://static-text', 'test://static-binary', 'test://template/7/data', 'test://nothing']) {
  await look(uri, () => client.readResource({ uri }));
}
await look('prompts', () => client.listPrompts());
await look('prompt', () => client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'x', arg2: 'y' } }));
await look('no prompt', () => client.getPrompt({ name: 'nothing' }));
await look('completion', () => client.complete({
  ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'par' } }));
if (!modern) await look('ping', () => client.ping());

await call('count_cancelled');
const abort = new AbortController();
const slow = call('slow', {}, { signal: abort.signal }).then(() => 'answered', (error) => error.name);
await pause(300);
abort.abort('enough');
seen.aborted = await slow;
for (let i = 0; i < 100 && seen.cancelled !== '1'; i += 1) {
  seen.cancelled = (await call('count_cancelled')).content[0].text;
  await pause(20);
}

let listening;
if (modern) {
  listening = await client.listen({ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['test://watched-resource'] });
  seen.granted = listening.honoredFilter;
} else {
  await look('subscribed', () => client.subscribeResource({ uri: 'test://watched-resource' }));
}
for (const [tool, method] of [['test_trigger_tool_change', 'tools/list_changed'], ['test_trigger_prompt_change', 'prompts/list_changed'],
  ['touch_watched_resource', 'resources/updated']]) {
  await call(tool);
  await told(method);
}
if (modern) await listening.close();
else await look('unsubscribed', () => client.unsubscribeResource({ uri: 'test://watched-resource' }));
await client.close();
console.log(JSON.stringify(seen));
process.exit(0);
