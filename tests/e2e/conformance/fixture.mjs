// A server of both eras with everything that the public conformance suite requests by name, and a few more tools for
// features outside the suite. One definition: the SDK serves it with sessions and without them.
import { addContent } from './content.mjs';
import { addPrompts, addResources } from './resources.mjs';
import { addQuestions, states } from './questions.mjs';
import { addSignals } from './signals.mjs';
import { McpServer } from './sdk.mjs';

// `changed` notifies open subscriptions if a server lives for one request only; a connected server notifies its client.
export function makeServer(changed) {
  const server = new McpServer({ name: 'fixture', version: '1.0.0' }, {
    instructions: 'A server for tests.',
    capabilities: {
      tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true, subscribe: true }, completions: {}, logging: {},
    },
    requestState: { verify: states.verify },
  });
  const tell = changed ?? {
    toolsChanged: () => server.sendToolListChanged(),
    promptsChanged: () => server.sendPromptListChanged(),
    resourceUpdated: (uri) => server.server.sendResourceUpdated({ uri }),
  };
  addContent(server);
  addSignals(server, tell);
  addQuestions(server);
  addResources(server);
  addPrompts(server);
  return server;
}
