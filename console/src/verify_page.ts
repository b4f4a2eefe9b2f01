// The page that checks receipts and exports of the log from disk. It may connect to nothing; what it knows comes from the person.
import { visible } from "./core/visible";
import { hex } from "./core/verify/encoding";
import { Malformed } from "./core/verify/json";
import { canCheck, parseKey } from "./core/verify/note";
import { LineCutter, RangeCheck, type Fault } from "./core/verify/range";
import { receiptsIn, STEPS, type Step, type Verification, verifyReceipt } from "./core/verify/receipt";

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

function make(name: string, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function steps(answer: Verification): HTMLElement {
  const list = make("ol", { "aria-label": "steps" });
  for (const step of STEPS) {
    const failed = !answer.ok && answer.step === step;
    list.append(make("li", failed ? { class: "bad" } : {}, make("span", { class: failed ? "bad" : "good" }, failed ? "✗" : "✓"), make("span", {}, step),
      make("span", failed ? {} : { class: "quiet" }, failed ? visible(answer.detail) : MEANINGS[step])));
    if (failed) break;
  }
  return list;
}

// Only said of a receipt that passed: until then these are claims.
function meaning(answer: Verification): HTMLElement {
  const list = make("dl");
  const row = (name: string, value: Child) => list.append(make("dt", {}, name), make("dd", {}, value));
  row("entry", `${answer.leafIndex} of ${answer.treeSize}`);
  row("log", visible(answer.origin));
  for (const name of ROWS) {
    const value = answer.entry![name];
    if (typeof value === "string") row(name, visible(value));
  }
  for (const opening of answer.openings) {
    const text = typeof opening.value === "string" ? opening.value : hex(opening.value);
    row("opened", make("div", {}, visible(opening.path), make("pre", {}, visible(text))));
  }
  return list;
}

function shown(answer: Verification, title: string): HTMLElement {
  return make("section", { "data-step": answer.step, "data-ok": String(answer.ok) }, make("h2", {}, visible(title)), steps(answer),
    make("p", { class: answer.ok ? "good" : "bad" }, answer.ok ? "✓ Verified." : `✗ NOT VALID at step ${answer.step}.`), ...(answer.ok ? [meaning(answer)] : []));
}

const EXPORT = /^\{"(entry|leaf|checkpoint)":/;
const TURN = 50; // milliseconds of work between two looks at the page

async function isExport(file: Blob): Promise<boolean> {
  return EXPORT.test(await file.slice(0, 20).text());
}

// A range from disk, as `sallyport ledger verify FILE` checks it. The page stays usable meanwhile.
async function checkExport(file: Blob, check: RangeCheck, progress: (size: number) => void): Promise<Fault | null> {
  const cutter = new LineCutter();
  const reader = file.stream().pipeThrough(new TextDecoderStream("utf-8", { fatal: true, ignoreBOM: true })).getReader();
  let rested = Date.now();
  for (;;) {
    const { done, value } = await reader.read();
    for (const line of done ? cutter.end() : cutter.take(value)) {
      const fault = await check.take(line);
      if (fault) return fault;
      if (Date.now() - rested < TURN) continue;
      progress(check.size);
      await new Promise((turn) => setTimeout(turn));
      rested = Date.now();
    }
    if (done) return check.finish();
  }
}

function shownRange(fault: Fault | null, check: RangeCheck, title: string): HTMLElement {
  const said = fault
    ? make("p", { class: "bad" }, `✗ NOT VALID. The first bad entry is ${fault.sequence} (${fault.check}): ${visible(fault.detail)}.`)
    : make("p", { class: "good" }, `✓ Verified: entries 0 to ${check.size - 1} are those that the log signed.`);
  return make("section", { "data-range": fault ? "bad" : "good", "data-sequence": fault ? String(fault.sequence) : "" }, make("h2", {}, visible(title)), said);
}

function bytesOf(file: File): Promise<Uint8Array> {
  return file.arrayBuffer().then((buffer) => new Uint8Array(buffer));
}

function field(id: string, label: string, hint: string, input: HTMLElement): Child[] {
  input.id = id;
  return [make("label", { for: id }, label, make("span", { class: "quiet" }, " " + hint)), input];
}

function start(): void {
  const page = document.getElementById("page")!;
  const key = make("input", { autocomplete: "off", spellcheck: "false" }) as HTMLInputElement;
  const origin = make("input", { autocomplete: "off", spellcheck: "false" }) as HTMLInputElement;
  const files = make("input", { type: "file", multiple: "" }) as HTMLInputElement;
  const rotations = make("input", { type: "file", multiple: "" }) as HTMLInputElement;
  const text = make("textarea", { rows: "6", spellcheck: "false" }) as HTMLTextAreaElement;
  const button = make("button", { type: "button" }, "Verify");
  const results = make("div", { role: "status" });

  async function check(): Promise<void> {
    if (!(await canCheck())) {
      results.replaceChildren(make("p", { class: "bad", "data-cannot": "" }, "✗ This browser cannot check: it lacks WebCrypto or Ed25519. Nothing was checked."));
      return;
    }
    const trust = {
      key: await parseKey(key.value.trim()),
      origin: origin.value.trim() || undefined,
      rotations: await Promise.all(Array.from(rotations.files ?? [], bytesOf)),
    };
    const sections: HTMLElement[] = [];
    const given: { name: string; bytes: Uint8Array }[] = [];
    for (const file of Array.from(files.files ?? [])) {
      if (!(await isExport(file))) {
        given.push({ name: file.name, bytes: await bytesOf(file) });
        continue;
      }
      const range = new RangeCheck(trust.key);
      const fault = await checkExport(file, range, (size) => results.replaceChildren(make("p", { class: "quiet" }, `Checking… ${size} entries`)));
      sections.push(shownRange(fault, range, file.name));
    }
    if (text.value.trim() !== "") given.push({ name: "pasted text", bytes: new TextEncoder().encode(text.value) });
    for (const { name, bytes } of given) {
      const list = receiptsIn(bytes);
      for (const [i, receipt] of list.entries()) {
        sections.push(shown(await verifyReceipt(receipt, trust), list.length > 1 ? `${name}, receipt ${i + 1} of ${list.length}` : name));
      }
    }
    results.replaceChildren(...(sections.length > 0 ? sections : [make("p", { class: "bad" }, "Give a receipt: a file, or its text; or the file of an export.")]));
  }

  button.addEventListener("click", () => {
    results.replaceChildren(make("p", { class: "quiet" }, "Checking…"));
    check().catch((error: unknown) => {
      const why = error instanceof Malformed ? `The key cannot be read: ${error.message}.` : `The check did not end: ${String(error)}. Nothing is verified.`;
      results.replaceChildren(make("p", { class: "bad", "data-failed": "" }, "✗ " + visible(why)));
    });
  });
  page.append(make("h1", {}, "Verify receipts of Sallyport"),
    make("p", { class: "quiet" }, "This file connects to nothing. It checks what ", make("code", {}, "sallyport verify"),
      " checks, in the same nine steps. A receipt proves nothing without a key that reached you another way than the receipt."),
    ...field("key", "Verifier key", "name+hhhhhhhh+base64", key), ...field("files", "Receipts", "or exports of the log: files", files), ...field("text", "or their text", "", text),
    ...field("origin", "Log", "if it is not the name of the key", origin), ...field("rotations", "Receipts of key rotations", "oldest first", rotations),
    button, results);
}

start();
