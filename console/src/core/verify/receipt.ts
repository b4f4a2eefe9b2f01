// The nine steps of `sallyport verify`. Input: a receipt, and a key that came another way. The steps have the same names as
// in the program, and both stop at the same step.
import { fromBase64, hash32, hex, same } from "./encoding";
import { checkEntry, checkMeaning, checkOpening, isCount, type Opening } from "./entry";
import { canonical, isObject, type Json, type JsonObject, Malformed, parse, textOf, utf8 } from "./json";
import { leafHash, rootFromInclusion } from "./merkle";
import { type Checkpoint, decimal, parseCheckpoint, parseKey, parseNote, trustOf, type VerifierKey } from "./note";
import type { Bytes } from "./sha256";

export const STEPS = ["form", "key", "signature", "origin", "size", "position", "inclusion", "opening", "meaning"] as const;
export type Step = (typeof STEPS)[number];

export interface Verification {
  ok: boolean;
  step: Step;
  detail: string;
  origin: string;
  // The members below are claims until all steps have passed.
  entry: JsonObject | null;
  leafIndex: bigint;
  treeSize: bigint;
  openings: Opening[];
}

export interface Trust {
  key: VerifierKey;
  origin?: string | undefined; // absent: the name of the key
  rotations?: Uint8Array[]; // receipts of `key_rotated` entries, in order
}

interface Receipt {
  entry: JsonObject;
  bytes: string;
  leafIndex: bigint;
  treeSize: bigint;
  proof: Bytes[];
  checkpoint: string;
  openings: Opening[];
}

class Failure extends Error {
  constructor(
    readonly step: Step,
    detail: string,
  ) {
    super(detail);
  }
}

const MOST_PROOF = 64;
const TLOG = "c2sp.org/tlog-proof@v1\n";
const MEMBERS = ["schema", "entry", "leaf_index", "tree_size", "proof", "checkpoint", "openings"];

function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Malformed(message);
}

export function parseOpening(value: Json): Opening {
  ensure(isObject(value), "an opening is an object");
  for (const name in value) ensure(["path", "form", "salt", "value"].includes(name), "an opening has an unknown member");
  const path = value.path;
  const form = value.form;
  const salt = hash32(value.salt);
  const shown = value.value;
  ensure(typeof path === "string", "an opening lacks `path`");
  ensure(form === "json" || form === "raw", "`form` of an opening is `json` or `raw`");
  ensure(salt !== null, "`salt` of an opening is the base64 of 32 bytes");
  ensure(shown !== undefined, "an opening lacks `value`");
  const bytes = form === "json" ? canonical(shown) : typeof shown === "string" ? fromBase64(shown) : null;
  ensure(bytes !== null, "a raw `value` is not canonical base64");
  return { path, form, salt, value: bytes, shown };
}

function parseProof(lines: Json[]): Bytes[] {
  ensure(lines.length <= MOST_PROOF, "more than 64 proof hashes");
  return lines.map((line) => {
    const hash = hash32(line);
    ensure(hash !== null, "a proof hash is not the base64 of 32 bytes");
    return hash;
  });
}

function fromJson(text: string): Receipt {
  const receipt = parse(text);
  ensure(isObject(receipt), "a receipt is an object");
  for (const name in receipt) ensure(MEMBERS.includes(name), `unknown member \`${name.slice(0, 40)}\``);
  for (const name of MEMBERS) ensure(receipt[name] !== undefined, `\`${name}\` is missing`);
  ensure(receipt.schema === "sallyport.receipt.v1", "unknown schema, expected `sallyport.receipt.v1`");
  const entry = receipt.entry!;
  const [checkpoint, openings, proof] = [receipt.checkpoint, receipt.openings, receipt.proof];
  const [leafIndex, treeSize] = [receipt.leaf_index, receipt.tree_size];
  ensure(typeof checkpoint === "string", "`checkpoint` is not text");
  ensure(Array.isArray(openings), "`openings` is not a list");
  ensure(Array.isArray(proof), "`proof` is not a list");
  ensure(isCount(leafIndex) && isCount(treeSize), "`leaf_index` or `tree_size` is not a whole number");
  const bytes = canonical(entry);
  checkEntry(entry, bytes);
  return {
    entry, bytes, checkpoint, leafIndex: BigInt(leafIndex), treeSize: BigInt(treeSize), proof: parseProof(proof),
    openings: openings.map(parseOpening),
  };
}

function fromTlogProof(text: string): Receipt {
  const blank = text.indexOf("\n\n");
  ensure(blank >= 0, "tlog-proof: no empty line");
  const [, extra = "", index = "", ...hashes] = text.slice(0, blank).split("\n");
  const bytes = extra.startsWith("extra ") ? fromBase64(extra.slice(6)) : null;
  ensure(bytes !== null, "tlog-proof: the second line is not `extra` and the base64 of the entry");
  const entryText = textOf(bytes);
  const entry = parse(entryText);
  checkEntry(entry, canonical(entry));
  ensure(canonical(entry) === entryText, "tlog-proof: the entry is not canonical JSON");
  const leafIndex = index.startsWith("index ") ? decimal(index.slice(6)) : null;
  ensure(leafIndex !== null, "tlog-proof: the third line is not `index` and a number");
  const checkpoint = text.slice(blank + 2);
  const treeSize = parseCheckpoint(parseNote(checkpoint).text).size;
  return { entry, bytes: entryText, checkpoint, leafIndex, treeSize, proof: parseProof(hashes), openings: [] };
}

function parseReceipt(bytes: Uint8Array): Receipt {
  const text = textOf(bytes);
  return text.startsWith(TLOG) ? fromTlogProof(text) : fromJson(text);
}

// Turns a Malformed of `work` into a failure of the step.
async function inStep<T>(step: Step, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Malformed || error instanceof RangeError) throw new Failure(step, error.message);
    throw error;
  }
}

async function openCheckpoint(text: string, keys: VerifierKey[], wantedOrigin: string | undefined): Promise<Checkpoint> {
  const note = await inStep("form", () => parseNote(text));
  const checkpoint = await inStep("form", () => parseCheckpoint(note.text));
  const key = keys[keys.length - 1]!;
  const trust = await trustOf(note, keys);
  if (trust === "no_such_key") throw new Failure("key", `no signature by \`${key.name}\` with key id ${hex(key.id)}`);
  if (trust === "bad_signature") throw new Failure("signature", `the signature by \`${key.name}\` does not verify`);
  const origin = wantedOrigin ?? key.name;
  if (checkpoint.origin !== origin) throw new Failure("origin", `the checkpoint is of \`${checkpoint.origin.slice(0, 200)}\`, expected \`${origin}\``);
  return checkpoint;
}

async function checkReceipt(bytes: Uint8Array, keys: VerifierKey[], origin: string | undefined, out: Verification): Promise<void> {
  const receipt = await inStep("form", () => parseReceipt(bytes));
  const checkpoint = await openCheckpoint(receipt.checkpoint, keys, origin);
  Object.assign(out, {
    origin: checkpoint.origin, entry: receipt.entry, leafIndex: receipt.leafIndex, treeSize: receipt.treeSize, openings: receipt.openings,
  });
  if (receipt.treeSize !== checkpoint.size) {
    throw new Failure("size", `tree_size is ${receipt.treeSize}, the checkpoint says ${checkpoint.size}`);
  }
  const sequence = BigInt(receipt.entry.sequence as number);
  if (receipt.leafIndex !== sequence || sequence >= checkpoint.size) {
    throw new Failure("position", `leaf_index ${receipt.leafIndex}, sequence ${sequence} and tree_size ${checkpoint.size} do not fit`);
  }
  const root = rootFromInclusion(receipt.leafIndex, checkpoint.size, leafHash(receipt.bytes), receipt.proof);
  if (!root || !same(root, checkpoint.root)) {
    throw new Failure("inclusion", "the proof does not lead from this entry to the signed root");
  }
  for (const opening of receipt.openings) await inStep("opening", () => checkOpening(receipt.entry, opening));
  await inStep("meaning", () => checkMeaning(receipt.entry));
}

async function runSteps(check: (out: Verification) => Promise<void>, last: Step, passed: string): Promise<Verification> {
  const out: Verification = {
    ok: false, step: "form", detail: "", origin: "", entry: null, leafIndex: 0n, treeSize: 0n, openings: [],
  };
  try {
    await check(out);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { ...out, step: error.step, detail: error.message };
  }
  return { ...out, ok: true, step: last, detail: passed };
}

// Returns the next key of a rotation that `key` signed. Fails if `key` was reported compromised.
async function followRotation(bytes: Uint8Array, key: VerifierKey, origin: string | undefined): Promise<VerifierKey> {
  const rotation = await runSteps((out) => checkReceipt(bytes, [key], origin, out), "meaning", "");
  if (!rotation.ok) throw new Failure("key", `rotation receipt: ${rotation.step}: ${rotation.detail}`);
  const body = rotation.entry!.body as JsonObject;
  const after = body.new;
  if (rotation.entry!.kind !== "control" || body.control !== "key_rotated" || body.old !== key.text || typeof after !== "string") {
    throw new Failure("key", "the rotation receipt is not about the pinned key");
  }
  if (body.compromised !== false) {
    throw new Failure("key", "the old key was compromised when it was rotated: pin the new key by another way");
  }
  const next = await inStep("key", () => parseKey(after));
  if (next.name !== key.name) throw new Failure("key", "the rotation leads to a key of another name");
  return next;
}

async function trustedKeys(trust: Trust): Promise<VerifierKey[]> {
  const keys = [trust.key];
  for (const rotation of trust.rotations ?? []) keys.push(await followRotation(rotation, keys[keys.length - 1]!, trust.origin));
  return keys;
}

export function verifyReceipt(bytes: Uint8Array, trust: Trust): Promise<Verification> {
  return runSteps(async (out) => checkReceipt(bytes, await trustedKeys(trust), trust.origin, out), "meaning", "every step passed");
}

// Splits the list of `ledger receipt CALL --all`. Bytes that are not a list are one receipt.
export function receiptsIn(bytes: Uint8Array): Uint8Array[] {
  try {
    const text = textOf(bytes);
    if (!text.trimStart().startsWith("[")) return [bytes];
    const list = parse(text, 129);
    if (Array.isArray(list) && list.length > 0) return list.map((item) => utf8(canonical(item)));
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
  }
  return [bytes];
}
