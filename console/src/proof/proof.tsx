// Proof: this browser checks receipts and checkpoints. The page warns that it comes from the same server that it checks.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, request } from "../core/api";
import { Failed, problemText, Row } from "../core/parts";
import { number, t, time, word } from "../core/text";
import { place, setFilters } from "../core/url";
import { shownValue, visible } from "../core/visible";
import { canonical } from "../core/verify/json";
import { canCheck, parseKey, type VerifierKey } from "../core/verify/note";
import { receiptsIn, STEPS, type Verification, verifyReceipt } from "../core/verify/receipt";
import { forget, type Memory, readCheckpoint, remember, storedAlarm } from "./memory";
import { Range } from "./range";

const PASTED_KEY = "sallyport.key";

interface Keys {
  keys: { key: string }[];
}

function Steps({ answer }: { answer: Verification }) {
  const at = STEPS.indexOf(answer.step);
  return (
    <p class="steps" data-step={answer.step} data-ok={String(answer.ok)}>
      {STEPS.map((step, i) => {
        if (!answer.ok && i > at) return null;
        const failed = !answer.ok && i === at;
        return (
          <span class={failed ? "failed" : "good"}>
            {failed ? "✗" : "✓"} {word("step", step)}{" "}
          </span>
        );
      })}
      {!answer.ok && <span class="failed">{visible(answer.detail)}</span>}
    </p>
  );
}

function Receipt({ answer }: { answer: Verification }) {
  return (
    <div class="receipt">
      <Steps answer={answer} />
      {answer.ok && (
        <dl class="facts">
          <Row name="proof.entry">{t("proof.of", { n: String(answer.leafIndex), size: String(answer.treeSize) })}</Row>
          {["kind", "recorded_at", "agent_id", "tool_name", "server", "outcome", "call_id", "policy_hash"].map((name) => {
            const value = answer.entry![name];
            return typeof value === "string" ? (
              <>
                <dt>{name}</dt>
                <dd>{visible(value)}</dd>
              </>
            ) : null;
          })}
          {answer.openings.map((opening) => (
            <Row name="proof.opened">
              <code>{visible(opening.path)}</code> {opening.form === "json" ? shownValue(canonical(opening.shown)) : t("proof.raw")}
            </Row>
          ))}
        </dl>
      )}
    </div>
  );
}

function MemoryLine({ memory }: { memory: Memory | null }) {
  const alarm = storedAlarm();
  if (alarm || memory?.kind === "alarm") {
    return (
      <p class="failed" role="alert" data-memory="alarm">
        ✗ {word("memory", alarm ?? (memory as { reason: string }).reason)}{" "}
        <button type="button" class="small" onClick={() => (forget(), location.reload())}>
          {t("memory.forget")}
        </button>
      </p>
    );
  }
  if (!memory) return <p class="quiet">{t("question.loading")}</p>;
  if (memory.kind === "unsigned" || memory.kind === "unchecked") {
    return (
      <p class="failed" data-memory={memory.kind}>
        ✗ {word("memory", memory.kind)}
      </p>
    );
  }
  if (memory.kind === "first") return <p data-memory="first">{t("memory.first", { n: Number(memory.size), size: number(memory.size) })}</p>;
  return (
    <p class="good" data-memory={memory.kind}>
      ✓ {t("memory.continues", { size: number(BigInt((memory as { stored: { size: string } }).stored.size)), time: time((memory as { stored: { seen: string } }).stored.seen) })}
    </p>
  );
}

export function Proof() {
  const entry = place.value.query.get("entry") ?? "";
  const [supported, setSupported] = useState<boolean | null>(null);
  const [serverKey, setServerKey] = useState("");
  const [pastedKey, setPastedKey] = useState(localStorage.getItem(PASTED_KEY) ?? "");
  const [memory, setMemory] = useState<Memory | null>(null);
  const [answers, setAnswers] = useState<Verification[]>([]);
  const [error, setError] = useState<unknown>(null);
  const newestCheck = useRef(0); // the number of the newest check; results of older checks are ignored
  const ownKey = pastedKey.trim();
  const matches = ownKey !== "" && ownKey === serverKey;
  const differs = ownKey !== "" && serverKey !== "" && ownKey !== serverKey;

  // The person's own key, or else the server's key, which proves little.
  async function key(): Promise<VerifierKey> {
    return parseKey(ownKey || serverKey);
  }
  useEffect(() => {
    void canCheck().then(setSupported);
    get<Keys>("log/keys").then((keys) => setServerKey(keys.keys[keys.keys.length - 1]?.key ?? ""), setError);
  }, []);
  useEffect(() => {
    if (!supported || !serverKey) return;
    if (differs) return setMemory({ kind: "unchecked" });
    void (async () => {
      try {
        setMemory(await remember(await readCheckpoint(), await key()));
      } catch (error) {
        setMemory({ kind: "unchecked" });
        setError(error);
      }
    })();
  }, [supported, serverKey, differs]);

  async function check(bytes: Uint8Array) {
    const thisCheck = ++newestCheck.current;
    setError(null);
    setAnswers([]);
    try {
      const trust = { key: await key() };
      const results: Verification[] = [];
      for (const receipt of receiptsIn(bytes)) results.push(await verifyReceipt(receipt, trust));
      if (thisCheck === newestCheck.current) setAnswers(results);
    } catch (error) {
      if (thisCheck === newestCheck.current) setError(error);
    }
  }
  // Results under one key mean nothing under another key.
  useEffect(() => {
    newestCheck.current++;
    setAnswers([]);
    setError(null);
  }, [ownKey]);
  useEffect(() => {
    if (!supported || !serverKey || entry === "") return;
    const controller = new AbortController();
    request(`entries/${encodeURIComponent(entry)}/receipt`, { signal: controller.signal })
      .then(async (response) => check(new Uint8Array(await response.arrayBuffer())))
      .catch((error: unknown) => controller.signal.aborted || setError(error));
    return () => controller.abort();
  }, [supported, serverKey, entry, ownKey]);

  if (supported === false) {
    return (
      <section class="page">
        <h1>{t("nav.proof")}</h1>
        <p class="failed" role="alert" data-cannot>
          {t("proof.cannot")}
        </p>
      </section>
    );
  }
  return (
    <section class="page">
      <h1>{t("nav.proof")}</h1>
      <p class="banner warn">
        {t("proof.from_server")} <a href="/console/verify.html">{t("proof.download")}</a>
      </p>
      <dl class="facts">
        <Row name="proof.key">
          <code>{serverKey}</code>
          <p data-key={matches ? "proved" : differs ? "wrong" : "unproved"} class={matches ? "good" : differs ? "failed" : "quiet"} role={differs ? "alert" : undefined}>
            {matches ? `✓ ${t("proof.proved")}` : differs ? `✗ ${t("proof.wrong")}` : `⚠ ${t("proof.unproved")}`}
          </p>
          <input
            type="text"
            value={pastedKey}
            aria-label={t("proof.paste")}
            placeholder={t("proof.paste")}
            spellcheck={false}
            onInput={(event) => {
              setPastedKey(event.currentTarget.value);
              localStorage.setItem(PASTED_KEY, event.currentTarget.value.trim());
            }}
          />
        </Row>
        <Row name="proof.memory">
          <MemoryLine memory={memory} />
        </Row>
        <Row name="proof.receipt">
          <form
            class="bar"
            onSubmit={(event) => {
              event.preventDefault();
              setFilters({ entry: ((event.currentTarget as HTMLFormElement).elements.namedItem("entry") as HTMLInputElement).value.trim() });
            }}
          >
            <input type="text" name="entry" inputMode="numeric" value={entry} aria-label={t("proof.number")} placeholder={t("proof.number")} />
            <button type="submit">{t("proof.check")}</button>
            <input
              type="file"
              aria-label={t("proof.file")}
              onChange={(event) => {
                const file = event.currentTarget.files?.[0];
                if (file) void file.arrayBuffer().then((buffer) => check(new Uint8Array(buffer)));
              }}
            />
          </form>
        </Row>
        {serverKey !== "" && (
          <Row name="proof.range">
            <Range signer={ownKey || serverKey} key={ownKey || serverKey} />
          </Row>
        )}
      </dl>
      {error !== null && <Failed problem={problemText(error)} />}
      {answers.map((answer) => (
        <Receipt answer={answer} />
      ))}
    </section>
  );
}
