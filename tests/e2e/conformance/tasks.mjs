// A stateless server of the tasks extension, with everything that the conformance suite requests by name. The public SDK has
// no such server, so this one is written by hand. node tasks.mjs [stdio] Over HTTP it prints its address, one line.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const EXTENSION = 'io.modelcontextprotocol/tasks';
const tasks = new Map();
const listeners = new Map();  // by id of the request: the wanted notifications, and how to send them

class Refusal extends Error {
  constructor(code, message, data, status = 200) {
    super(message);
    Object.assign(this, { code, data, status });
  }
}
const text = (said, more = {}) => ({ resultType: 'complete', content: [{ type: 'text', text: said }], ...more });
const question = (message, name) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties: { [name]: { type: name === 'name' ? 'string' : 'boolean' } }, required: [name] } },
});

function shown(task) {
  const { timer, resume, ...seen } = task;
  return seen;
}
function change(task, facts) {
  if (['completed', 'failed', 'cancelled'].includes(task.status)) return;
  Object.assign(task, facts, { lastUpdatedAt: new Date().toISOString() });
  if (task.status !== 'input_required') delete task.inputRequests;
  for (const [id, { wanted, tell }] of listeners) {
    if (wanted.includes(task.taskId)) tell({ method: 'notifications/tasks', params: { _meta: { [`${META}subscriptionId`]: id }, ...shown(task) } });
  }
}
function begin(work) {
  const now = new Date().toISOString();
  const task = { taskId: randomUUID(), status: 'working', createdAt: now, lastUpdatedAt: now, ttlMs: 60_000, pollIntervalMs: 100 };
  tasks.set(task.taskId, task);
  work(task);
  return { ...shown(task), status: 'working', inputRequests: undefined, resultType: 'task' };
}
const after = (task, seconds, facts) => { task.timer = setTimeout(() => change(task, facts()), seconds * 1000); };
function park(task, inputRequests, finish) {
  const answers = {};
  change(task, { status: 'input_required', inputRequests });
  task.resume = (responses) => {
    for (const [key, answer] of Object.entries(responses)) {
      if (!task.inputRequests?.[key]) continue;
      answers[key] = answer;
      delete task.inputRequests[key];
    }
    if (task.status === 'input_required' && Object.keys(task.inputRequests).length === 0) change(task, { status: 'completed', result: finish(answers) });
  };
}

const TOOLS = {
  greet: { properties: { name: { type: 'string' } }, run: ({ name }) => text(`Hello, ${name}!`) },
  slow_compute: {
    properties: { seconds: { type: 'number' }, label: { type: 'string' } }, asTask: true,
    run: ({ seconds = 0 }, { mayTask }) => {
      const result = text(`computed for ${seconds} s`);
      return mayTask ? begin((task) => after(task, seconds, () => ({ status: 'completed', result }))) : result;
    },
  },
  failing_job: { required: true, run: () => begin((task) => after(task, 1, () => ({ status: 'completed', result: text('it failed', { isError: true }) }))) },
  protocol_error_job: { required: true, run: () => begin((task) => after(task, 0.2, () => ({ status: 'failed', error: { code: -32603, message: 'a crash' } }))) },
  confirm_delete: {
    required: true, run: () => begin((task) => park(task, { [`ask-${task.taskId}`]: question('Delete it?', 'confirm') },
      (answers) => text(`answered: ${JSON.stringify(Object.values(answers)[0])}`))),
  },
  multi_input: {
    required: true, run: () => begin((task) => park(task, { one: question('The first?', 'confirm'), two: question('The second?', 'confirm') },
      (answers) => text(`answered: ${Object.keys(answers).sort()}`))),
  },
  test_tool_with_task: {
    required: true, run: (_, { responses }) => {
      const name = responses?.user_name?.content?.name;
      if (!name) return { resultType: 'input_required', inputRequests: { user_name: question('Who are you?', 'name') }, requestState: 'asked' };
      return begin((task) => after(task, 0.2, () => ({ status: 'completed', result: text(`Hello, ${name}!`) })));
    },
  },
};

function need(meta) {
  if (meta[`${META}clientCapabilities`]?.extensions?.[EXTENSION]) return;
  throw new Refusal(-32021, 'the tasks extension is needed', { requiredCapabilities: { extensions: { [EXTENSION]: {} } } }, 400);
}
function named(params) {
  const task = tasks.get(params.taskId);
  if (!task) throw new Refusal(-32602, 'there is no such task');
  return task;
}
const methods = {
  'server/discover': () => ({
    resultType: 'complete', supportedVersions: [VERSION], capabilities: { tools: {}, extensions: { [EXTENSION]: {} } }, ttlMs: 0, cacheScope: 'private' }),
  'tools/list': () => ({
    resultType: 'complete', ttlMs: 0, cacheScope: 'private',
    tools: Object.entries(TOOLS).map(([name, { properties = {} }]) => ({ name, description: name, inputSchema: { type: 'object', properties } })) }),
  'tools/call': (params, meta) => {
    const tool = TOOLS[params.name];
    if (!tool) throw new Refusal(-32602, `there is no tool ${params.name}`);
    if (tool.required) need(meta);
    const mayTask = meta[`${META}clientCapabilities`]?.extensions?.[EXTENSION] !== undefined;
    return tool.run(params.arguments ?? {}, { mayTask, responses: params.inputResponses });
  },
  'tasks/get': (params) => ({ ...shown(named(params)), resultType: 'complete' }),
  'tasks/update': (params) => {
    named(params).resume?.(params.inputResponses ?? {});
    return { resultType: 'complete' };
  },
  'tasks/cancel': (params) => {
    const task = named(params);
    clearTimeout(task.timer);
    change(task, { status: 'cancelled' });
    return { resultType: 'complete' };
  },
};

// Returns the response to a request, or nothing for a subscription, which stays open and sends through `tell`.
function hear({ id, method, params = {} }, tell) {
  const meta = params._meta ?? {};
  try {
    if (meta[`${META}protocolVersion`] === undefined || !meta[`${META}clientCapabilities`]) throw new Refusal(-32602, '`_meta` is not as it must be', undefined, 400);
    if (meta[`${META}protocolVersion`] !== VERSION) throw new Refusal(-32022, 'unsupported', { supported: [VERSION], requested: meta[`${META}protocolVersion`] }, 400);
    if (method === 'subscriptions/listen') {
      const wanted = params.notifications?.taskIds ?? [];
      listeners.set(id, { wanted, tell });
      tell({ method: 'notifications/subscriptions/acknowledged', params: { _meta: { [`${META}subscriptionId`]: id }, notifications: wanted.length ? { taskIds: wanted } : {} } });
      return undefined;
    }
    if (!methods[method]) throw new Refusal(-32601, 'Method not found', undefined, 404);
    if (method.startsWith('tasks/')) need(meta);
    return { id, result: methods[method](params, meta) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { id, status: error.status, error: { code: error.code, message: error.message, ...(error.data ? { data: error.data } : {}) } };
  }
}

function mismatch(headers, { method, params = {} }) {
  const name = { 'tools/call': params.name, 'tasks/get': params.taskId, 'tasks/update': params.taskId, 'tasks/cancel': params.taskId }[method];
  const wrong = headers['mcp-method'] !== method || (name !== undefined && headers['mcp-name'] !== name);
  return wrong || headers['mcp-protocol-version'] === undefined;
}
async function serve(req, res) {
  let body = '';
  for await (const piece of req) body += piece;
  const answer = (status, message) => res.writeHead(status, { 'content-type': 'application/json' }).end(message && JSON.stringify({ jsonrpc: '2.0', ...message }));
  if (req.method !== 'POST') return answer(405);
  const message = JSON.parse(body);
  if (message.id === undefined) return answer(202);
  if (message.params?._meta?.[`${META}protocolVersion`] && mismatch(req.headers, message)) {
    return answer(400, { id: message.id, error: { code: -32020, message: 'headers and body differ' } });
  }
  const tell = (said) => {
    if (!res.headersSent) res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...said })}\n\n`);
  };
  res.on('close', () => listeners.delete(message.id));
  const { status = 200, ...said } = hear(message, tell) ?? {};
  if (said.id !== undefined) answer(status, said);
}

if (process.argv[2] === 'stdio') {
  const tell = (said) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...said })}\n`);
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === 'notifications/cancelled') listeners.delete(message.params.requestId);
    if (message.id === undefined) return;
    const { status, ...said } = hear(message, tell) ?? {};
    if (said.id !== undefined) tell(said);
  }).on('close', () => process.exit(0));
} else {
  const server = createServer((req, res) => void serve(req, res));
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
