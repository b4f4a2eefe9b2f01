// A key of this browser: Ed25519, stored in IndexedDB. No code can export it, not even this page.
import { base64 } from "../core/verify/encoding";
import { sha256 } from "../core/verify/sha256";
import { toBase64url } from "./bytes";

const STORE = "keys";

interface StoredKey {
  id: string;
  key: CryptoKey;
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function openStore(mode: IDBTransactionMode): Promise<IDBObjectStore> {
  const opening = indexedDB.open("sallyport", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "id" });
  return (await result(opening)).transaction(STORE, mode).objectStore(STORE);
}

// Makes and stores a key. Returns the public key for the enrolment.
export async function makeBrowserKey(): Promise<string> {
  const pair = (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])) as CryptoKeyPair;
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey));
  const stored: StoredKey = { id: toBase64url(sha256(spki)), key: pair.privateKey };
  await result((await openStore("readwrite")).put(stored));
  return toBase64url(spki);
}

export async function findBrowserKey(ids: string[]): Promise<string | null> {
  if (ids.length === 0) return null;
  const known = new Set((await result((await openStore("readonly")).getAllKeys())).map(String));
  return ids.find((id) => known.has(id)) ?? null;
}

// The same format as a signature by a reviewer's registered key: `ed25519:` and base64.
export async function signWithBrowserKey(id: string, text: string): Promise<string> {
  const stored = (await result((await openStore("readonly")).get(id))) as StoredKey;
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", stored.key, new TextEncoder().encode(text)));
  return "ed25519:" + base64(signature);
}

export async function deleteBrowserKey(id: string): Promise<void> {
  await result((await openStore("readwrite")).delete(id));
}
