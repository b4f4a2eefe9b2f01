// The signature of an answer (AP-16, CO-20), by a key that its reviewer has enrolled.
import { Problem } from "../core/api";
import { serverNow } from "../core/clock";
import { sha256 } from "../core/verify/sha256";
import { hasBrowserKey, signWithBrowserKey } from "./browser_key";
import { canonical } from "./bytes";
import { signWithPasskey } from "./passkey";

// What a question takes from this person; null: no signature.
export interface Sign {
  passkeys: string[];
  browser_keys: string[];
}

export interface Answered {
  request_id: string;
  reviewer: string;
  binding: string;
  approved: boolean;
}

export async function signAnswer(answer: Answered, sign: Sign): Promise<{ responded_at: string; signature: string }> {
  const responded_at = new Date(serverNow()).toISOString().slice(0, 19) + "Z";
  const text = canonical({ ...answer, responded_at, schema: "sallyport.approval_response.v1" });
  const own = await hasBrowserKey(sign.browser_keys);
  if (own !== null) return { responded_at, signature: await signWithBrowserKey(own, text) };
  if (sign.passkeys.length === 0) throw new Problem(0, "key_elsewhere", "no key of this browser is enrolled");
  return { responded_at, signature: await signWithPasskey(sha256(text), sign.passkeys) };
}
