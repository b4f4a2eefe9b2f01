// Passkeys: the authenticator makes a credential and signs answers and logins.
import { Problem, request } from "../core/api";
import { canonical, fromBase64url, toBase64url } from "./bytes";

export const hasPasskeys = typeof window.PublicKeyCredential === "function";
const TIMEOUT = 120_000;

interface Options {
  challenge: string;
  rp_id: string;
  user_id: string;
  user_name: string;
  exclude: string[];
}

function passkeyProblem(error: unknown): Problem {
  const name = error instanceof DOMException ? error.name : "";
  const code = name === "InvalidStateError" ? "enrolled" : name === "NotAllowedError" || name === "AbortError" ? "passkey_cancelled" : "passkey_failed";
  return new Problem(0, code, String(error));
}

const credential = (id: string): PublicKeyCredentialDescriptor => ({ type: "public-key", id: fromBase64url(id) });

// Makes a passkey. The server reads the new credential from the result.
export async function makePasskey(): Promise<{ client_data: string; authenticator_data: string }> {
  const options = (await (await request("passkeys/options", { method: "POST", body: {} })).json()) as Options;
  try {
    const created = (await navigator.credentials.create({
      publicKey: {
        challenge: fromBase64url(options.challenge),
        rp: { id: options.rp_id, name: "Sallyport" },
        user: { id: fromBase64url(options.user_id), name: options.user_name, displayName: options.user_name },
        pubKeyCredParams: [
          { type: "public-key", alg: -7 },
          { type: "public-key", alg: -8 },
        ],
        excludeCredentials: options.exclude.map(credential),
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
        attestation: "none",
        timeout: TIMEOUT,
      },
    })) as PublicKeyCredential;
    const response = created.response as AuthenticatorAttestationResponse;
    return { client_data: toBase64url(response.clientDataJSON), authenticator_data: toBase64url(response.getAuthenticatorData()) };
  } catch (error) {
    throw passkeyProblem(error);
  }
}

// Returns `webauthn:` and the four members of an assertion. If `ids` is empty, the person chooses any passkey of this site.
export async function signWithPasskey(challenge: Uint8Array<ArrayBuffer>, ids: string[] = []): Promise<string> {
  try {
    const assertion = (await navigator.credentials.get({
      publicKey: { challenge, rpId: location.hostname, allowCredentials: ids.map(credential), userVerification: "required", timeout: TIMEOUT },
    })) as PublicKeyCredential;
    const response = assertion.response as AuthenticatorAssertionResponse;
    const members = {
      credential_id: toBase64url(assertion.rawId),
      authenticator_data: toBase64url(response.authenticatorData),
      client_data: toBase64url(response.clientDataJSON),
      signature: toBase64url(response.signature),
    };
    return "webauthn:" + toBase64url(new TextEncoder().encode(canonical(members)));
  } catch (error) {
    throw passkeyProblem(error);
  }
}
