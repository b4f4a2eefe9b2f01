// Strict JSON and its RFC 8785 form, as the program reads and writes its own documents: no member twice, no number
// but in its shortest form within 2^53-1, no lone surrogate, at most 128 levels.

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = Map<string, Json>;

export class Malformed extends Error {}

const MOST_BYTES = 16 * 1024 * 1024;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPES: Record<string, string> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text) as Uint8Array<ArrayBuffer>;
}

// A character has at most three bytes: most texts need not be encoded to know.
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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

class Reader {
  private at = 0;
  canonical = true; // so far
  readonly members = new Map<string, string>(); // of the outermost object, as they are written

  constructor(
    private readonly text: string,
    private depth: number,
    private readonly outermost = depth - 1,
  ) {}

  document(): Json {
    if (!wellFormed(this.text)) throw this.wrong("a lone surrogate");
    const value = this.value();
    this.blanks();
    if (this.at < this.text.length) throw this.wrong("text after the value");
    return value;
  }

  private wrong(why: string): Malformed {
    return new Malformed(`${why} at character ${this.at + 1}`);
  }

  private blanks(): void {
    for (;;) {
      const next = this.text.charCodeAt(this.at);
      if (next !== 0x20 && next !== 0x0a && next !== 0x0d && next !== 0x09) return;
      this.canonical = false;
      this.at++;
    }
  }

  private take(wanted: string): boolean {
    this.blanks();
    if (this.text[this.at] !== wanted) return false;
    this.at++;
    return true;
  }

  private value(): Json {
    this.blanks();
    switch (this.text[this.at]) {
      case "{":
        return this.inside(() => this.object());
      case "[":
        return this.inside(() => this.array());
      case '"':
        return this.string();
      case "n":
        return this.word("null", null);
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      default:
        return this.number();
    }
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) throw this.wrong("not JSON");
    this.at += word.length;
    return value;
  }

  private inside<T>(read: () => T): T {
    if (this.depth === 0) throw this.wrong("nested too deep");
    this.depth--;
    this.at++;
    const value = read();
    this.depth++;
    return value;
  }

  private object(): JsonObject {
    const object: JsonObject = new Map();
    if (this.take("}")) return object;
    let before: string | null = null;
    do {
      this.blanks();
      if (this.text[this.at] !== '"') throw this.wrong("a member name is missing");
      const name = this.string();
      if (object.has(name)) throw this.wrong("a member stands twice in one object");
      if (before !== null && name < before) this.canonical = false;
      before = name;
      if (!this.take(":")) throw this.wrong("a colon is missing");
      const from = this.at;
      object.set(name, this.value());
      if (this.depth === this.outermost) this.members.set(name, this.text.slice(from, this.at));
    } while (this.take(","));
    if (!this.take("}")) throw this.wrong("an object does not end");
    return object;
  }

  private array(): Json[] {
    const array: Json[] = [];
    if (this.take("]")) return array;
    do array.push(this.value());
    while (this.take(","));
    if (!this.take("]")) throw this.wrong("a list does not end");
    return array;
  }

  private string(): string {
    const from = this.at++;
    let out = "";
    let escaped = false;
    for (let begin = this.at; ; begin = this.at) {
      let next: number;
      do next = this.text.charCodeAt(this.at++);
      while (next !== QUOTE && next !== BACKSLASH && next >= 0x20);
      out += this.text.slice(begin, this.at - 1);
      if (next === QUOTE) break;
      if (next !== BACKSLASH) throw this.wrong("a string does not end or holds a control character");
      out += this.escape();
      escaped = true;
    }
    if (!escaped) return out;
    if (!wellFormed(out)) throw this.wrong("a lone surrogate");
    if (JSON.stringify(out) !== this.text.slice(from, this.at)) this.canonical = false;
    return out;
  }

  private escape(): string {
    const letter = this.text[this.at++] ?? "";
    const plain = ESCAPES[letter];
    if (plain !== undefined) return plain;
    const digits = this.text.slice(this.at, this.at + 4);
    if (letter !== "u" || !/^[0-9a-fA-F]{4}$/.test(digits)) throw this.wrong("an unknown escape");
    this.at += 4;
    return String.fromCharCode(parseInt(digits, 16));
  }

  private number(): number {
    NUMBER.lastIndex = this.at;
    const token = NUMBER.exec(this.text)?.[0];
    if (token === undefined) throw this.wrong("not JSON");
    const value = Number(token);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER || String(value) !== token) {
      throw this.wrong("a number is not in its shortest form within 2^53-1");
    }
    this.at += token.length;
    return value;
  }
}

function wellFormed(text: string): boolean {
  // Most texts have none at all, which the first pattern sees at once.
  return !/[\ud800-\udfff]/.test(text) || !/\p{Surrogate}/u.test(text);
}

export interface Document {
  value: Json;
  members: Map<string, string> | null; // of the outermost object, as they are written; null: not in canonical form
}

export function read(text: string, depth = 128): Document {
  if (longerThan(text, MOST_BYTES)) throw new Malformed("over 16 MiB");
  const reader = new Reader(text, depth);
  const value = reader.document();
  return { value, members: reader.canonical ? reader.members : null };
}

export function parse(text: string, depth = 128): Json {
  return read(text, depth).value;
}

export function canonical(value: Json): string {
  if (value instanceof Map) {
    const names = [...value.keys()].sort((a, b) => (a < b ? -1 : 1));
    return "{" + names.map((name) => JSON.stringify(name) + ":" + canonical(value.get(name)!)).join(",") + "}";
  }
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return value instanceof Map;
}
