// The public SDK client of the session era with tasks on both sides: tasks of the server, and questions that the client
// answers as its own tasks. Prints one JSON object of what it saw; two runs, with and without the gate, must be equal.
//
//   MCP_MODULES=node_modules [MCP_TOKEN=...] node mcp_tasks_client.mjs COMMAND ARGS... | http://...
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (path) =>
  import(pathToFileURL(join(process.env.MCP_MODULES, '@modelcontextprotocol/sdk/dist/esm', path)).href);
const { Client } = await load('client/index.js');
const { StdioClientTransport } = await load('client/stdio.js');
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');
const { InMemoryTaskStore } = await load('experimental/tasks/stores/in-memory.js');
const types = await load('types.js');

const seen = { asked: [] };
const client = new Client({ name: 'tasks', version: '1' }, {
  capabilities: {
    sampling: {}, elicitation: { form: {}, url: {} },
    tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
  },
  taskStore: new InMemoryTaskStore(),
});
// A question with `task` is answered with a task, and the task's result follows later.
const answering = (method, answer) => async (request, extra) => {
  seen.asked.push(method);
  if (!request.params.task) return answer;
  const task = await extra.taskStore.createTask({ ttl: request.params.task.ttl, pollInterval: 200 });
  setTimeout(() => extra.taskStore.storeTaskResult(task.taskId, 'completed', answer), 300);
  return { task };
};
client.setRequestHandler(types.CreateMessageRequestSchema, answering('sampling/createMessage',
  { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } }));
client.setRequestHandler(types.ElicitRequestSchema, answering('elicitation/create',
  { action: 'accept', content: { interpretation: 'technical', name: 'Ann', check: true } }));

const [command, ...args] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${process.env.MCP_TOKEN}` };
await client.connect(command.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers } })
  : new StdioClientTransport({ command, args, stderr: process.env.MCP_LOUD ? 'inherit' : 'ignore', env: process.env }));
seen.capabilities = client.getServerCapabilities();
await new Promise((resolve) => setTimeout(resolve, 800));
const { tools } = await client.listTools();
seen.tools = tools.map((tool) => [tool.name, tool.execution?.taskSupport ?? null]).sort();

const tasks = client.experimental.tasks;
const failed = (error) => ({ failed: error.code ?? error.name, message: String(error.message) });
const plain = (text) => JSON.parse(JSON.stringify(text ?? null).replace(/[0-9a-f]{32}|[0-9a-f-]{36}/g, 'ID').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'));
async function follow(name, arguments_) {
  const steps = [];
  let id;
  for await (const step of tasks.callToolStream({ name, arguments: arguments_ }, types.CallToolResultSchema, { task: { ttl: 60000 } })) {
    if (step.type === 'taskCreated') id = step.task.taskId;
    const line = step.type === 'taskStatus' ? ['status', step.task.status] : step.type === 'taskCreated' ? ['created', step.task.status]
      : step.type === 'result' ? ['result', plain(step.result)] : ['error', plain(step.error?.message)];
    if (JSON.stringify(line) !== JSON.stringify(steps.at(-1))) steps.push(line);
  }
  return { id, steps };
}
const done = await follow('simulate-research-query', { topic: 'gates', ambiguous: false });
seen.research = done.steps;
seen.kept = plain(await tasks.getTask(done.id).catch(failed));
seen.again = plain(await tasks.getTaskResult(done.id, types.CallToolResultSchema).catch(failed)).content?.length ?? 'failed';
seen.ambiguous = (await follow('simulate-research-query', { topic: 'gates', ambiguous: true })).steps;

const begun = client.experimental.tasks.callToolStream({ name: 'simulate-research-query', arguments: { topic: 'x' } }, types.CallToolResultSchema, { task: { ttl: 60000 } });
const cancelled = (await begun.next()).value.task.taskId;
seen.cancelled = plain(await tasks.cancelTask(cancelled).catch(failed));
seen.twice = plain(await tasks.cancelTask(cancelled).catch(failed));
seen.listed = (await tasks.listTasks().catch(failed)).tasks?.map((task) => task.status).sort() ?? 'failed';
seen.nothing = plain(await tasks.getTask('no-such-task').catch(failed));

const call = (name, arguments_ = {}) => client.callTool({ name, arguments: arguments_ }).then(plain, failed);
if (tools.some((tool) => tool.name === 'trigger-sampling-request-async')) seen.sampled = await call('trigger-sampling-request-async', { prompt: 'p', maxTokens: 9 });
if (tools.some((tool) => tool.name === 'trigger-elicitation-request-async')) seen.elicited = await call('trigger-elicitation-request-async');
seen.plain = await call('simulate-research-query', { topic: 'without a task' });
await client.close();
console.log(JSON.stringify(seen));
process.exit(0);
