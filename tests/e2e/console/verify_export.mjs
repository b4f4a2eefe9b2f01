// Checks exports of the log with the console's verifier. argv: the bundle, the key, files; prints a JSON line per file.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [bundle, key, ...files] = process.argv.slice(2);
const { parseKey, RangeCheck, LineCutter } = await import(pathToFileURL(bundle));

for (const file of files) {
  const check = new RangeCheck(await parseKey(key));
  let fault = null;
  const text = readFileSync(file, "latin1");
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const cutter = new LineCutter();
    const lines = [...cutter.take(decoder.decode(Buffer.from(text, "latin1"))), ...cutter.end()];
    for (const line of lines) if ((fault = await check.take(line))) break;
    fault ??= await check.finish();
  } catch (error) {
    fault = { sequence: -1, check: "entry_bytes", detail: String(error) };
  }
  process.stdout.write(JSON.stringify({ ok: fault === null, size: check.size, fault }) + "\n");
}
