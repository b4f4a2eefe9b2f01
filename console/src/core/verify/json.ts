// Strict JSON and its RFC 8785 form, as the program reads and writes its own documents: no member twice, no number
// but in its shortest form within 2^53-1, no lone surrogate, at most 128 levels.

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = Map<string, Json>;

export class Malformed extends Error {}

const MOST_BYTES = 16 * 1024 * 1024;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Record<string, string> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}

export function textOf(bytes: Uint8Array): string {
  if (bytes.length > MOST_BYTES) throw new Malformed("over 16 MiB");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Malformed("not valid UTF-8");
  }
}

class Reader {
  private at = 0;
  constructor(
    private readonly text: string,
    private depth: number,
  ) {}

  document(): Json {
    const value = this.value();
    this.blanks();
    if (this.at < this.text.length) throw this.wrong("text after the value");
    return value;
  }

  private wrong(why: string): Malformed {
    return new Malformed(`${why} at character ${this.at + 1}`);
  }

  private blanks(): void {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at++;
  }

  private take(wanted: string): boolean {
    this.blanks();
    if (this.text[this.at] !== wanted) return false;
    this.at++;
    return true;
  }

  private value(): Json {
    this.blanks();
    const next = this.text[this.at];
    if (next === "{") return this.inside(() => this.object());
    if (next === "[") return this.inside(() => this.array());
    if (next === '"') return this.string();
    for (const [word, value] of [["null", null], ["true", true], ["false", false]] as const) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return this.number();
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
    do {
      this.blanks();
      if (this.text[this.at] !== '"') throw this.wrong("a member name is missing");
      const name = this.string();
      if (object.has(name)) throw this.wrong("a member stands twice in one object");
      if (!this.take(":")) throw this.wrong("a colon is missing");
      object.set(name, this.value());
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
    let out = "";
    for (this.at++; ; ) {
      PLAIN.lastIndex = this.at;
      out += PLAIN.exec(this.text)![0];
      this.at = PLAIN.lastIndex;
      const next = this.text[this.at++];
      if (next === '"') break;
      if (next !== "\\") throw this.wrong("a string does not end or holds a control character");
      out += this.escape();
    }
    if (!wellFormed(out)) throw this.wrong("a lone surrogate");
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
  return !/\p{Surrogate}/u.test(text);
}

export function parse(text: string, depth = 128): Json {
  if (utf8(text).length > MOST_BYTES) throw new Malformed("over 16 MiB");
  return new Reader(text, depth).document();
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
