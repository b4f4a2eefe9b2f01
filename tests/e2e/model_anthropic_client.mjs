// Runs the official `@anthropic-ai/sdk` client through a list of cases; see model_openai_client.mjs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (path) => import(pathToFileURL(join(process.env.MODEL_MODULES, path)).href);
const { Anthropic } = await load('@anthropic-ai/sdk/index.mjs');

const client = new Anthropic({ baseURL: process.argv[2], apiKey: process.env.MODEL_KEY, timeout: 60000 });
const request = ({ ask, more }) => ({ model: 'claude-opus-5', max_tokens: 1024, messages: [{ role: 'user', content: ask }], ...more });
const all = async (stream) => {
  const seen = [];
  for await (const event of await stream) seen.push(event);
  return seen;
};

const ways = {
  messages: (one) => client.messages.create(request(one)),
  messages_stream: (one) => all(client.messages.create({ ...request(one), stream: true })),
  messages_helper: (one) => client.messages.stream(request(one)).finalMessage(),
  beta: (one) => client.beta.messages.create({ ...request(one), betas: ['interleaved-thinking-2025-05-14'] }),
  beta_helper: (one) => client.beta.messages.stream(request(one)).finalMessage(),
  runner: async (one) => {
    const ran = [];
    const last = await client.beta.messages.toolRunner({ ...request(one), tools: [{
      name: 'read_file', description: 'reads', input_schema: { type: 'object', properties: {} }, parse: (input) => input,
      run: (input) => { ran.push(input); return 'contents'; } }] });
    return { last, ran };
  },
  count: (one) => client.messages.countTokens({ model: 'claude-opus-5', messages: [{ role: 'user', content: one.ask }] }),
  models: async () => (await client.models.list()).data.map((model) => model.id),
};

const seen = [];
for (const one of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    seen.push({ value: await ways[one.how](one) });
  } catch (error) {
    seen.push({ error: { name: error.constructor.name, status: error.status, type: error.type, message: error.message } });
  }
}
process.stdout.write(JSON.stringify(seen));
