// Signs an answer (AP-16, CO-20) with a key that the reviewer has enrolled.
import { Problem } from "../core/api";
import { serverNow } from "../core/clock";
import { sha256 } from "../core/verify/sha256";
import { findBrowserKey, signWithBrowserKey } from "./browser_key";
import { canonical } from "./bytes";
import { signWithPasskey } from "./passkey";

// The ids of the keys that may sign an answer of this person.
export interface SigningKeys {
  passkeys: string[];
  browser_keys: string[];
}

export interface SignedFacts {
  request_id: string;
  reviewer: string;
  binding: string;
  approved: boolean;
}

export async function signAnswer(answer: SignedFacts, sign: SigningKeys): Promise<{ responded_at: string; signature: string }> {
  const responded_at = new Date(serverNow()).toISOString().slice(0, 19) + "Z";
  const text = canonical({ ...answer, responded_at, schema: "sallyport.approval_response.v1" });
  const browserKey = await findBrowserKey(sign.browser_keys);
  if (browserKey !== null) return { responded_at, signature: await signWithBrowserKey(browserKey, text) };
  if (sign.passkeys.length === 0) throw new Problem(0, "key_elsewhere", "no key of this browser is enrolled");
  return { responded_at, signature: await signWithPasskey(sha256(text), sign.passkeys) };
}
