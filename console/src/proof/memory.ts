// What this browser has seen of the log: the newest checkpoint that it verified, and every alarm. A server that shows
// another past than it showed before is found out, and a reload does not make that go away.
import { ask, get, query } from "../core/api";
import { parseCheckpoint, parseNote, trustOf, type VerifierKey } from "../core/verify/note";
import { hash32, same } from "../core/verify/encoding";
import { consistent } from "../core/verify/merkle";
import type { Bytes } from "../core/verify/sha256";

const KEPT = "sallyport.checkpoint";
const ALARM = "sallyport.alarm";

export interface Kept {
  note: string;
  size: string;
  seen: string;
}

export type Memory =
  | { kind: "first"; size: bigint }
  | { kind: "same" | "continues"; size: bigint; kept: Kept }
  | { kind: "alarm"; why: "rollback" | "fork" | "proof"; kept: Kept }
  | { kind: "unsigned" | "unchecked" };

export function kept(): Kept | null {
  const text = localStorage.getItem(KEPT);
  return text ? (JSON.parse(text) as Kept) : null;
}

export function alarm(): string | null {
  return localStorage.getItem(ALARM);
}

// A check that is under way then keeps nothing: the page is loaded anew.
let forgotten = false;

export function forget(): void {
  forgotten = true;
  localStorage.removeItem(KEPT);
  localStorage.removeItem(ALARM);
}

export async function checkpoint(): Promise<string> {
  const response = await ask("log/checkpoint");
  const text = await response.text();
  if (!response.headers.get("Content-Type")?.includes("json")) return text;
  return (JSON.parse(text) as { checkpoint: string }).checkpoint;
}

// Null: what the server gave is no proof.
async function between(from: bigint, to: bigint): Promise<Bytes[] | null> {
  const { proof } = await get<{ proof: string[] }>("log/proof" + query({ from: String(from), to: String(to) }));
  const hashes = Array.isArray(proof) ? proof.map((one) => hash32(one)) : [null];
  return hashes.every((one) => one !== null) ? (hashes as Bytes[]) : null;
}

function raise(why: "rollback" | "fork" | "proof", before: Kept): Memory {
  if (!forgotten) localStorage.setItem(ALARM, why);
  return { kind: "alarm", why, kept: before };
}

// Compares the newest checkpoint with what was kept, and keeps it where it continues that. What was kept was verified then;
// the log may have another key by now.
export async function remember(note: string, key: VerifierKey): Promise<Memory> {
  const parsed = parseNote(note);
  if ((await trustOf(parsed, [key])) !== "signed") return { kind: "unsigned" };
  const now = parseCheckpoint(parsed.text);
  const keep = () => {
    if (!forgotten) localStorage.setItem(KEPT, JSON.stringify({ note, size: String(now.size), seen: new Date().toISOString() } satisfies Kept));
  };
  const before = kept();
  if (!before) {
    keep();
    return { kind: "first", size: now.size };
  }
  const then = parseCheckpoint(parseNote(before.note).text);
  if (now.origin !== then.origin) return raise("fork", before);
  if (now.size < then.size) return raise("rollback", before);
  if (now.size === then.size) return same(now.root, then.root) ? { kind: "same", size: now.size, kept: before } : raise("fork", before);
  const proof = await between(then.size, now.size);
  if (!proof) return raise("proof", before);
  if (!consistent(then.size, then.root, now.size, now.root, proof)) return raise("fork", before);
  keep();
  return { kind: "continues", size: now.size, kept: before };
}
