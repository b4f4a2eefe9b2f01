// A key of this browser: Ed25519, kept in IndexedDB. It cannot be exported, not even by this page.
import { base64 } from "../core/verify/encoding";
import { sha256 } from "../core/verify/sha256";
import { toBase64url } from "./bytes";

const STORE = "keys";

interface Kept {
  id: string;
  key: CryptoKey;
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function store(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  const opening = indexedDB.open("sallyport", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "id" });
  return (await done(opening)).transaction(STORE, mode).objectStore(STORE);
}

// The public key, for its enrolment.
export async function makeBrowserKey(): Promise<string> {
  const pair = (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])) as CryptoKeyPair;
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey));
  const kept: Kept = { id: toBase64url(sha256(spki)), key: pair.privateKey };
  await done((await store("readwrite")).put(kept));
  return toBase64url(spki);
}

export async function hasBrowserKey(ids: string[]): Promise<string | null> {
  if (ids.length === 0) return null;
  const known = new Set((await done((await store("readonly")).getAllKeys())).map(String));
  return ids.find((id) => known.has(id)) ?? null;
}

// As a reviewer's registered key would: `ed25519:` and base64.
export async function signWithBrowserKey(id: string, text: string): Promise<string> {
  const kept = (await done((await store("readonly")).get(id))) as Kept;
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", kept.key, new TextEncoder().encode(text)));
  return "ed25519:" + base64(signature);
}

export async function forgetBrowserKey(id: string): Promise<void> {
  await done((await store("readwrite")).delete(id));
}
