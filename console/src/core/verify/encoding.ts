// Base64 in its one form, hex, and SHA-256 by WebCrypto.
import { utf8 } from "./json";

export type Bytes = Uint8Array<ArrayBuffer>;

export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

// Null unless another encoder would have written exactly this.
export function fromBase64(text: string): Bytes | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return null;
  }
  if (btoa(binary) !== text) return null;
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}

export function hash32(text: unknown): Bytes | null {
  const bytes = typeof text === "string" ? fromBase64(text) : null;
  return bytes?.length === 32 ? bytes : null;
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function joined(...parts: (string | Uint8Array)[]): Bytes {
  const all = parts.map((part) => (typeof part === "string" ? utf8(part) : part));
  const out = new Uint8Array(all.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of all) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export async function sha256(...parts: (string | Uint8Array)[]): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", joined(...parts)));
}

export function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
