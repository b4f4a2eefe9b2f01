// Stores the newest checkpoint that this browser verified, and the alarm. The stored checkpoint detects a server that
// changes its history. The alarm stays after a reload.
import { get, query, request } from "../core/api";
import { parseCheckpoint, parseNote, trustOf, type VerifierKey } from "../core/verify/note";
import { hash32, same } from "../core/verify/encoding";
import { consistent } from "../core/verify/merkle";
import type { Bytes } from "../core/verify/sha256";

const CHECKPOINT_KEY = "sallyport.checkpoint";
const ALARM_KEY = "sallyport.alarm";

export interface StoredCheckpoint {
  note: string;
  size: string;
  seen: string;
}

export type Memory =
  | { kind: "first"; size: bigint }
  | { kind: "same" | "continues"; size: bigint; stored: StoredCheckpoint }
  | { kind: "alarm"; reason: "rollback" | "fork" | "proof"; stored: StoredCheckpoint }
  | { kind: "unsigned" | "unchecked" };

export function storedCheckpoint(): StoredCheckpoint | null {
  const text = localStorage.getItem(CHECKPOINT_KEY);
  return text ? (JSON.parse(text) as StoredCheckpoint) : null;
}

export function storedAlarm(): string | null {
  return localStorage.getItem(ALARM_KEY);
}

// True after `forget`: a check that still runs must not store anything before the page reloads.
let forgotten = false;

export function forget(): void {
  forgotten = true;
  localStorage.removeItem(CHECKPOINT_KEY);
  localStorage.removeItem(ALARM_KEY);
}

export async function readCheckpoint(): Promise<string> {
  const response = await request("log/checkpoint");
  const text = await response.text();
  if (!response.headers.get("Content-Type")?.includes("json")) return text;
  return (JSON.parse(text) as { checkpoint: string }).checkpoint;
}

// Null: the answer of the server is not a proof.
async function consistencyProof(from: bigint, to: bigint): Promise<Bytes[] | null> {
  const { proof } = await get<{ proof: string[] }>("log/proof" + query({ from: String(from), to: String(to) }));
  const hashes = Array.isArray(proof) ? proof.map((one) => hash32(one)) : [null];
  return hashes.every((one) => one !== null) ? (hashes as Bytes[]) : null;
}

function raiseAlarm(reason: "rollback" | "fork" | "proof", previous: StoredCheckpoint): Memory {
  if (!forgotten) localStorage.setItem(ALARM_KEY, reason);
  return { kind: "alarm", reason, stored: previous };
}

// Compares the newest checkpoint with the stored one, and stores it if it continues the stored one. The signature of the
// stored one is not checked again: the log may have another key now.
export async function remember(note: string, key: VerifierKey): Promise<Memory> {
  const parsed = parseNote(note);
  if ((await trustOf(parsed, [key])) !== "signed") return { kind: "unsigned" };
  const current = parseCheckpoint(parsed.text);
  const store = () => {
    if (!forgotten) localStorage.setItem(CHECKPOINT_KEY, JSON.stringify({ note, size: String(current.size), seen: new Date().toISOString() } satisfies StoredCheckpoint));
  };
  const previous = storedCheckpoint();
  if (!previous) {
    store();
    return { kind: "first", size: current.size };
  }
  const previousCheckpoint = parseCheckpoint(parseNote(previous.note).text);
  if (current.origin !== previousCheckpoint.origin) return raiseAlarm("fork", previous);
  if (current.size < previousCheckpoint.size) return raiseAlarm("rollback", previous);
  if (current.size === previousCheckpoint.size) return same(current.root, previousCheckpoint.root) ? { kind: "same", size: current.size, stored: previous } : raiseAlarm("fork", previous);
  const proof = await consistencyProof(previousCheckpoint.size, current.size);
  if (!proof) return raiseAlarm("proof", previous);
  if (!consistent(previousCheckpoint.size, previousCheckpoint.root, current.size, current.root, proof)) return raiseAlarm("fork", previous);
  store();
  return { kind: "continues", size: current.size, stored: previous };
}
