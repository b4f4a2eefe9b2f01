// Tools that ask the client. Each is written once: without sessions its question is a result, with sessions the SDK turns
// it into a request and calls the tool again with the answer.
import { acceptedContent, createRequestStateCodec, fromJsonSchema, inputRequired, inputResponse } from './sdk.mjs';
import { text } from './content.mjs';

// A fixed key: several processes of the fixture may serve the rounds of one question.
export const states = createRequestStateCodec({ key: 'a key of tests, which guards nothing at all' });

const form = (message, properties, required = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } });
const sample = (words, maxTokens = 100) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens });
const said = (responses, key) => {
  const view = inputResponse(responses, key);
  return view.kind === 'sampling' ? view.result.content.text ?? JSON.stringify(view.result.content) : undefined;
};
const described = ({ action, content }) => `action=${action}, content=${JSON.stringify(content ?? {})}`;
const string = { type: 'string' };

// Asks with a form until there is any answer, then reports the answer.
function formTool(server, name, description, inputSchema, makeForm, say) {
  server.registerTool(name, { description, inputSchema: fromJsonSchema(inputSchema) }, async (input, ctx) => {
    const view = inputResponse(ctx.mcpReq.inputResponses, 'form');
    return view.kind === 'elicit' ? text(say(view)) : inputRequired({ inputRequests: { form: makeForm(input) } });
  });
}

const anything = { type: 'object', properties: {} };
const DEFAULTS = {
  name: { ...string, default: 'John Doe' }, age: { type: 'integer', default: 30 }, score: { type: 'number', default: 95.5 },
  status: { ...string, enum: ['active', 'inactive', 'pending'], default: 'active' }, verified: { type: 'boolean', default: true },
};
const options = ['option1', 'option2', 'option3'];
const titled = (word) => [1, 2, 3].map((n) => ({ const: `value${n}`, title: `${['First', 'Second', 'Third'][n - 1]} ${word}` }));
const ENUMS = {
  untitledSingle: { ...string, enum: options },
  titledSingle: { ...string, oneOf: titled('Option') },
  legacyEnum: { ...string, enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
  untitledMulti: { type: 'array', items: { ...string, enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};

function addForms(server) {
  formTool(server, 'test_elicitation', 'Asks the user', { type: 'object', properties: { message: string }, required: ['message'] },
    ({ message }) => form(message, { username: { ...string, description: "User's response" }, email: { ...string, description: "User's email address" } }),
    (view) => `User response: ${described(view)}`);
  formTool(server, 'test_elicitation_sep1034_defaults', 'Asks with default values', anything,
    () => form('Please review the defaults', DEFAULTS, []), (view) => `Elicitation completed: ${described(view)}`);
  formTool(server, 'test_elicitation_sep1330_enums', 'Asks with all kinds of choices', anything,
    () => form('Please choose', ENUMS, []), (view) => `Elicitation completed: ${described(view)}`);
  formTool(server, 'test_streaming_elicitation', 'Asks the user in the middle of a stream', anything,
    () => form('Go on?', { ok: { type: 'boolean' } }), described);
}

function addSampling(server) {
  server.registerTool('test_sampling', {
    description: 'Asks the model of the client', inputSchema: fromJsonSchema({ type: 'object', properties: { prompt: string }, required: ['prompt'] }),
  }, async ({ prompt }, ctx) => {
    const answer = said(ctx.mcpReq.inputResponses, 'sample');
    return answer === undefined ? inputRequired({ inputRequests: { sample: sample(prompt) } }) : text(`LLM response: ${answer}`);
  });
  server.registerTool('test_missing_capability', { description: 'Needs a model of the client' },
    async () => inputRequired({ inputRequests: { sample: sample('Are you there?') } }));
}

// The questions that the suite requires without sessions: one of each kind, several at once, several in turn, guarded state.
function addRounds(server) {
  const tool = (name, run) => server.registerTool(`test_input_required_result_${name}`, { description: `Asks before it answers (${name})` },
    async (ctx) => run(ctx.mcpReq.inputResponses, ctx));
  const name = () => form('What is your name?', { name: string });
  tool('elicitation', (responses) => {
    const answer = acceptedContent(responses, 'user_name');
    return answer ? text(`Hello, ${answer.name}!`) : inputRequired({ inputRequests: { user_name: name() } });
  });
  tool('sampling', (responses) => {
    const answer = said(responses, 'capital_question');
    return answer ? text(answer) : inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?') } });
  });
  tool('list_roots', (responses) => {
    const view = inputResponse(responses, 'client_roots');
    return view.kind === 'roots' ? text(view.roots.map((root) => root.uri).join(' ')) : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  for (const guarded of ['request_state', 'tampered_state']) {
    tool(guarded, async (responses, ctx) => {
      if (acceptedContent(responses, 'confirm') && ctx.mcpReq.requestState() === guarded) return text('state-ok');
      return inputRequired({ inputRequests: { confirm: form('Please confirm', { ok: { type: 'boolean' } }) }, requestState: await states.mint(guarded) });
    });
  }
  tool('multiple_inputs', async (responses, ctx) => {
    const [who, greeting, roots] = [acceptedContent(responses, 'user_name'), said(responses, 'greeting'), inputResponse(responses, 'client_roots')];
    if (who && greeting && roots.kind === 'roots' && ctx.mcpReq.requestState() === 'several') return text(`${greeting} ${who.name} (${roots.roots.length} roots)`);
    return inputRequired({
      inputRequests: { user_name: name(), greeting: sample('Generate a greeting', 50), client_roots: inputRequired.listRoots() },
      requestState: await states.mint('several'),
    });
  });
  tool('multi_round', async (responses, ctx) => {
    const known = { ...(ctx.mcpReq.requestState() ?? {}), ...acceptedContent(responses, 'step1'), ...acceptedContent(responses, 'step2') };
    if (known.name && known.color) return text(`${known.name} likes ${known.color}`);
    const step = known.name ? { step2: form('Step 2: What is your favorite color?', { color: string }) } : { step1: form('Step 1: What is your name?', { name: string }) };
    return inputRequired({ inputRequests: step, requestState: await states.mint(known) });
  });
  tool('capabilities', (responses, ctx) => {
    const declared = ctx.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? server.server.getClientCapabilities() ?? {};
    if (responses && Object.keys(responses).length > 0) return text('Thank you.');
    const wanted = {};
    if (declared.sampling) wanted.sample = sample('Say anything');
    if (declared.elicitation) wanted.form = name();
    return Object.keys(wanted).length > 0 ? inputRequired({ inputRequests: wanted }) : text('There is nobody to ask.');
  });
}

export function addQuestions(server) {
  addForms(server);
  addSampling(server);
  addRounds(server);
}

export function askingPrompt(server) {
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks before it answers' }, async (ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'user_context');
    if (!answer) return inputRequired({ inputRequests: { user_context: form('What context should the prompt use?', { context: string }) } });
    return { messages: [{ role: 'user', content: { type: 'text', text: `In the context of ${answer.context}` } }] };
  });
}
