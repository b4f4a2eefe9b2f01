// `oidc-provider`, a certified implementation, with its own pages: oidc_provider.mjs MODULES. Prints its issuer, then reads
// the address to which it redirects browsers.
import { createRequire } from "node:module";
import http from "node:http";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(process.argv[2] + "/");
const { default: Provider } = await import(pathToFileURL(require.resolve("oidc-provider")));

const listener = http.createServer((request, response) => handle(request, response));
let handle = () => {};
listener.listen(0, "127.0.0.1", async () => {
  const issuer = `http://127.0.0.1:${listener.address().port}`;
  process.stdout.write(issuer + "\n");
  const { value: redirect } = await readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
  const provider = new Provider(issuer, {
    clients: [{ client_id: "console", client_secret: "a secret of the console", redirect_uris: [redirect], grant_types: ["authorization_code"], response_types: ["code"] }],
    claims: { openid: ["sub", "groups"] },
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, groups: ["readers"] }) }),
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
  });
  handle = provider.callback();
});
