// Bytes as the API writes them (unpadded base64url), and the bytes that people sign (RFC 8785).
import { base64 } from "../core/verify/encoding";

export function toBase64url(bytes: ArrayBuffer | Uint8Array): string {
  return base64(new Uint8Array(bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
}

// Of texts and truths alone, for which `JSON.stringify` writes what RFC 8785 asks for.
export function canonical(members: Record<string, string | boolean>): string {
  const names = Object.keys(members).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(members[name])}`).join(",")}}`;
}
