// Unpadded base64url, as the API writes bytes, and the canonical JSON (RFC 8785) that people sign.
import { base64 } from "../core/verify/encoding";

export function toBase64url(bytes: ArrayBuffer | Uint8Array): string {
  return base64(new Uint8Array(bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
}

// For texts and booleans only: `JSON.stringify` writes these as RFC 8785 requires.
export function canonical(members: Record<string, string | boolean>): string {
  const names = Object.keys(members).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(members[name])}`).join(",")}}`;
}
