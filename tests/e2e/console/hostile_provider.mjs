// An OpenID provider that signs in any user, and falsifies one item of the ID token if `/lie?KIND` requests it. For tests only.
// Prints its issuer; `/seen` returns what reached the token endpoint.
import crypto from "node:crypto";
import http from "node:http";

const plain = (bytes) => Buffer.from(bytes).toString("base64url");
const own = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" });
const other = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" });
let lie = "";
const codes = new Map();
const seen = [];

function token(claims, nonce) {
  const now = Math.floor(Date.now() / 1000);
  const said = { iss: issuer, aud: "console", sub: "248289761001", nonce, iat: now, exp: now + 60, groups: ["readers"], ...claims };
  const lies = {
    iss: { iss: "http://127.0.0.1:1" }, aud: { aud: "another" }, azp: { aud: ["console", "another"], azp: "another" }, nonce: { nonce: "another" },
    old: { exp: now - 3600 }, noend: { exp: undefined }, early: { nbf: now + 3600 }, nononce: { nonce: undefined }, noaud: { aud: undefined }, nosub: { sub: undefined }, stranger: { sub: "nobody", groups: ["others"] }, group: { sub: "7", groups: ["readers"] },
  };
  const alg = { none: "none", shared: "HS256" }[lie] ?? "ES256";
  const head = plain(JSON.stringify({ alg, typ: "JWT", kid: lie === "kid" ? "2" : "1" }));
  const text = head + "." + plain(JSON.stringify({ ...said, ...lies[lie] }));
  if (lie === "none") return text + ".";
  if (lie === "shared") return text + "." + plain(crypto.createHmac("sha256", own.publicKey.export({ format: "pem", type: "spki" })).update(text).digest());
  const key = lie === "signature" ? other.privateKey : own.privateKey;
  return text + "." + plain(crypto.sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }));
}

const server = http.createServer((request, response) => {
  const url = new URL(request.url, issuer);
  const json = (value, status = 200) => {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(value));
  };
  if (url.pathname === "/lie") {
    lie = url.search.slice(1);
    return json({});
  }
  if (url.pathname === "/seen") return json(seen);
  if (url.pathname === "/.well-known/openid-configuration") {
    return json({ issuer, authorization_endpoint: issuer + "/authorize", token_endpoint: issuer + "/token", jwks_uri: issuer + "/jwks",
      response_types_supported: ["code"], grant_types_supported: ["authorization_code"], code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic"] });
  }
  if (url.pathname === "/jwks") return json({ keys: [{ ...own.publicKey.export({ format: "jwk" }), kid: "1", alg: "ES256", use: "sig" }] });
  if (url.pathname === "/authorize") {
    const code = crypto.randomUUID();
    codes.set(code, url.searchParams);
    const back = new URL(url.searchParams.get("redirect_uri"));
    back.searchParams.set("code", code);
    back.searchParams.set("state", lie === "state" ? "another" : url.searchParams.get("state"));
    back.searchParams.set("session_state", "as some providers add it");
    if (lie === "mixup") back.searchParams.set("iss", "https://another.example");
    response.writeHead(302, { Location: back.href });
    return response.end();
  }
  if (url.pathname === "/token") {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      const form = new URLSearchParams(body);
      const asked = codes.get(form.get("code"));
      codes.delete(form.get("code"));
      const pkce = asked && plain(crypto.createHash("sha256").update(form.get("code_verifier") ?? "").digest()) === asked.get("code_challenge");
      seen.push({ pkce, basic: request.headers.authorization ?? "", redirect: form.get("redirect_uri") === asked?.get("redirect_uri") });
      if (!pkce) return json({ error: "invalid_grant" }, 400);
      return json({ token_type: "Bearer", access_token: "x", id_token: token({}, asked.get("nonce")) });
    });
    return;
  }
  return json({}, 404);
});
let issuer = "http://127.0.0.1";
server.listen(0, "127.0.0.1", () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  process.stdout.write(issuer + "\n");
});
