// Checks the end of the log in a worker. Reads the log in parts and reports the progress. Entries before the range count
// by the hashes of their tiles, which the signed root covers.
import { same } from "../core/verify/encoding";
import { Malformed } from "../core/verify/json";
import { parseCheckpoint, parseKey, parseNote, trustOf } from "../core/verify/note";
import { Edge, type Fault, RangeCheck } from "../core/verify/range";
import type { Bytes } from "../core/verify/sha256";

export interface RangeRequest {
  base: string; // of the API
  secret: string;
  key: string;
  last: number; // the number of records; 0: all
}

export type RangeMessage =
  | { kind: "progress"; first: number; done: number; size: number }
  | { kind: "good"; first: number; size: number }
  | { kind: "bad"; fault: Fault }
  | { kind: "failed"; status: number; detail: string };

const TILE = 256;
const PART = 2000;
const TIMEOUT = 30_000;
const MOST_TRIES = 6;

class RequestError extends Error {
  constructor(
    readonly status: number,
    detail: string,
  ) {
    super(detail);
  }
}

class Log {
  constructor(private readonly request: RangeRequest) {}

  private async fetchPath(path: string): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(this.request.base + path, {
        headers: { "X-Sallyport-Page": this.request.secret },
        credentials: "same-origin",
        cache: "no-store",
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT),
      });
      if (response.ok) return response;
      const busy = response.status === 429 || response.status === 503;
      if (!busy || attempt === MOST_TRIES) throw new RequestError(response.status, ((await response.json().catch(() => ({}))) as { detail?: string }).detail ?? response.statusText);
      await new Promise((resolve) => setTimeout(resolve, 1000 * Math.min(10, Number(response.headers.get("Retry-After")) || attempt)));
    }
  }

  async text(path: string): Promise<string> {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await (await this.fetchPath(path)).arrayBuffer());
  }

  part(from: number): Promise<string> {
    return this.text(`log/export?limit=${PART}` + (from > 0 ? `&after=${from - 1}` : ""));
  }

  // The first `width` hashes of a tile.
  async tile(level: number, number: number, width: number): Promise<Bytes[]> {
    const digits = String(number).padStart(Math.max(3, Math.ceil(String(number).length / 3) * 3), "0");
    const parts = digits.match(/.../g)!.map((part, i, all) => (i + 1 < all.length ? "x" : "") + part);
    const path = `log/tile/${level}/${parts.join("/")}${width < TILE ? `.p/${width}` : ""}`;
    const bytes = new Uint8Array(await (await this.fetchPath(path)).arrayBuffer());
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

// Finds the bad entry after a wrong root, which covers many entries. If the leaves of the tiles lead to the signed root,
// the first entry with another leaf is the bad one.
async function findBadEntry(log: Log, check: RangeCheck, fault: Fault, root: Bytes): Promise<Fault> {
  if (fault.check !== "root") return fault;
  const edge = check.before.copy();
  const leaves: Bytes[] = [];
  for (let tile = Math.floor(check.covered / TILE); tile * TILE < check.size; tile++) {
    const hashes = await log.tile(0, tile, Math.min(TILE, check.size - tile * TILE));
    leaves.push(...hashes.slice(Math.max(0, check.covered - tile * TILE)));
  }
  for (const hash of leaves) edge.append(hash);
  const signed = edge.root();
  if (!signed || !same(signed, root)) return fault;
  const at = check.leaves.findIndex((leaf, i) => !same(leaf, leaves[i]!));
  return at < 0 ? fault : { ...fault, sequence: check.covered + at, detail: `entry ${check.covered + at} is not the one that was signed` };
}

// The first fault of one part. Null: it has none.
async function checkPart(log: Log, check: RangeCheck, text: string): Promise<Fault | null> {
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const fault = await check.take(line);
    if (fault) return line.startsWith('{"checkpoint"') && fault.check === "root" ? findBadEntry(log, check, fault, parseCheckpoint(parseNote((JSON.parse(line) as { checkpoint: string }).checkpoint).text).root) : fault;
  }
  return null;
}

async function checkParts(log: Log, check: RangeCheck, size: number, notify: (done: number) => void): Promise<Fault | null> {
  let nextPart: { from: number; text: Promise<string> } | null = null;
  while (check.size < size) {
    const from = check.size;
    notify(from);
    const text: string = await (nextPart?.from === from ? nextPart.text : log.part(from));
    // Requests the next part while this part is checked. Its failure is ignored here: it counts only if the part is used.
    nextPart = { from: from + PART, text: from + PART < size ? log.part(from + PART) : Promise.resolve("") };
    nextPart.text.catch(() => {});
    const fault = await checkPart(log, check, text);
    if (fault) return fault;
    if (check.size === from) return { sequence: from, check: "missing_sequence", detail: `the server gives no entry behind ${from - 1}` };
  }
  return check.finish();
}

async function run(request: RangeRequest, notify: (message: RangeMessage) => void): Promise<void> {
  const log = new Log(request);
  const key = await parseKey(request.key);
  const note = parseNote(await log.text("log/checkpoint"));
  const size = Number(parseCheckpoint(note.text).size);
  const trust = await trustOf(note, [key]);
  if (trust === "bad_signature") return notify({ kind: "bad", fault: { sequence: 0, check: "checkpoint_signature", detail: "the newest checkpoint's signature does not verify" } });
  // A key from before a rotation needs the whole log: the check follows the rotations from the beginning.
  const first = trust === "signed" && request.last > 0 && request.last < size ? Math.floor((size - request.last) / TILE) * TILE : 0;
  const check = new RangeCheck(key, await log.edge(first));
  const fault = await checkParts(log, check, size, (done) => notify({ kind: "progress", first, done, size }));
  notify(fault ? { kind: "bad", fault } : { kind: "good", first, size: check.size });
}

export async function checkRange(request: RangeRequest, notify: (message: RangeMessage) => void): Promise<void> {
  try {
    await run(request, notify);
  } catch (error) {
    notify({ kind: "failed", status: error instanceof RequestError ? error.status : 0, detail: error instanceof Error ? error.message : String(error) });
  }
}
