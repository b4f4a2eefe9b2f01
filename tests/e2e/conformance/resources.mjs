// Resources, read in pages; a template; prompts; completions.
import { PNG } from './content.mjs';
import { askingPrompt } from './questions.mjs';
import { ProtocolError, ProtocolErrorCode, ResourceTemplate, fromJsonSchema } from './sdk.mjs';

const PAGE = 2;
const LISTED = [
  { uri: 'test://static-text', name: 'static-text', description: 'A text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', description: 'A picture', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched-resource', description: 'One to subscribe to', mimeType: 'text/plain' },
];
const contents = {
  'test://static-text': { text: 'This is the content of the static text resource.' },
  'test://static-binary': { blob: PNG },
  'test://watched-resource': { text: 'Watched.' },
};
const COMPLETIONS = ['paris', 'park', 'party'];

export function addResources(server) {
  for (const { uri, name, ...facts } of LISTED)
    server.registerResource(name, uri, facts, async () => ({ contents: [{ uri, mimeType: facts.mimeType, ...contents[uri] }] }));
  server.registerResource('template', new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'Data by id', mimeType: 'application/json' },
    async (uri, { id }) => ({
      contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
    }));
  server.server.setRequestHandler('resources/list', async ({ params }) => {
    const start = params?.cursor === undefined ? 0 : Number(params.cursor);
    if (!LISTED[start]) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `no such cursor: ${params.cursor}`);
    return { resources: LISTED.slice(start, start + PAGE), ...(LISTED[start + PAGE] ? { nextCursor: String(start + PAGE) } : {}) };
  });
  for (const method of ['resources/subscribe', 'resources/unsubscribe']) server.server.setRequestHandler(method, async () => ({}));
  server.server.setRequestHandler('completion/complete', async ({ params }) => {
    const values = COMPLETIONS.filter((word) => word.startsWith(params.argument.value));
    return { completion: { values, total: values.length, hasMore: false } };
  });
}

const user = (content) => ({ role: 'user', content });
const words = (text) => user({ type: 'text', text });
const strings = (...names) =>
  fromJsonSchema({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string', description: name }])), required: names });

export function addPrompts(server) {
  server.registerPrompt('test_simple_prompt', { description: 'A prompt without arguments' },
    async () => ({ messages: [words('This is a simple prompt for testing.')] }));
  server.registerPrompt('test_prompt_with_arguments', { description: 'A prompt with arguments', argsSchema: strings('arg1', 'arg2') },
    async ({ arg1, arg2 }) => ({ messages: [words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }));
  server.registerPrompt('test_prompt_with_embedded_resource', { description: 'A prompt with a resource', argsSchema: strings('resourceUri') },
    async ({ resourceUri }) => ({
      messages: [
        user({ type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } }),
        words('Please process the embedded resource above.'),
      ],
    }));
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with a picture' },
    async () => ({ messages: [user({ type: 'image', data: PNG, mimeType: 'image/png' }), words('Please analyze the image above.')] }));
  askingPrompt(server);
}
