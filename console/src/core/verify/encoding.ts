// Canonical base64, and hex.
import type { Bytes } from "./sha256";

export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Int8Array(128).fill(-1);
for (let i = 0; i < 64; i++) VALUES[LETTERS.charCodeAt(i)] = i;

// Null if the text is not canonical: incomplete groups of four, or unused bits that are set.
export function fromBase64(text: string): Bytes | null {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const letters = text.length - padding;
  if (text.length % 4 !== 0) return null;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let group = 0;
  for (let i = 0, at = 0; i < text.length; i++) {
    const value = i < letters ? (VALUES[text.charCodeAt(i)] ?? -1) : 0;
    if (value < 0) return null;
    group = (group << 6) | value;
    if (i % 4 !== 3) continue;
    bytes[at++] = group >> 16;
    if (at < bytes.length) bytes[at++] = group >> 8;
    if (at < bytes.length) bytes[at++] = group;
  }
  const unusedBits = padding === 2 ? 0xffff : padding === 1 ? 0xff : 0;
  return (group & unusedBits) === 0 ? bytes : null;
}

export function hash32(text: unknown): Bytes | null {
  const bytes = typeof text === "string" ? fromBase64(text) : null;
  return bytes?.length === 32 ? bytes : null;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function hex(bytes: Uint8Array): string {
  let out = "";
  for (const byte of bytes) out += HEX[byte]!;
  return out;
}

export function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
