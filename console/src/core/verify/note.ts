// Signed notes, checkpoints and verifier keys (C2SP signed-note, tlog-checkpoint) with Ed25519.
import { fromBase64, hash32, hex, same } from "./encoding";
import { Malformed, utf8 } from "./json";
import { type Bytes, sha256 } from "./sha256";

export interface VerifierKey {
  text: string;
  name: string;
  id: Bytes;
  publicKey: CryptoKey;
}

export interface Note {
  text: string;
  signatures: { name: string; id: Bytes; signature: Bytes }[];
}

export interface Checkpoint {
  origin: string;
  size: bigint;
  root: Bytes;
}

export type NoteTrust = "signed" | "no_such_key" | "bad_signature";

const MOST_SIGNATURES = 64;

// White space includes that of Unicode.
function validName(name: string): boolean {
  return name !== "" && !/[\u0000-\u0020\u007f+\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/.test(name);
}

export async function parseKey(text: string): Promise<VerifierKey> {
  const first = text.indexOf("+");
  const second = first < 0 ? -1 : text.indexOf("+", first + 1);
  if (second < 0) throw new Malformed("a key has the form name+hhhhhhhh+base64");
  const name = text.slice(0, first);
  const id = text.slice(first + 1, second);
  const bytes = fromBase64(text.slice(second + 1));
  if (!validName(name)) throw new Malformed("a key name has no blanks, `+` or control characters");
  if (!/^[0-9a-f]{8}$/.test(id)) throw new Malformed("a key id is eight lower-case hex digits");
  if (bytes?.length !== 33) throw new Malformed("key bytes are the base64 of 33 bytes");
  if (bytes[0] !== 1) throw new Malformed("only Ed25519 keys (type 1) are known");
  const digest = sha256(name, "\n", bytes).slice(0, 4);
  if (hex(digest) !== id) throw new Malformed("the key id does not belong to this name and key");
  const publicKey = await crypto.subtle.importKey("raw", bytes.slice(1), { name: "Ed25519" }, false, ["verify"]);
  return { text, name, id: digest, publicKey };
}

export function parseNote(text: string): Note {
  if (/[\u0000-\u0009\u000b-\u001f\u007f]/.test(text)) throw new Malformed("a note holds no control character but LF");
  const blank = text.lastIndexOf("\n\n");
  if (blank < 0) throw new Malformed("no empty line before the signatures");
  if (!text.endsWith("\n")) throw new Malformed("the last LF is missing");
  const rest = text.slice(blank + 2);
  if (rest === "") throw new Malformed("no signature");
  const note: Note = { text: text.slice(0, blank + 1), signatures: [] };
  for (const line of rest.slice(0, -1).split("\n")) {
    if (!line.startsWith("\u2014 ")) throw new Malformed("a signature line begins with U+2014 and a blank");
    const gap = line.indexOf(" ", 2);
    const name = line.slice(2, gap);
    if (gap < 0 || !validName(name)) throw new Malformed("a signature line has a key name and a signature");
    const bytes = fromBase64(line.slice(gap + 1));
    if (!bytes || bytes.length <= 4) throw new Malformed("a signature is not canonical base64");
    if (note.signatures.length === MOST_SIGNATURES) throw new Malformed("more than 64 signatures");
    note.signatures.push({ name, id: bytes.slice(0, 4), signature: bytes.slice(4) });
  }
  return note;
}

export function decimal(text: string): bigint | null {
  if (!/^(0|[1-9][0-9]{0,19})$/.test(text)) return null;
  const value = BigInt(text);
  return value < 1n << 64n ? value : null;
}

// Extension lines are ignored. The signature covers them.
export function parseCheckpoint(noteText: string): Checkpoint {
  const [origin = "", digits = "", encoded = ""] = noteText.split("\n");
  if (origin === "") throw new Malformed("no origin");
  const size = decimal(digits);
  if (size === null) throw new Malformed("the tree size is not a plain number");
  const root = hash32(encoded);
  if (!root) throw new Malformed("the root hash is not the base64 of 32 bytes");
  return { origin, size, root };
}

// Signatures by other keys are ignored. One invalid signature with the name and id of the key is bad, even beside a valid
// one.
async function trustOfKey(note: Note, key: VerifierKey): Promise<NoteTrust> {
  let trust: NoteTrust = "no_such_key";
  for (const line of note.signatures) {
    if (line.name !== key.name || !same(line.id, key.id)) continue;
    const good = line.signature.length === 64 &&
      (await crypto.subtle.verify({ name: "Ed25519" }, key.publicKey, line.signature, utf8(note.text)));
    if (!good) return "bad_signature";
    trust = "signed";
  }
  return trust;
}

export async function trustOf(note: Note, keys: VerifierKey[]): Promise<NoteTrust> {
  let trust: NoteTrust = "no_such_key";
  for (const key of keys) {
    const one = await trustOfKey(note, key);
    if (one === "bad_signature") return one;
    if (one === "signed") trust = one;
  }
  return trust;
}

// True if this browser can verify Ed25519. Otherwise the page checks nothing and reports no result.
export async function canCheck(): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey("raw", VECTOR.key, { name: "Ed25519" }, false, ["verify"]);
    const good = await crypto.subtle.verify({ name: "Ed25519" }, key, VECTOR.signature, new Uint8Array());
    const bad = await crypto.subtle.verify({ name: "Ed25519" }, key, VECTOR.signature, utf8("x"));
    return good === true && bad === false;
  } catch {
    return false;
  }
}

// RFC 8032, 7.1, test 1: the signature of an empty message.
const VECTOR = {
  key: fromBase64("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")!,
  signature: fromBase64("5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc+bRr0lv18FlbviRlUUFDjnoQCw==")!,
};
