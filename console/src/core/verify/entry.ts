// Checks the form of an entry, and openings against the commitments of its sealed fields.
import { hex } from "./encoding";
import { isObject, type Json, type JsonObject, longerThan, Malformed } from "./json";
import { type Bytes, sha256 } from "./sha256";

const MOST_BYTES = 65535;
const KINDS = "event intent tool_audit guard_hit approval trust grant topic hook_failed control model_audit".split(" ");
const REQUIRED = "body id instance_id kind recorded_at schema sequence".split(" ");
const TEXTS = new Set(("agent_id call_id id instance_id kind outcome policy_hash recorded_at run_id schema server session_id tool_name topic " +
  "trace_id").split(" "));
const REPEATED = ("policy_hash call_id session_id agent_id server tool_name outcome trace_id run_id topic topic_id instance_id " +
  "sequence").split(" ");
const SEALED = new Set(("answer args command cwd description detail details effective_input effects error escalations excerpt input " +
  "listen_context message nonce original output_preview payload prepared_snapshot prompt query_preview raw_input reason released " +
  "request requested_input result snapshot structured_input text undo_metadata value working_directory").split(" "));

export interface Opening {
  path: string;
  form: "json" | "raw";
  salt: Bytes;
  value: Bytes | string; // the bytes that were hashed
  shown: Json;
}

function isValidMember(name: string, value: Json): boolean {
  if (TEXTS.has(name)) return typeof value === "string";
  if (name === "sequence" || name === "topic_id") return isCount(value);
  if (name === "body") return isObject(value);
  return name === "redactions" && Array.isArray(value);
}

export function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

let knownSecond = ""; // the last valid second; entries of one second follow each other

function isTime(text: string): boolean {
  const second = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{6}Z$/.exec(text)?.[1];
  if (second === undefined || second === knownSecond) return second !== undefined;
  const time = new Date(second + "Z");
  if (Number.isNaN(time.getTime()) || time.toISOString().slice(0, 19) !== second) return false;
  knownSecond = second;
  return true;
}

function sealedText(value: Json | undefined): string | null {
  const digest = isObject(value) && Object.keys(value).length === 1 ? value["$sealed"] : undefined;
  return typeof digest === "string" ? digest : null;
}

function checkSealed(value: Json, name: string): void {
  if (SEALED.has(name)) {
    if (value !== null && !/^sha256:[0-9a-f]{64}$/.test(sealedText(value) ?? "")) {
      throw new Malformed(`a content field is not sealed at ${name}`);
    }
  } else if (isObject(value)) {
    for (const key in value) checkSealed(value[key]!, key);
  } else if (Array.isArray(value)) {
    for (const item of value) checkSealed(item, "");
  }
}

// `text` is the canonical form of `entry`.
export function checkEntry(entry: Json, text: string): asserts entry is JsonObject {
  if (longerThan(text, MOST_BYTES)) throw new Malformed("the entry is over 65,535 bytes");
  if (!isObject(entry)) throw new Malformed("an entry is an object");
  for (const name in entry) {
    if (!isValidMember(name, entry[name]!)) throw new Malformed(`an entry has no member \`${name.slice(0, 40)}\` of this form`);
  }
  for (const name of REQUIRED) if (entry[name] === undefined) throw new Malformed(`an entry lacks \`${name}\``);
  if (entry.schema !== "sallyport.entry.v1") throw new Malformed("unknown schema of the entry");
  if (!KINDS.includes(entry.kind as string)) throw new Malformed("unknown kind of entry");
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(entry.id as string)) {
    throw new Malformed("`id` of an entry has the wrong form");
  }
  if (!isTime(entry.recorded_at as string)) throw new Malformed("`recorded_at` of an entry has the wrong form");
  checkSealed(entry.body!, "");
}

// Undefined: the pointer is malformed, or the value has no such member.
function resolvePointer(value: Json, pointer: string): Json | undefined {
  if (pointer === "") return value;
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  let found: Json | undefined = value;
  for (const part of pointer.slice(1).split("/")) {
    const name = part.replace(/~1/g, "/").replace(/~0/g, "~");
    if (isObject(found)) found = Object.hasOwn(found, name) ? found[name] : undefined;
    else if (Array.isArray(found) && /^(0|[1-9][0-9]{0,8})$/.test(part)) found = found[Number(part)];
    else return undefined;
  }
  return found;
}

export function checkOpening(entry: JsonObject, opening: Opening): void {
  const digest = sealedText(resolvePointer(entry, opening.path));
  if (digest === null) throw new Malformed("an opening points at no sealed field at " + opening.path);
  const hash = sha256("sallyport/field/v1\n", opening.form === "json" ? "j" : "r", opening.salt, opening.value);
  if (digest !== "sha256:" + hex(hash)) throw new Malformed("an opening does not match its commitment at " + opening.path);
}

export function checkMeaning(entry: JsonObject): void {
  const body = entry.body as JsonObject;
  for (const name of REPEATED) {
    let inner = body[name];
    if (name === "outcome" && isObject(inner)) inner = inner.kind;
    const outer = entry[name];
    // Compares values of the same type only: some kinds use these names for a richer value of another type.
    if (outer === undefined || typeof inner !== typeof outer || inner === null) continue;
    if (typeof inner === "number" && !Number.isInteger(inner)) continue;
    if (inner !== outer) throw new Malformed(`\`${name}\` of the entry and of its body differ`);
  }
}
