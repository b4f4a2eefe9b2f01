// The tree of RFC 6962.
import { type Bytes, same, sha256 } from "./encoding";
import { utf8 } from "./json";

const LEAF = new Uint8Array([0]);
const NODE = new Uint8Array([1]);

export function leafHash(entry: string): Promise<Bytes> {
  return sha256(LEAF, utf8(entry));
}

function nodeHash(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(NODE, left, right);
}

// The root to which the proof leads from a leaf; null where the proof has another length than the tree asks for.
export async function rootFromInclusion(index: bigint, size: bigint, leaf: Bytes, proof: Bytes[]): Promise<Bytes | null> {
  if (index >= size) return null;
  let hash = leaf;
  let node = index;
  let last = size - 1n;
  for (const sibling of proof) {
    if (last === 0n) return null;
    if ((node & 1n) !== 0n || node === last) {
      hash = await nodeHash(sibling, hash);
      // A lone node is carried up without a sibling of its own.
      while ((node & 1n) === 0n && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      hash = await nodeHash(hash, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n ? hash : null;
}

// Does the tree of `size` begin with the tree of `oldSize`?
export async function consistent(oldSize: bigint, oldRoot: Bytes, size: bigint, root: Bytes, proof: Bytes[]): Promise<boolean> {
  if (oldSize === size) return proof.length === 0 && same(oldRoot, root);
  if (oldSize === 0n || oldSize > size || proof.length === 0) return false;
  let next = 0;
  // Where the old tree is a perfect subtree, its root is known and not repeated in the proof.
  const perfect = (oldSize & (oldSize - 1n)) === 0n;
  const start = perfect ? oldRoot : proof[next++]!;
  let oldHash = start;
  let newHash = start;
  let node = oldSize - 1n;
  let last = size - 1n;
  while ((node & 1n) !== 0n) {
    node >>= 1n;
    last >>= 1n;
  }
  for (const sibling of proof.slice(next)) {
    if (last === 0n) return false;
    if ((node & 1n) !== 0n || node === last) {
      oldHash = await nodeHash(sibling, oldHash);
      newHash = await nodeHash(sibling, newHash);
      while ((node & 1n) === 0n && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      newHash = await nodeHash(newHash, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n && same(oldHash, oldRoot) && same(newHash, root);
}
