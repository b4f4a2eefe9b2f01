// verify.html: checks receipts and exports of the log from disk. The page may open no connection. All input comes from the
// person.
import { visible } from "./core/visible";
import { hex } from "./core/verify/encoding";
import { Malformed } from "./core/verify/json";
import { canCheck, parseKey } from "./core/verify/note";
import { type Fault, LineCutter, RangeCheck } from "./core/verify/range";
import { receiptsIn, type Step, STEPS, type Verification, verifyReceipt } from "./core/verify/receipt";

const MEANINGS: Record<Step, string> = {
  form: "strict JSON of a known schema",
  key: "signed under the pinned name and key id",
  signature: "the pinned key signed this checkpoint",
  origin: "the checkpoint is of the expected log",
  size: "tree_size is the checkpoint's",
  position: "leaf_index is the entry's sequence, inside the tree",
  inclusion: "the proof leads from this entry to the signed root",
  opening: "each opened value matches its commitment",
  meaning: "the entry and its body agree",
};
const ROWS = ["kind", "recorded_at", "agent_id", "tool_name", "server", "outcome", "call_id", "run_id", "policy_hash"];

type Child = Node | string;

function makeElement(name: string, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function steps(answer: Verification): HTMLElement {
  const list = makeElement("ol", { "aria-label": "steps" });
  for (const step of STEPS) {
    const failed = !answer.ok && answer.step === step;
    list.append(makeElement("li", failed ? { class: "bad" } : {}, makeElement("span", { class: failed ? "bad" : "good" }, failed ? "✗" : "✓"), makeElement("span", {}, step),
      makeElement("span", failed ? {} : { class: "quiet" }, failed ? visible(answer.detail) : MEANINGS[step])));
    if (failed) break;
  }
  return list;
}

// Only for a receipt that passed all steps: before that, its members are claims.
function meaning(answer: Verification): HTMLElement {
  const list = makeElement("dl");
  const row = (name: string, value: Child) => list.append(makeElement("dt", {}, name), makeElement("dd", {}, value));
  row("entry", `${answer.leafIndex} of ${answer.treeSize}`);
  row("log", visible(answer.origin));
  for (const name of ROWS) {
    const value = answer.entry![name];
    if (typeof value === "string") row(name, visible(value));
  }
  for (const opening of answer.openings) {
    const text = typeof opening.value === "string" ? opening.value : hex(opening.value);
    row("opened", makeElement("div", {}, visible(opening.path), makeElement("pre", {}, visible(text))));
  }
  return list;
}

function receiptSection(answer: Verification, title: string): HTMLElement {
  return makeElement("section", { "data-step": answer.step, "data-ok": String(answer.ok) }, makeElement("h2", {}, visible(title)), steps(answer),
    makeElement("p", { class: answer.ok ? "good" : "bad" }, answer.ok ? "✓ Verified." : `✗ NOT VALID at step ${answer.step}.`), ...(answer.ok ? [meaning(answer)] : []));
}

const EXPORT = /^\{"(entry|leaf|checkpoint)":/;
const YIELD_INTERVAL = 50; // ms of work between two updates of the page

async function isExport(file: Blob): Promise<boolean> {
  return EXPORT.test(await file.slice(0, 20).text());
}

// Checks a range from disk as `sallyport ledger verify FILE` does. Yields often, so that the page stays usable.
async function checkExport(file: Blob, check: RangeCheck, progress: (size: number) => void): Promise<Fault | null> {
  const cutter = new LineCutter();
  const reader = file.stream().pipeThrough(new TextDecoderStream("utf-8", { fatal: true, ignoreBOM: true })).getReader();
  let lastYield = Date.now();
  for (;;) {
    const { done, value } = await reader.read();
    for (const line of done ? cutter.end() : cutter.take(value)) {
      const fault = await check.take(line);
      if (fault) return fault;
      if (Date.now() - lastYield < YIELD_INTERVAL) continue;
      progress(check.size);
      await new Promise((resolve) => setTimeout(resolve));
      lastYield = Date.now();
    }
    if (done) return check.finish();
  }
}

function rangeSection(fault: Fault | null, check: RangeCheck, title: string): HTMLElement {
  const verdict = fault
    ? makeElement("p", { class: "bad" }, `✗ NOT VALID. The first bad entry is ${fault.sequence} (${fault.check}): ${visible(fault.detail)}.`)
    : makeElement("p", { class: "good" }, `✓ Verified: entries 0 to ${check.size - 1} are those that the log signed.`);
  return makeElement("section", { "data-range": fault ? "bad" : "good", "data-sequence": fault ? String(fault.sequence) : "" }, makeElement("h2", {}, visible(title)), verdict);
}

function bytesOf(file: File): Promise<Uint8Array> {
  return file.arrayBuffer().then((buffer) => new Uint8Array(buffer));
}

function field(id: string, label: string, hint: string, input: HTMLElement): Child[] {
  input.id = id;
  return [makeElement("label", { for: id }, label, makeElement("span", { class: "quiet" }, " " + hint)), input];
}

function start(): void {
  const page = document.getElementById("page")!;
  const key = makeElement("input", { autocomplete: "off", spellcheck: "false" }) as HTMLInputElement;
  const origin = makeElement("input", { autocomplete: "off", spellcheck: "false" }) as HTMLInputElement;
  const files = makeElement("input", { type: "file", multiple: "" }) as HTMLInputElement;
  const rotations = makeElement("input", { type: "file", multiple: "" }) as HTMLInputElement;
  const text = makeElement("textarea", { rows: "6", spellcheck: "false" }) as HTMLTextAreaElement;
  const button = makeElement("button", { type: "button" }, "Verify");
  const results = makeElement("div", { role: "status" });

  async function check(): Promise<void> {
    if (!(await canCheck())) {
      results.replaceChildren(makeElement("p", { class: "bad", "data-cannot": "" }, "✗ This browser cannot check: it lacks WebCrypto or Ed25519. Nothing was checked."));
      return;
    }
    const trust = {
      key: await parseKey(key.value.trim()),
      origin: origin.value.trim() || undefined,
      rotations: await Promise.all(Array.from(rotations.files ?? [], bytesOf)),
    };
    const sections: HTMLElement[] = [];
    const receipts: { name: string; bytes: Uint8Array }[] = [];
    for (const file of Array.from(files.files ?? [])) {
      if (!(await isExport(file))) {
        receipts.push({ name: file.name, bytes: await bytesOf(file) });
        continue;
      }
      const range = new RangeCheck(trust.key);
      const fault = await checkExport(file, range, (size) => results.replaceChildren(makeElement("p", { class: "quiet" }, `Checking… ${size} entries`)));
      sections.push(rangeSection(fault, range, file.name));
    }
    if (text.value.trim() !== "") receipts.push({ name: "pasted text", bytes: new TextEncoder().encode(text.value) });
    for (const { name, bytes } of receipts) {
      const list = receiptsIn(bytes);
      for (const [i, receipt] of list.entries()) {
        sections.push(receiptSection(await verifyReceipt(receipt, trust), list.length > 1 ? `${name}, receipt ${i + 1} of ${list.length}` : name));
      }
    }
    results.replaceChildren(...(sections.length > 0 ? sections : [makeElement("p", { class: "bad" }, "Give a receipt: a file, or its text; or the file of an export.")]));
  }

  button.addEventListener("click", () => {
    results.replaceChildren(makeElement("p", { class: "quiet" }, "Checking…"));
    check().catch((error: unknown) => {
      const reason = error instanceof Malformed ? `The key cannot be read: ${error.message}.` : `The check did not end: ${String(error)}. Nothing is verified.`;
      results.replaceChildren(makeElement("p", { class: "bad", "data-failed": "" }, "✗ " + visible(reason)));
    });
  });
  page.append(makeElement("h1", {}, "Verify receipts of Sallyport"),
    makeElement("p", { class: "quiet" }, "This file connects to nothing. It checks what ", makeElement("code", {}, "sallyport verify"),
      " checks, in the same nine steps. A receipt proves nothing without a key that reached you another way than the receipt."),
    ...field("key", "Verifier key", "name+hhhhhhhh+base64", key), ...field("files", "Receipts", "or exports of the log: files", files), ...field("text", "or their text", "", text),
    ...field("origin", "Log", "if it is not the name of the key", origin), ...field("rotations", "Receipts of key rotations", "oldest first", rotations),
    button, results);
}

start();
