// What this browser has seen of the log: the newest checkpoint that it verified, and every alarm. A server that shows
// another past than it showed before is found out, and a reload does not make that go away.
import { ask, get, query } from "../core/api";
import { parseCheckpoint, parseNote, trustOf, type VerifierKey } from "../core/verify/note";
import { type Between, verifyConsistency } from "../core/verify/receipt";
import { same } from "../core/verify/encoding";

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
  | { kind: "unsigned" };

export function kept(): Kept | null {
  const text = localStorage.getItem(KEPT);
  return text ? (JSON.parse(text) as Kept) : null;
}

export function alarm(): string | null {
  return localStorage.getItem(ALARM);
}

export function forget(): void {
  localStorage.removeItem(KEPT);
  localStorage.removeItem(ALARM);
}

export async function checkpoint(): Promise<string> {
  const response = await ask("log/checkpoint");
  const text = await response.text();
  if (!response.headers.get("Content-Type")?.includes("json")) return text;
  return (JSON.parse(text) as { checkpoint: string }).checkpoint;
}

async function between(from: bigint, to: bigint): Promise<Between> {
  const told = await get<{ old_size: number; new_size: number; proof: string[] }>("log/proof" + query({ from: String(from), to: String(to) }));
  return { oldSize: BigInt(told.old_size), newSize: BigInt(told.new_size), hashes: told.proof };
}

function raise(why: "rollback" | "fork" | "proof", before: Kept): Memory {
  localStorage.setItem(ALARM, why);
  return { kind: "alarm", why, kept: before };
}

// Compares the newest checkpoint with what was kept, and keeps it where it continues that.
export async function remember(note: string, key: VerifierKey): Promise<Memory> {
  const parsed = parseNote(note);
  if ((await trustOf(parsed, [key])) !== "signed") return { kind: "unsigned" };
  const now = parseCheckpoint(parsed.text);
  const keep = () => localStorage.setItem(KEPT, JSON.stringify({ note, size: String(now.size), seen: new Date().toISOString() } satisfies Kept));
  const before = kept();
  if (!before) {
    keep();
    return { kind: "first", size: now.size };
  }
  const then = parseCheckpoint(parseNote(before.note).text);
  if (now.origin !== then.origin) return raise("fork", before);
  if (now.size < then.size) return raise("rollback", before);
  if (now.size === then.size) return same(now.root, then.root) ? { kind: "same", size: now.size, kept: before } : raise("fork", before);
  const answer = await verifyConsistency(before.note, note, await between(then.size, now.size), { key });
  if (!answer.ok) return raise(answer.step === "inclusion" ? "fork" : "proof", before);
  keep();
  return { kind: "continues", size: now.size, kept: before };
}
