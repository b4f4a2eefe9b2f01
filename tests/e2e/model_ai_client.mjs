// Runs the `ai` package with its providers through a list of cases; see model_openai_client.mjs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (path) => import(pathToFileURL(join(process.env.MODEL_MODULES, path)).href);
const { generateText, streamText, jsonSchema, tool } = await load('ai/dist/index.js');
const { createOpenAI } = await load('@ai-sdk/openai/dist/index.js');
const { createAnthropic } = await load('@ai-sdk/anthropic/dist/index.js');
const { createOpenAICompatible } = await load('@ai-sdk/openai-compatible/dist/index.js');

const settings = { baseURL: process.argv[2] + '/v1', apiKey: process.env.MODEL_KEY };
const models = {
  responses: () => createOpenAI(settings).responses('gpt-5.4'),
  chat: () => createOpenAI(settings).chat('gpt-5-mini'),
  compatible: () => createOpenAICompatible({ ...settings, name: 'local' })('gpt-5-mini'),
  messages: () => createAnthropic(settings)('claude-opus-5'),
};
const tools = Object.fromEntries(['read_file', 'write_file', 'now'].map((name) =>
  [name, tool({ description: name, inputSchema: jsonSchema({ type: 'object', properties: {} }) })]));
const calls = (list) => list.map((call) => ({ id: call.toolCallId, name: call.toolName, input: call.input, invalid: call.invalid }));
const usage = (one) => ({ input: one.inputTokens, output: one.outputTokens });

const ways = {
  generate: async (request) => {
    const got = await generateText(request);
    return { text: got.text, reasoning: got.reasoningText, calls: calls(got.toolCalls), finish: got.finishReason, usage: usage(got.usage),
             sources: got.sources.map((source) => source.url) };
  },
  stream: async (request) => {
    const parts = [];
    const got = streamText({ ...request, onError: () => {} });
    for await (const part of got.fullStream) {
      if (part.type === 'text-delta' || part.type === 'reasoning-delta') parts.push([part.type, part.text ?? part.delta]);
      else if (part.type === 'tool-call') parts.push([part.type, part.toolName, part.input]);
      else if (part.type === 'error') throw part.error;
      else if (part.type === 'finish') parts.push([part.type, part.finishReason]);
    }
    return { parts, text: await got.text, calls: calls(await got.toolCalls), finish: await got.finishReason, usage: usage(await got.usage) };
  },
};

const seen = [];
for (const { how, ask, more } of JSON.parse(readFileSync(0, 'utf8'))) {
  const [model, way] = how.split('_');
  try {
    seen.push({ value: await ways[way]({ model: models[model](), messages: [{ role: 'user', content: ask }], tools, ...more }) });
  } catch (error) {
    const last = error.lastError ?? error;
    seen.push({ error: { name: last.name, status: last.statusCode, retryable: last.isRetryable, message: last.message, data: last.data } });
  }
}
process.stdout.write(JSON.stringify(seen));
