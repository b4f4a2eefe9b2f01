// The Merkle tree of RFC 6962.
import { same } from "./encoding";
import { type Bytes, sha256 } from "./sha256";

const LEAF = new Uint8Array([0]);
const NODE = new Uint8Array([1]);

export function leafHash(entry: string): Bytes {
  return sha256(LEAF, entry);
}

export function nodeHash(left: Bytes, right: Bytes): Bytes {
  return sha256(NODE, left, right);
}

// The root that the proof gives for a leaf. Null: the length of the proof does not fit the tree.
export function rootFromInclusion(index: bigint, size: bigint, leaf: Bytes, proof: Bytes[]): Bytes | null {
  if (index >= size) return null;
  let hash = leaf;
  let node = index;
  let last = size - 1n;
  for (const sibling of proof) {
    if (last === 0n) return null;
    if ((node & 1n) !== 0n || node === last) {
      hash = nodeHash(sibling, hash);
      // A node without a sibling moves up unchanged.
      while ((node & 1n) === 0n && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      hash = nodeHash(hash, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n ? hash : null;
}

// True if the tree of `size` begins with the tree of `oldSize`.
export function consistent(oldSize: bigint, oldRoot: Bytes, size: bigint, root: Bytes, proof: Bytes[]): boolean {
  if (oldSize === size) return proof.length === 0 && same(oldRoot, root);
  if (oldSize === 0n || oldSize > size || proof.length === 0) return false;
  let next = 0;
  // If the old tree is a perfect subtree, the proof does not repeat its root.
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
      oldHash = nodeHash(sibling, oldHash);
      newHash = nodeHash(sibling, newHash);
      while ((node & 1n) === 0n && node !== 0n) {
        node >>= 1n;
        last >>= 1n;
      }
    } else {
      newHash = nodeHash(newHash, sibling);
    }
    node >>= 1n;
    last >>= 1n;
  }
  return last === 0n && same(oldHash, oldRoot) && same(newHash, root);
}
