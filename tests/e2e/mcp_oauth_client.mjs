// The public SDK client with only an address: it discovers the authorization server, registers, lets
// a person who always agrees log in, and calls a tool. Prints what it saw as JSON.
//
//   MCP_MODULES=node_modules node mcp_oauth_client.mjs http://...
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const load = (path) =>
  import(pathToFileURL(join(process.env.MCP_MODULES, '@modelcontextprotocol/sdk/dist/esm', path)).href);
const { Client } = await load('client/index.js');
const { UnauthorizedError } = await load('client/auth.js');
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');

const kept = {};
const provider = {
  redirectUrl: 'http://127.0.0.1:1/callback',
  clientMetadata: { client_name: 'sdk', redirect_uris: ['http://127.0.0.1:1/callback'] },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  state: () => 'state',
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: async (url) => {
    kept.scope = url.searchParams.get('scope');
    kept.resource = url.searchParams.get('resource');
    const answer = await fetch(url, { redirect: 'manual' });
    kept.back = new URL(answer.headers.get('location')).searchParams;
  },
};

const url = new URL(process.argv[2]);
const connect = async () => {
  const client = new Client({ name: 'sdk', version: '1' });
  const transport = new StreamableHTTPClientTransport(url, { authProvider: provider });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(kept.back.get('code'));
    return connect();
  }
  return client;
};
const client = await connect();
const said = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
await client.close();
console.log(JSON.stringify({ client: kept.client.client_id, scope: kept.scope, resource: kept.resource,
  token: kept.tokens.access_token, said: said.content[0].text }));
process.exit(0);
