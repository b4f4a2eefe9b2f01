// Pure modules of the console, without a browser.
import assert from "node:assert/strict";
import test from "node:test";
import { pathToFileURL } from "node:url";

const { FrameCutter, lineDiff, TwoActs, parse, read, canonical, consistent, sha256, visible } = await import(pathToFileURL(process.argv[2]));

const STREAM = ": open\n\nid: 7\nevent: approvals\ndata: {\"a\":1}\n\nevent: health\ndata: {}\n\n: 2026-11-16T20:00:15.000000Z\n\ndata: x\ndata: y\n\n";
const WANTED = [{ event: "approvals", id: "7", data: '{"a":1}' }, { event: "health", id: "", data: "{}" }, { event: "message", id: "", data: "x\ny" }];

test("a stream that is cut anywhere gives the same frames", () => {
  for (let first = 0; first <= STREAM.length; first++) {
    for (let second = first; second <= STREAM.length; second += 7) {
      const cutter = new FrameCutter();
      const frames = [];
      const comments = [];
      for (const piece of [STREAM.slice(0, first), STREAM.slice(first, second), STREAM.slice(second)]) {
        const got = cutter.take(piece);
        frames.push(...got.frames);
        comments.push(...got.comments);
      }
      assert.deepEqual(frames, WANTED);
      assert.deepEqual(comments, ["open", "2026-11-16T20:00:15.000000Z"]);
    }
  }
});

test("half a frame is no frame", () => {
  assert.deepEqual(new FrameCutter().take("id: 8\nevent: approvals\ndata: {}\n").frames, []);
});

test("a difference holds both texts", () => {
  const texts = ["", "a", "a\nb\nc", "a\nx\nc", "c\nb\na", "a\nb\nc\nd\ne\nf", "b\nc\nx\ne"];
  for (const before of texts) {
    for (const now of texts) {
      const lines = lineDiff(before, now);
      assert.equal(lines.filter((line) => line.kind !== "new").map((line) => line.text).join("\n"), before);
      assert.equal(lines.filter((line) => line.kind !== "old").map((line) => line.text).join("\n"), now);
      if (before === now) assert.ok(lines.every((line) => line.kind === "same"));
    }
  }
  const long = (word) => Array.from({ length: 3000 }, (_, i) => word + i).join("\n");
  assert.equal(lineDiff(long("a"), long("b")).length, 6000);
});

const act = (at, more = {}) => ({ at, trusted: true, repeated: false, x: 10, y: 10, ...more });
const box = { left: 100, top: 100, right: 200, bottom: 140 };

// CO-33
test("an answer takes two acts, a second after it appeared and 400 ms apart", () => {
  const acts = new TwoActs();
  assert.equal(acts.choose("approve", act(5000)), false); // never seen
  acts.appeared(1000);
  assert.equal(acts.choose("approve", act(1999)), false);
  assert.equal(acts.choose("approve", act(2000, { trusted: false })), false);
  assert.equal(acts.choose("approve", act(2000, { repeated: true })), false);
  assert.equal(acts.confirm(act(9000), box), null);
  assert.equal(acts.choose("approve", act(2000)), true);
  assert.equal(acts.confirm(act(2399), box), null);
  assert.equal(acts.confirm(act(2400, { trusted: false }), box), null);
  assert.equal(acts.confirm(act(2400, { repeated: true }), box), null);
  assert.equal(acts.confirm(act(2400), box), "approve");
  assert.equal(acts.confirm(act(3000), box), null); // one confirmation, one answer
});

// CO-33, CO-35
test("the second act is at another place, and what vanishes takes the first back", () => {
  const acts = new TwoActs();
  acts.appeared(0);
  acts.choose("deny", act(1000, { x: 150, y: 120 }));
  assert.equal(acts.confirm(act(2000), box), null);
  assert.equal(acts.vanished(), true);
  acts.appeared(3000);
  assert.equal(acts.choose("deny", act(3500)), false);
  assert.equal(acts.confirm(act(5000), box), null);
  assert.equal(acts.choose("approve", act(4000)), true);
  assert.equal(acts.choose("deny", act(4100)), true); // the other choice is a first step again
  assert.equal(acts.confirm(act(4450), box), null);
  assert.equal(acts.confirm(act(4500), box), "deny");
});

// CO-51 (partly)
test("JSON is read strictly and written in one way", () => {
  for (const bad of ['{"a":1,"a":2}', '{"a":1, "a":1}', '{"\\u0061":1,"a":2}', '[{"a":[1]},{"b":{"c":1,"c":1}}]', '{"__proto__":1,"__proto__":2}', '{"1":1,"1":1}', "[1e400]", "[ 1.50 ]", '["\\\\\\ud800"]', '{"\\udfff":1}', '["\\ude00\\ud83d"]', "[1.0]", "[-0]", "[1e2]", "[01]", "[9007199254740992]", '["\\ud800"]', '["\u0001"]', "[1] x", "[", "nul", "\ufeff[]", "[" .repeat(129) + "]".repeat(129)]) {
    assert.throws(() => parse(bad), undefined, bad);
  }
  assert.equal(canonical(parse('{ "b" : [1, true, null, 0.5, 1e+21 ] }'.replace("1e+21", "2"))), '{"b":[1,true,null,0.5,2]}');
  assert.equal(canonical(parse('{"\\u20ac":1,"\\r":2,"\\ufb33":3,"1":4,"\\ud83d\\ude00":5,"\\u0080":6,"\\u00f6":7}')), '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
});

// CO-51 (partly), CO-55 (partly)
test("whether a text is canonical is seen while it is read", () => {
  const good = ['{"a":1,"b":[{"c":"\u20ac"}]}', '["\\n"]', '["\\u001f"]', '{"\u{1f600}":1,"\ufb33":2}', "[]", "{}", '"x"', "7", '{"":1,"\\u0000":2}', '{"10":1,"9":2}', '{"__proto__":{"a":1},"b":2}',
    '["\\\\ud800"]', "[1e-7,0.5,-1]", '{"a":"{\\"b\\":1,\\"b\\":2}"}'];
  const other = ['{"b":1,"a":2}', '{"a": 1}', ' {"a":1}', '{"a":1}\n', '{"a":{"z":1,"b":2}}', '["\\u0041"]', '["\\u000a"]', '["\\/"]', '["\\u001F"]', '{"\\u20ac":1}', '{"\ufb33":2,"\u{1f600}":1}',
    '["\\ud83d\\ude00"]', "[ ]", "{ }", '{"9":1,"10":2}', '["\\\\\\\\ud800", 1]', '{"a":"{\\"b\\":1,\\"b\\":2}" }', "[1e-7, 0.5]"];
  for (const text of [...good, ...other]) assert.deepEqual(read(text), { value: JSON.parse(text), canonical: good.includes(text) }, text);
});

// CO-51 (partly): of every length up to five blocks
test("our SHA-256 is that of WebCrypto and of FIPS 180-4", async () => {
  const hex = (bytes) => Buffer.from(bytes).toString("hex");
  assert.equal(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert.equal(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(hex(sha256("a".repeat(1_000_000))), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  for (let length = 0; length <= 320; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 131 + length * 17) & 255);
    assert.equal(hex(sha256(bytes.slice(0, length >> 1), bytes.slice(length >> 1))), hex(await crypto.subtle.digest("SHA-256", bytes)), `${length} bytes`);
  }
});

// CO-53 (partly): every pair of sizes of a small tree
test("a tree continues its own past and no other", async () => {
  const hash = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", Buffer.concat(parts)));
  const leaves = await Promise.all(Array.from({ length: 9 }, (_, i) => hash(Buffer.from([0, i]))));
  const split = (n) => 2 ** Math.floor(Math.log2(n - 1));
  const root = async (list) => (list.length === 1 ? list[0] : hash(Buffer.from([1]), await root(list.slice(0, split(list.length))), await root(list.slice(split(list.length)))));
  const prove = async (m, list, known) => {
    if (m === list.length) return known ? [] : [await root(list)];
    const k = split(list.length);
    if (m <= k) return [...(await prove(m, list.slice(0, k), known)), await root(list.slice(k))];
    return [...(await prove(m - k, list.slice(k), false)), await root(list.slice(0, k))];
  };
  for (let size = 1; size <= 9; size++) {
    for (let old = 1; old <= size; old++) {
      const proof = await prove(old, leaves.slice(0, size), true);
      const roots = [await root(leaves.slice(0, old)), await root(leaves.slice(0, size))];
      assert.equal(consistent(BigInt(old), roots[0], BigInt(size), roots[1], proof), true, `${old} ${size}`);
      assert.equal(consistent(BigInt(old), leaves[8], BigInt(size), roots[1], proof), false);
      if (old < size) assert.equal(consistent(BigInt(old), roots[0], BigInt(size), roots[1], [...proof, leaves[0]]), false);
    }
  }
});

test("what hides or turns text around stands as its number", () => {
  assert.equal(visible("a\u202eb\u200bc\u0007\n<b>"), "a\\u{202E}b\\u{200B}c\\u{7}\n<b>");
});
