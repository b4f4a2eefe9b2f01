// Tools that answer at once, with every kind of content.
import { fromJsonSchema } from './sdk.mjs';

export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

export const text = (words) => ({ content: [{ type: 'text', text: words }] });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };

const RICH_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' }, address: { $ref: '#/$defs/address' }, contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' }, email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const fixed = {
  test_simple_text: text('This is a simple text response for testing.'),
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] },
  test_embedded_resource: {
    content: [{ type: 'resource', resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' } }],
  },
  test_multiple_content_types: {
    content: [
      { type: 'text', text: 'Multiple content types test:' }, image,
      { type: 'resource', resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' } },
    ],
  },
  test_error_handling: { ...text('This tool intentionally returns an error for testing'), isError: true },
};

export function addContent(server) {
  for (const [name, result] of Object.entries(fixed)) server.registerTool(name, { description: `Answers always the same (${name})` }, async () => result);
  server.registerTool('json_schema_2020_12_tool', { description: 'Tool with JSON Schema 2020-12 features', inputSchema: fromJsonSchema(RICH_SCHEMA) },
    async (input) => text(JSON.stringify(input)));
  server.registerTool('test_header_mirror', {
    description: 'Its region travels in a header, too',
    inputSchema: fromJsonSchema({ type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } }, required: ['region'] }),
  }, async ({ region }) => text(region));
  server.registerTool('structured', {
    description: 'Adds two numbers and says so in structured content',
    inputSchema: fromJsonSchema({ type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }),
    outputSchema: fromJsonSchema({ type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }),
  }, async ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }));
  server.registerTool('meta', { description: 'Says which metadata the call carried' }, async (ctx) => {
    const { progressToken, ...rest } = ctx.mcpReq._meta ?? {};
    return { ...text(JSON.stringify({ ...rest, hasToken: progressToken !== undefined })), _meta: { 'example.org/answer': { nested: [1, 2] } } };
  });
}
