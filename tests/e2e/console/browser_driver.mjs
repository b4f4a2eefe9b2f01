// Runs Playwright code for Python tests: one JSON line is a request, one is the answer. `open` makes a context with a page,
// `run` runs code in it with `page`, `context`, `browser`, `seen` and `args` in scope, `close` ends it.
import { createRequire } from "node:module";
import readline from "node:readline";

const require = createRequire(process.argv[2] + "/");
const { chromium } = require("playwright-core");
const { AxeBuilder } = require("@axe-core/playwright");
const AsyncFunction = (async () => {}).constructor;

const browser = await chromium.launch({ executablePath: process.argv[3], args: ["--disable-gpu", "--disable-background-networking"] });
const contexts = new Map();

// Actions that a page must never take: break its policy, throw, or send a request to another origin.
function watch(page, seen) {
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("console", (message) => {
    if (/Content Security Policy|TrustedScript|Refused to/.test(message.text())) seen.violations.push(message.text());
  });
  page.on("request", (request) => seen.requests.push(request.url()));
}

const actions = {
  async open({ id, options }) {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(60000);
    const seen = { errors: [], violations: [], requests: [] };
    context.on("page", (page) => watch(page, seen));
    await context.addInitScript(() => {
      window.__violations = [];
      document.addEventListener("securitypolicyviolation", (event) => window.__violations.push(event.violatedDirective + " " + event.blockedURI));
    });
    contexts.set(id, { context, page: await context.newPage(), seen });
  },
  async run({ id, code, args }) {
    const { context, page, seen } = contexts.get(id);
    return await new AsyncFunction("page", "context", "browser", "seen", "args", "AxeBuilder", code)(page, context, browser, seen, args, AxeBuilder);
  },
  async close({ id }) {
    await contexts.get(id).context.close();
    contexts.delete(id);
  },
};

process.stdout.write(JSON.stringify({ ready: browser.version() }) + "\n");
for await (const line of readline.createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  try {
    const value = await actions[asked.action](asked);
    process.stdout.write(JSON.stringify({ value: value === undefined ? null : value }) + "\n");
  } catch (error) {
    process.stdout.write(JSON.stringify({ error: String(error.stack ?? error) }) + "\n");
  }
}
await browser.close();
