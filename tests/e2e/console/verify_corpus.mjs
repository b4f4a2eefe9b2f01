// Checks receipts with the verifier of the console: lines of {"receipt":BASE64,"key":..,"origin":..} to lines of {"ok","step"}.
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const { verifyReceipt, parseKey } = await import(pathToFileURL(process.argv[2]));
const keys = new Map();
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { receipt, key, origin } = JSON.parse(line);
  if (!keys.has(key)) keys.set(key, await parseKey(key));
  const answer = await verifyReceipt(new Uint8Array(Buffer.from(receipt, "base64")), { key: keys.get(key), origin });
  process.stdout.write(JSON.stringify({ ok: answer.ok, step: answer.step, detail: answer.detail }) + "\n");
}
