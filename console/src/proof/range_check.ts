// Checks the end of the log in a worker: reads it in parts, and tells how far it is. What comes before the range is known
// by the hashes of tiles, which the signed root covers.
import { same } from "../core/verify/encoding";
import { Malformed } from "../core/verify/json";
import { parseCheckpoint, parseKey, parseNote, trustOf } from "../core/verify/note";
import { Edge, type Fault, RangeCheck } from "../core/verify/range";
import type { Bytes } from "../core/verify/sha256";

export interface Asked {
  base: string; // of the API
  secret: string;
  key: string;
  last: number; // how many records; 0: all
}

export type Told =
  | { kind: "progress"; first: number; done: number; size: number }
  | { kind: "good"; first: number; size: number }
  | { kind: "bad"; fault: Fault }
  | { kind: "failed"; status: number; detail: string };

const TILE = 256;
const PART = 2000;
const WAIT = 30_000;
const MOST_TRIES = 6;

class Refused extends Error {
  constructor(
    readonly status: number,
    detail: string,
  ) {
    super(detail);
  }
}

class Log {
  constructor(private readonly asked: Asked) {}

  private async ask(path: string): Promise<Response> {
    for (let tries = 1; ; tries++) {
      const response = await fetch(this.asked.base + path, {
        headers: { "X-Sallyport-Page": this.asked.secret },
        credentials: "same-origin",
        cache: "no-store",
        redirect: "error",
        signal: AbortSignal.timeout(WAIT),
      });
      if (response.ok) return response;
      const busy = response.status === 429 || response.status === 503;
      if (!busy || tries === MOST_TRIES) throw new Refused(response.status, ((await response.json().catch(() => ({}))) as { detail?: string }).detail ?? response.statusText);
      await new Promise((done) => setTimeout(done, 1000 * Math.min(10, Number(response.headers.get("Retry-After")) || tries)));
    }
  }

  async text(path: string): Promise<string> {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await (await this.ask(path)).arrayBuffer());
  }

  part(from: number): Promise<string> {
    return this.text(`log/export?limit=${PART}` + (from > 0 ? `&after=${from - 1}` : ""));
  }

  // Hashes of one tile, or of its first `width` ones.
  async tile(level: number, number: number, width: number): Promise<Bytes[]> {
    const digits = String(number).padStart(Math.max(3, Math.ceil(String(number).length / 3) * 3), "0");
    const parts = digits.match(/.../g)!.map((part, i, all) => (i + 1 < all.length ? "x" : "") + part);
    const path = `log/tile/${level}/${parts.join("/")}${width < TILE ? `.p/${width}` : ""}`;
    const bytes = new Uint8Array(await (await this.ask(path)).arrayBuffer());
    if (bytes.length !== width * 32) throw new Malformed(`${path} has another size`);
    return Array.from({ length: width }, (_, i) => bytes.slice(i * 32, i * 32 + 32));
  }

  // The edge before entry `size`, a multiple of 256.
  async edge(size: number): Promise<Edge> {
    const edge = new Edge();
    const levels: { level: number; number: number; width: number }[] = [];
    for (let level = 1, count = size / TILE; count > 0; level++, count = Math.floor(count / TILE)) {
      levels.unshift({ level, number: Math.floor(count / TILE), width: count % TILE });
    }
    for (const { level, number, width } of levels) {
      if (width === 0) continue;
      for (const hash of await this.tile(level, number, width)) edge.append(hash, level * 8);
    }
    return edge;
  }
}

// A root that does not fit says only that one of many entries is wrong. Where the leaves of the tiles lead to that root,
// the first entry with another leaf is the bad one.
async function pinned(log: Log, check: RangeCheck, fault: Fault, root: Bytes): Promise<Fault> {
  if (fault.check !== "root") return fault;
  const edge = check.before.copy();
  const told: Bytes[] = [];
  for (let tile = Math.floor(check.covered / TILE); tile * TILE < check.size; tile++) {
    const hashes = await log.tile(0, tile, Math.min(TILE, check.size - tile * TILE));
    told.push(...hashes.slice(Math.max(0, check.covered - tile * TILE)));
  }
  for (const hash of told) edge.append(hash);
  const signed = edge.root();
  if (!signed || !same(signed, root)) return fault;
  const at = check.leaves.findIndex((leaf, i) => !same(leaf, told[i]!));
  return at < 0 ? fault : { ...fault, sequence: check.covered + at, detail: `entry ${check.covered + at} is not the one that was signed` };
}

// The fault of one part, if it has one.
async function takePart(log: Log, check: RangeCheck, text: string): Promise<Fault | null> {
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const fault = await check.take(line);
    if (fault) return line.startsWith('{"checkpoint"') && fault.check === "root" ? pinned(log, check, fault, parseCheckpoint(parseNote((JSON.parse(line) as { checkpoint: string }).checkpoint).text).root) : fault;
  }
  return null;
}

async function takeParts(log: Log, check: RangeCheck, size: number, tell: (done: number) => void): Promise<Fault | null> {
  let coming: { from: number; text: Promise<string> } | null = null;
  while (check.size < size) {
    const from = check.size;
    tell(from);
    const text: string = await (coming?.from === from ? coming.text : log.part(from));
    // The next part comes while this one is checked. Where it is no longer wanted, its failure is none.
    coming = { from: from + PART, text: from + PART < size ? log.part(from + PART) : Promise.resolve("") };
    coming.text.catch(() => {});
    const fault = await takePart(log, check, text);
    if (fault) return fault;
    if (check.size === from) return { sequence: from, check: "missing_sequence", detail: `the server gives no entry behind ${from - 1}` };
  }
  return check.finish();
}

async function run(asked: Asked, tell: (told: Told) => void): Promise<void> {
  const log = new Log(asked);
  const key = await parseKey(asked.key);
  const note = parseNote(await log.text("log/checkpoint"));
  const size = Number(parseCheckpoint(note.text).size);
  const trust = await trustOf(note, [key]);
  if (trust === "bad_signature") return tell({ kind: "bad", fault: { sequence: 0, check: "checkpoint_signature", detail: "the newest checkpoint's signature does not verify" } });
  // A key from before a rotation is followed from the beginning of the log.
  const first = trust === "signed" && asked.last > 0 && asked.last < size ? Math.floor((size - asked.last) / TILE) * TILE : 0;
  const check = new RangeCheck(key, await log.edge(first));
  const fault = await takeParts(log, check, size, (done) => tell({ kind: "progress", first, done, size }));
  tell(fault ? { kind: "bad", fault } : { kind: "good", first, size: check.size });
}

export async function checkRange(asked: Asked, tell: (told: Told) => void): Promise<void> {
  try {
    await run(asked, tell);
  } catch (error) {
    tell({ kind: "failed", status: error instanceof Refused ? error.status : 0, detail: error instanceof Error ? error.message : String(error) });
  }
}
