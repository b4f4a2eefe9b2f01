// Runs the official `openai` client through a list of cases. Prints one JSON list of what it saw.
//
//   MODEL_MODULES=node_modules MODEL_KEY=... node model_openai_client.mjs http://... < cases.json
//
// A case is {how, ask, more}: the function to call, the message, and members of the request.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (path) => import(pathToFileURL(join(process.env.MODEL_MODULES, path)).href);
const { OpenAI } = await load('openai/index.mjs');
const { zodResponseFormat, zodTextFormat } = await load('openai/helpers/zod.mjs');
const { z } = await load('zod/index.js');

const client = new OpenAI({ baseURL: process.argv[2] + '/v1', apiKey: process.env.MODEL_KEY, timeout: 60000 });
const Animal = z.object({ name: z.string(), legs: z.number(), note: z.string() });
const chat = ({ ask, more }) => ({ model: 'gpt-5-mini', messages: [{ role: 'user', content: ask }], ...more });
const responses = ({ ask, more }) => ({ model: 'gpt-5.4', input: [{ role: 'user', content: ask }], ...more });
const all = async (stream) => {
  const seen = [];
  for await (const event of await stream) seen.push(event);
  return seen;
};

const ways = {
  chat: (one) => client.chat.completions.create(chat(one)),
  chat_stream: (one) => all(client.chat.completions.create({ ...chat(one), stream: true })),
  chat_helper: (one) => client.chat.completions.stream(chat(one)).finalChatCompletion(),
  chat_parse: (one) => client.chat.completions.parse({ ...chat(one), response_format: zodResponseFormat(Animal, 'animal') }),
  chat_run: async (one) => {
    const ran = [];
    const runner = client.chat.completions.runTools({ ...chat(one), stream: true, tools: [{ type: 'function', function: {
      name: 'read_file', description: 'reads', parameters: { type: 'object', properties: {} }, parse: JSON.parse,
      function: (input) => { ran.push(input); return 'contents'; } } }] });
    return { last: await runner.finalContent(), ran };
  },
  responses: (one) => client.responses.create(responses(one)),
  responses_stream: (one) => all(client.responses.create({ ...responses(one), stream: true })),
  responses_helper: (one) => client.responses.stream(responses(one)).finalResponse(),
  responses_parse: (one) => client.responses.parse({ ...responses(one), text: { format: zodTextFormat(Animal, 'animal') } }),
  models: async () => (await client.models.list()).data.map((model) => model.id),
  embeddings: (one) => client.embeddings.create({ model: 'text-embedding-3-small', input: one.ask, encoding_format: 'float' }),
};

const seen = [];
for (const one of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    seen.push({ value: await ways[one.how](one) });
  } catch (error) {
    seen.push({ error: { name: error.constructor.name, status: error.status, code: error.code, type: error.type, param: error.param, message: error.message } });
  }
}
process.stdout.write(JSON.stringify(seen));
