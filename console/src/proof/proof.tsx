// Receipts and checkpoints, checked in this browser. The page came from the server that is checked, and says so.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, get } from "../core/api";
import { Failed, Row, told } from "../core/parts";
import { number, t, time, word } from "../core/text";
import { filter, place } from "../core/url";
import { shownValue, visible } from "../core/visible";
import { canonical } from "../core/verify/json";
import { canCheck, parseKey, type VerifierKey } from "../core/verify/note";
import { receiptsIn, STEPS, type Verification, verifyReceipt } from "../core/verify/receipt";
import { alarm, checkpoint, forget, type Memory, remember } from "./memory";
import { Range } from "./range";

const PASTED = "sallyport.key";

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
  const kept = alarm();
  if (kept || memory?.kind === "alarm") {
    return (
      <p class="failed" role="alert" data-memory="alarm">
        ✗ {word("memory", kept ?? (memory as { why: string }).why)}{" "}
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
      ✓ {t("memory.continues", { size: number(BigInt((memory as { kept: { size: string } }).kept.size)), time: time((memory as { kept: { seen: string } }).kept.seen) })}
    </p>
  );
}

export function Proof() {
  const entry = place.value.query.get("entry") ?? "";
  const [able, setAble] = useState<boolean | null>(null);
  const [given, setGiven] = useState("");
  const [pasted, setPasted] = useState(localStorage.getItem(PASTED) ?? "");
  const [memory, setMemory] = useState<Memory | null>(null);
  const [answers, setAnswers] = useState<Verification[]>([]);
  const [failed, setFailed] = useState<unknown>(null);
  const turn = useRef(0); // of the newest check; what an older one finds counts no more
  const clean = pasted.trim();
  const proved = clean !== "" && clean === given;
  const wrong = clean !== "" && given !== "" && clean !== given;

  // The key that counts: the person's own, else the server's, which proves little.
  async function key(): Promise<VerifierKey> {
    return parseKey(clean || given);
  }
  useEffect(() => {
    void canCheck().then(setAble);
    get<Keys>("log/keys").then((keys) => setGiven(keys.keys[keys.keys.length - 1]?.key ?? ""), setFailed);
  }, []);
  useEffect(() => {
    if (!able || !given) return;
    if (wrong) return setMemory({ kind: "unchecked" });
    void (async () => {
      try {
        setMemory(await remember(await checkpoint(), await key()));
      } catch (error) {
        setMemory({ kind: "unchecked" });
        setFailed(error);
      }
    })();
  }, [able, given, wrong]);

  async function check(bytes: Uint8Array) {
    const mine = ++turn.current;
    setFailed(null);
    setAnswers([]);
    try {
      const trust = { key: await key() };
      const found: Verification[] = [];
      for (const receipt of receiptsIn(bytes)) found.push(await verifyReceipt(receipt, trust));
      if (mine === turn.current) setAnswers(found);
    } catch (error) {
      if (mine === turn.current) setFailed(error);
    }
  }
  // What was checked with one key says nothing under another.
  useEffect(() => {
    turn.current++;
    setAnswers([]);
    setFailed(null);
  }, [clean]);
  useEffect(() => {
    if (!able || !given || entry === "") return;
    ask(`entries/${encodeURIComponent(entry)}/receipt`).then(async (response) => check(new Uint8Array(await response.arrayBuffer())), setFailed);
  }, [able, given, entry, clean]);

  if (able === false) {
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
          <code>{given}</code>
          <p data-key={proved ? "proved" : wrong ? "wrong" : "unproved"} class={proved ? "good" : wrong ? "failed" : "quiet"} role={wrong ? "alert" : undefined}>
            {proved ? `✓ ${t("proof.proved")}` : wrong ? `✗ ${t("proof.wrong")}` : `⚠ ${t("proof.unproved")}`}
          </p>
          <input
            type="text"
            value={pasted}
            aria-label={t("proof.paste")}
            placeholder={t("proof.paste")}
            spellcheck={false}
            onInput={(event) => {
              setPasted(event.currentTarget.value);
              localStorage.setItem(PASTED, event.currentTarget.value.trim());
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
              filter({ entry: ((event.currentTarget as HTMLFormElement).elements.namedItem("entry") as HTMLInputElement).value.trim() });
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
        {given !== "" && (
          <Row name="proof.range">
            <Range signer={clean || given} key={clean || given} />
          </Row>
        )}
      </dl>
      {failed !== null && <Failed problem={told(failed)} />}
      {answers.map((answer) => (
        <Receipt answer={answer} />
      ))}
    </section>
  );
}
