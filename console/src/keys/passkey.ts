// Passkeys: the authenticator makes a credential, and signs what a person answers.
import { ask, Problem } from "../core/api";
import { canonical, fromBase64url, toBase64url } from "./bytes";

export const hasPasskeys = typeof window.PublicKeyCredential === "function";
const WAIT = 120_000;

interface Options {
  challenge: string;
  rp_id: string;
  user_id: string;
  user_name: string;
  exclude: string[];
}

function refused(error: unknown): Problem {
  const name = error instanceof DOMException ? error.name : "";
  const code = name === "InvalidStateError" ? "enrolled" : name === "NotAllowedError" || name === "AbortError" ? "passkey_cancelled" : "passkey_failed";
  return new Problem(0, code, String(error));
}

const credential = (id: string): PublicKeyCredentialDescriptor => ({ type: "public-key", id: fromBase64url(id) });

// What the server reads a new credential from.
export async function makePasskey(): Promise<{ client_data: string; authenticator_data: string }> {
  const options = (await (await ask("passkeys/options", { method: "POST", body: {} })).json()) as Options;
  try {
    const made = (await navigator.credentials.create({
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
        timeout: WAIT,
      },
    })) as PublicKeyCredential;
    const response = made.response as AuthenticatorAttestationResponse;
    return { client_data: toBase64url(response.clientDataJSON), authenticator_data: toBase64url(response.getAuthenticatorData()) };
  } catch (error) {
    throw refused(error);
  }
}

// `webauthn:` and the four members of an assertion. No ids: whichever passkey of this page the person chooses.
export async function signWithPasskey(challenge: Uint8Array<ArrayBuffer>, ids: string[] = []): Promise<string> {
  try {
    const got = (await navigator.credentials.get({
      publicKey: { challenge, rpId: location.hostname, allowCredentials: ids.map(credential), userVerification: "required", timeout: WAIT },
    })) as PublicKeyCredential;
    const response = got.response as AuthenticatorAssertionResponse;
    const members = {
      credential_id: toBase64url(got.rawId),
      authenticator_data: toBase64url(response.authenticatorData),
      client_data: toBase64url(response.clientDataJSON),
      signature: toBase64url(response.signature),
    };
    return "webauthn:" + toBase64url(new TextEncoder().encode(canonical(members)));
  } catch (error) {
    throw refused(error);
  }
}
