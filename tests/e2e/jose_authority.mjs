// An authorization server with keys only, by `jose`: it describes itself, publishes its keys,
// and signs the claims of a POST to /sign.
//
//   JOSE_MODULES=node_modules node jose_authority.mjs    prints its issuer
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { SignJWT, exportJWK, generateKeyPair } =
  await import(pathToFileURL(join(process.env.JOSE_MODULES, 'jose/dist/webapi/index.js')).href);

const keys = {};
for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519', 'ES384']) {
  const pair = await generateKeyPair(alg, { extractable: true });
  keys[alg] = { ...pair, jwk: { ...(await exportJWK(pair.publicKey)), kid: alg, alg, use: 'sig' } };
}

const read = async (request) => {
  let body = '';
  for await (const piece of request) body += piece;
  return body;
};

const server = createServer(async (request, response) => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const say = (value) => response.end(typeof value === 'string' ? value : JSON.stringify(value));
  if (request.url === '/.well-known/openid-configuration') {
    return say({ issuer, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` });
  }
  if (request.url === '/keys') return say({ keys: Object.values(keys).map((key) => key.jwk) });
  if (request.url === '/sign') {
    const { alg, audience, claims } = JSON.parse(await read(request));
    return say(await new SignJWT(claims).setProtectedHeader({ alg, kid: alg, typ: 'at+jwt' })
      .setIssuer(issuer).setAudience(audience).setIssuedAt().setExpirationTime('5m').setJti('1')
      .sign(keys[alg].privateKey));
  }
  response.statusCode = 404;
  return say({});
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
