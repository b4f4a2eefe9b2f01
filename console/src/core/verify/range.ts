// Checks a range of the log line by line, in the JSON Lines of `ledger export`. `sallyport ledger verify FILE` reports the
// same first bad sequence. Only the program checks who may change a tier and whose passkey signed: these checks need the
// keys of people.
import { hash32, same } from "./encoding";
import { checkEntry, checkOpening, isCount } from "./entry";
import { canonical, isObject, type Json, type JsonObject, Malformed, read } from "./json";
import { leafHash, nodeHash } from "./merkle";
import { type Checkpoint, type Note, parseCheckpoint, parseKey, parseNote, trustOf, type VerifierKey } from "./note";
import { parseOpening } from "./receipt";
import type { Bytes } from "./sha256";

export interface Fault {
  sequence: number; // of the first bad entry
  check: string; // the name that the program uses
  detail: string;
}

// The right edge of a growing tree: the roots of its complete subtrees, largest first.
export class Edge {
  constructor(
    private readonly peaks: { level: number; hash: Bytes }[] = [],
    public size = 0,
  ) {}

  copy(): Edge {
    return new Edge([...this.peaks], this.size);
  }

  // Appends a complete subtree of 2^level leaves. `size` must be a multiple of 2^level.
  append(hash: Bytes, level = 0): void {
    this.size += 2 ** level;
    let top = { level, hash };
    while (this.peaks[this.peaks.length - 1]?.level === top.level) {
      const left = this.peaks.pop()!;
      top = { level: top.level + 1, hash: nodeHash(left.hash, top.hash) };
    }
    this.peaks.push(top);
  }

  root(): Bytes | null {
    let hash: Bytes | null = null;
    for (const peak of [...this.peaks].reverse()) hash = hash === null ? peak.hash : nodeHash(peak.hash, hash);
    return hash;
  }
}

interface Rotation {
  sequence: number;
  before: string;
  after: VerifierKey;
  compromised: boolean;
}

interface Topic {
  last: number;
  prunedBefore: number;
}

const DEEPEST = 132; // an opening is a few levels deeper in a line than in its call

export class RangeCheck {
  private readonly ids = new Set<string>();
  private readonly topics = new Map<string, Topic>();
  private readonly rotations: Rotation[] = [];
  private readonly unknownSigners: { note: Note; sequence: number; line: number }[] = [];
  private line = 0;
  private lastIsCheckpoint = false;
  private pruned = 0;
  private prunedEnd = 0;
  private prunedBelow = 0;
  private readonly first: number;
  covered: number; // a checkpoint that the key signed covers the entries below this
  leaves: Bytes[] = []; // of the entries from `covered` on
  before: Edge; // the edge at `covered`

  // `edge` is the tree before the range. The signed root covers it too.
  constructor(
    private key: VerifierKey,
    private readonly edge = new Edge(),
  ) {
    this.first = this.covered = edge.size;
    this.before = edge.copy();
  }

  get size(): number {
    return this.edge.size;
  }

  async take(text: string): Promise<Fault | null> {
    this.line++;
    this.lastIsCheckpoint = false;
    try {
      const { value: object, canonical } = read(text, DEEPEST);
      if (!isObject(object)) return this.fault("entry_bytes", "it is not an object");
      if (object.checkpoint !== undefined) return await this.takeCheckpoint(object, canonical);
      if (object.leaf !== undefined) return this.takeLeaf(object, canonical);
      return await this.takeEntry(object, canonical ? text : null);
    } catch (error) {
      if (error instanceof Malformed || error instanceof RangeError) return this.fault("entry_bytes", error.message);
      throw error;
    }
  }

  async finish(): Promise<Fault | null> {
    for (const { note, sequence, line } of this.unknownSigners) {
      if (await this.signedByFormerKey(note)) continue;
      return { sequence, check: "checkpoint_signature", detail: `line ${line}: the checkpoint is not signed by the pinned key, nor by one that it leads to` };
    }
    if (!this.lastIsCheckpoint || this.covered !== this.size) {
      return { sequence: this.covered, check: "checkpoint_signature", detail: `no checkpoint covers entry ${this.covered} and what follows: the end is missing` };
    }
    if (this.prunedEnd > this.prunedBelow && this.first === 0) {
      return { sequence: this.prunedEnd - 1, check: "entry_bytes", detail: "the entry is left out, and no `pruned` entry speaks of that" };
    }
    return null;
  }

  private fault(check: string, detail: string, sequence = this.size): Fault {
    return { sequence, check, detail: `line ${this.line}: ${detail}` };
  }

  private appendLeaf(leaf: Bytes): null {
    this.edge.append(leaf);
    this.leaves.push(leaf);
    return null;
  }

  private checkPlace(sequence: number): Fault | null {
    if (sequence === this.size) return null;
    if (this.size === 0) return this.fault("missing_sequence", `begins with entry ${sequence}; put the export of entries 0 to ${sequence - 1} before it`);
    return this.fault("missing_sequence", `entry ${sequence} stands where ${this.size} comes next`);
  }

  private takeLeaf(object: JsonObject, canonical: boolean): Fault | null {
    const leaf = hash32(object.leaf);
    const sequence = object.sequence;
    if (!leaf || !isCount(sequence) || Object.keys(object).length !== 2 || !canonical) return this.fault("entry_bytes", "not the line of a pruned entry");
    const placeFault = this.checkPlace(sequence);
    if (placeFault) return placeFault;
    this.pruned++;
    this.prunedEnd = this.size + 1;
    return this.appendLeaf(leaf);
  }

  // `line` is null if it is not in canonical form.
  private async takeEntry(object: JsonObject, line: string | null): Promise<Fault | null> {
    const entry = object.entry;
    const openings = object.openings;
    if (!isObject(entry) || !Array.isArray(openings) || Object.keys(object).length !== 2) {
      return this.fault("entry_bytes", "it has other members than `entry` and `openings`, or `checkpoint`");
    }
    // {"entry":...,"openings":[...]}
    const bytes = line ? line.slice(9, -13 - canonical(openings).length) : canonical(entry);
    checkEntry(entry, bytes);
    return (
      this.checkPlace(entry.sequence as number) ??
      this.checkOpenings(entry, openings) ??
      (line ? null : this.fault("entry_bytes", "it is not written in canonical form")) ??
      this.checkId(entry.id as string) ??
      this.checkTopic(entry) ??
      (await this.takeControl(entry)) ??
      this.appendLeaf(leafHash(bytes))
    );
  }

  private checkOpenings(entry: JsonObject, openings: Json[]): Fault | null {
    try {
      for (const opening of openings) checkOpening(entry, parseOpening(opening));
      return null;
    } catch (error) {
      if (error instanceof Malformed) return this.fault("opening", error.message);
      throw error;
    }
  }

  private checkId(id: string): Fault | null {
    if (this.ids.has(id)) return this.fault("duplicate_id", "an earlier entry has the same id");
    this.ids.add(id);
    return null;
  }

  // The numbers of a topic are consecutive. In a range that does not begin at 0, any first number is valid.
  private checkTopic(entry: JsonObject): Fault | null {
    const [topic, id] = [entry.topic, entry.topic_id];
    if (topic === undefined && id === undefined) return null;
    if (topic === undefined || id === undefined) return this.fault("topic_order", "`topic` and `topic_id` stand together or not at all");
    const known = this.topics.get(topic as string);
    const state = known ?? { last: 0, prunedBefore: 0 };
    const skippable = this.pruned - state.prunedBefore;
    const gap = (id as number) - state.last - 1;
    if ((known || this.first === 0) && (gap < 0 || gap > skippable)) return this.fault("topic_order", `\`topic_id\` is ${id}, the one before was ${state.last}`);
    this.topics.set(topic as string, { last: id as number, prunedBefore: this.pruned });
    return null;
  }

  private async takeControl(entry: JsonObject): Promise<Fault | null> {
    const body = entry.body as JsonObject;
    const control = entry.kind === "control" ? body.control : undefined;
    if (control === "pruned") {
      const minimum = body.minimum_index;
      if (!isCount(minimum)) return this.fault("entry_bytes", "a `pruned` entry lacks its minimum index");
      this.prunedBelow = Math.max(this.prunedBelow, minimum);
    }
    if (control !== "key_rotated") return null;
    const [before, after, compromised] = [body.old, body.new, body.compromised];
    const next = typeof after === "string" ? await parseKey(after).catch(() => null) : null;
    if (typeof before !== "string" || !next || typeof compromised !== "boolean" || next.name !== this.key.name) {
      return this.fault("entry_bytes", "a `key_rotated` entry does not name both keys");
    }
    this.rotations.push({ sequence: this.size, before, after: next, compromised });
    return null;
  }

  private async takeCheckpoint(object: JsonObject, canonical: boolean): Promise<Fault | null> {
    const checkpointText = object.checkpoint;
    const note = parseNote(typeof checkpointText === "string" ? checkpointText : "");
    const state = parseCheckpoint(note.text);
    if (Object.keys(object).length !== 1 || !canonical) return this.fault("entry_bytes", "a checkpoint stands alone in its line");
    const coveredFault = (check: string, detail: string) => this.fault(check, detail, this.covered);
    if (state.origin !== this.key.name) return coveredFault("checkpoint_signature", `the checkpoint is of \`${state.origin.slice(0, 100)}\``);
    if (state.size > BigInt(this.size)) return this.fault("missing_sequence", `the checkpoint is of ${state.size} entries, ${this.size} are here`);
    if (state.size < BigInt(this.size)) return coveredFault("checkpoint_consistency", `a checkpoint of ${state.size} entries stands behind entry ${this.size - 1}`);
    const root = this.edge.root();
    if (!root || !same(root, state.root)) return coveredFault("root", `entries ${this.covered} to ${this.size - 1} are not those that were signed`);
    return this.checkSignature(note, state);
  }

  private async checkSignature(note: Note, state: Checkpoint): Promise<Fault | null> {
    this.lastIsCheckpoint = true;
    const trust = await trustOf(note, [this.key]);
    if (trust === "bad_signature") return this.fault("checkpoint_signature", "the checkpoint's signature does not verify", this.covered);
    if (trust === "no_such_key") {
      // The signer may be a key from before a rotation that comes later.
      if (this.unknownSigners.length === 1024) return this.fault("checkpoint_signature", "too many checkpoints are signed by other keys", this.covered);
      this.unknownSigners.push({ note, sequence: this.covered, line: this.line });
      return null;
    }
    // A rotation takes effect after the old key has signed a tree that contains it.
    for (const rotation of this.rotations) {
      if (BigInt(rotation.sequence) < state.size && rotation.before === this.key.text && !rotation.compromised) this.key = rotation.after;
    }
    this.covered = this.size;
    this.leaves = [];
    this.before = this.edge.copy();
    return null;
  }

  private async signedByFormerKey(note: Note): Promise<boolean> {
    let key = this.key;
    if ((await trustOf(note, [key])) === "signed") return true;
    for (const rotation of [...this.rotations].reverse()) {
      if (rotation.after.text !== key.text) continue;
      key = await parseKey(rotation.before);
      if ((await trustOf(note, [key])) === "signed") return true;
    }
    return false;
  }
}

const MOST_LINE = 16 * 1024 * 1024;

// Splits pieces of text into lines. Keeps an incomplete line for the next piece.
export class LineCutter {
  private rest = "";

  take(piece: string): string[] {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop()!;
    if (this.rest.length > MOST_LINE) throw new Malformed("a line is longer than 16 MiB");
    return lines;
  }

  end(): string[] {
    return this.rest === "" ? [] : [this.rest];
  }
}
