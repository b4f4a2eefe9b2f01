// Strict JSON and its RFC 8785 form, as the program reads and writes its own documents: no repeated member, only numbers
// in their shortest form within 2^53-1, no lone surrogate, at most 128 levels.

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

export class Malformed extends Error {}

const MOST_BYTES = 16 * 1024 * 1024;
const NUMBER = /[-+.0-9eE]+/y;
const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text) as Uint8Array<ArrayBuffer>;
}

// A UTF-16 unit has at most three bytes in UTF-8, so most texts need no encoding here.
export function longerThan(text: string, bytes: number): boolean {
  return text.length * 3 > bytes && utf8(text).length > bytes;
}

export function textOf(bytes: Uint8Array): string {
  if (bytes.length > MOST_BYTES) throw new Malformed("over 16 MiB");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Malformed("not valid UTF-8");
  }
}

function wellFormed(text: string): boolean {
  // The first pattern is fast. Most texts have no surrogate at all.
  return !/[\ud800-\udfff]/.test(text) || !/\p{Surrogate}/u.test(text);
}

interface Shape {
  members: number; // the number in all objects together
  sorted: boolean; // the names of each object are in order
}

function inspect(value: Json, depth: number, shape: Shape): void {
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) throw new Malformed("a number is beyond 2^53-1");
  if (typeof value !== "object" || value === null) return;
  if (depth === 0) throw new Malformed("nested too deep");
  if (Array.isArray(value)) {
    for (const item of value) inspect(item, depth - 1, shape);
    return;
  }
  let before = "";
  for (const name in value) {
    shape.members++;
    shape.sorted &&= before <= name;
    before = name;
    inspect(value[name]!, depth - 1, shape);
  }
}

function shapeOf(value: Json, depth: number): Shape {
  const shape = { members: 0, sorted: true };
  inspect(value, depth, shape);
  return shape;
}

function serialize(value: Json, shape: Shape): string {
  return shape.sorted ? JSON.stringify(value) : serializeSorted(value);
}

function serializeSorted(value: Json): string {
  if (Array.isArray(value)) return "[" + value.map(serializeSorted).join(",") + "]";
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return "{" + names.map((name) => JSON.stringify(name) + ":" + serializeSorted(value[name]!)).join(",") + "}";
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

// Counts the members in the text of valid JSON. JSON.parse silently drops the first of two members with the same name.
function membersIn(text: string): number {
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const next = text.charCodeAt(at);
    if (next === QUOTE) {
      for (let inside = 0; inside !== QUOTE; ) {
        inside = text.charCodeAt(++at);
        if (inside === BACKSLASH) at++;
      }
    } else if (next === 0x3a) {
      members++;
    } else if (next === 0x2d || (next >= 0x30 && next <= 0x39)) {
      NUMBER.lastIndex = at;
      const token = NUMBER.exec(text)![0];
      if (String(Number(token)) !== token) throw new Malformed(`a number is not in its shortest form at character ${at + 1}`);
      at += token.length - 1;
    }
  }
  return members;
}

export interface Document {
  value: Json;
  canonical: boolean; // the text is in canonical form
}

// The parser of the browser is fast but lenient. Its lenience does not survive in the canonical form: a text that equals
// its canonical form is strict. Any other text is scanned.
export function read(text: string, depth = 128): Document {
  if (longerThan(text, MOST_BYTES)) throw new Malformed("over 16 MiB");
  if (!wellFormed(text)) throw new Malformed("a lone surrogate");
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw new Malformed("not JSON");
  }
  const shape = shapeOf(value, depth);
  const form = serialize(value, shape);
  if (form.includes("\\ud") && /(?<!\\)(\\\\)*\\ud/.test(form)) throw new Malformed("a lone surrogate");
  if (form !== text && membersIn(text) !== shape.members) throw new Malformed("a member occurs twice in one object");
  return { value, canonical: form === text };
}

export function parse(text: string, depth = 128): Json {
  return read(text, depth).value;
}

export function canonical(value: Json): string {
  return serialize(value, shapeOf(value, Infinity));
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
