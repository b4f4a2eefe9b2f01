// SHA-256 (FIPS 180-4), synchronous. WebCrypto returns a promise for each hash, which is too slow for a range of the log:
// each entry has several hashes.
export type Bytes = Uint8Array<ArrayBuffer>;

// The first 32 bits of the fractional parts of the roots of the first primes.
function fractions(count: number, root: (n: number) => number): Int32Array {
  const values = new Int32Array(count);
  for (let n = 2, at = 0; at < count; n++) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= n; divisor++) prime &&= n % divisor !== 0;
    if (prime) values[at++] = ((root(n) % 1) * 2 ** 32) | 0;
  }
  return values;
}

const ROUNDS = fractions(64, Math.cbrt);
const START = fractions(8, Math.sqrt);
const words = new Int32Array(64);
const state = new Int32Array(8);

function compress(bytes: Uint8Array, from: number): void {
  for (let i = 0, at = from; i < 16; i++, at += 4) words[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15]!;
    const y = words[i - 2]!;
    const small = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const large = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[i] = (words[i - 16]! + small + words[i - 7]! + large) | 0;
  }
  let a = state[0]!, b = state[1]!, c = state[2]!, d = state[3]!, e = state[4]!, f = state[5]!, g = state[6]!, h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const mixed = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + mixed + (g ^ (e & (f ^ g))) + ROUNDS[i]! + words[i]!) | 0;
    const turned = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (turned + ((a & b) | (c & (a | b)))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

const BLOCK = 64;
const encoder = new TextEncoder();
let padded = new Uint8Array(1 << 12); // each call uses it again

// Writes the text to `padded` at `at` and returns its length in bytes. The encoder is slower for short texts.
function writeText(text: string, at: number): number {
  if (text.length < BLOCK) {
    let i = 0;
    for (; i < text.length && text.charCodeAt(i) < 0x80; i++) padded[at + i] = text.charCodeAt(i);
    if (i === text.length) return i;
  }
  return encoder.encodeInto(text, padded.subarray(at)).written;
}

export function sha256(...parts: (string | Uint8Array)[]): Bytes {
  let length = 0;
  for (const part of parts) {
    const needed = length + part.length * 3 + 2 * BLOCK; // a character has at most three bytes
    if (needed > padded.length) {
      const larger = new Uint8Array(2 * needed);
      larger.set(padded);
      padded = larger;
    }
    if (typeof part !== "string") padded.set(part, length);
    length += typeof part === "string" ? writeText(part, length) : part.length;
  }
  // The padding: a one bit, zeros, and the length of the message in bits as eight bytes.
  const end = Math.ceil((length + 9) / BLOCK) * BLOCK;
  padded.fill(0, length, end);
  padded[length] = 0x80;
  for (let i = 1, bits = length * 8; bits > 0; i++, bits = Math.floor(bits / 256)) padded[end - i] = bits;
  state.set(START);
  for (let block = 0; block < end; block += BLOCK) compress(padded, block);
  const hash = new Uint8Array(32);
  for (let i = 0; i < 32; i++) hash[i] = state[i >> 2]! >>> (24 - 8 * (i & 3));
  return hash;
}
