// A range of the log, checked by a worker while the page stays usable.
import { useEffect, useRef, useState } from "preact/hooks";
import { BASE, pageSecret } from "../core/api";
import { ownWorker } from "../core/stream";
import { number, t, word } from "../core/text";
import { visible } from "../core/visible";
import type { Asked, Told } from "./range_check";

const CHOICES = [1000, 100_000, 0];

function Outcome({ told }: { told: Told | null }) {
  if (!told) return null;
  if (told.kind === "progress") {
    return (
      <p data-range="running">
        <progress aria-label={t("range.progress")} max={told.size - told.first} value={told.done - told.first} />{" "}
        {t("range.done", { done: number(told.done - told.first), all: number(told.size - told.first) })}
      </p>
    );
  }
  if (told.kind === "good") {
    return (
      <p class="good" data-range="good">
        ✓ {t("range.good", { first: number(told.first), last: number(told.size - 1) })}
      </p>
    );
  }
  if (told.kind === "failed") return <p class="failed" data-range="failed">{t("range.failed", { detail: visible(told.detail) })}</p>;
  return (
    <p class="failed" data-range="bad" data-sequence={told.fault.sequence}>
      ✗ {t("range.bad", { n: number(told.fault.sequence) })} {word("check", told.fault.check)}: {visible(told.fault.detail)}
    </p>
  );
}

// `signer` is the key that counts.
export function Range({ signer }: { signer: string }) {
  const [last, setLast] = useState(CHOICES[0]!);
  const [told, setTold] = useState<Told | null>(null);
  const worker = useRef<Worker | null>(null);
  const running = told?.kind === "progress";
  const stop = () => {
    worker.current?.terminate();
    worker.current = null;
  };
  useEffect(() => stop, []);
  const start = () => {
    stop();
    const made = (worker.current = ownWorker());
    setTold({ kind: "progress", first: 0, done: 0, size: 1 });
    made.onmessage = (message: MessageEvent<Told>) => {
      setTold(message.data);
      if (message.data.kind !== "progress") stop();
    };
    made.onerror = () => setTold({ kind: "failed", status: 0, detail: "the worker ended" });
    made.postMessage({ base: location.origin + BASE, secret: pageSecret() ?? "", key: signer, last } satisfies Asked);
  };
  return (
    <>
      <div class="bar">
        <select aria-label={t("proof.range")} value={String(last)} disabled={running} onChange={(event) => setLast(Number(event.currentTarget.value))}>
          {CHOICES.map((choice) => (
            <option value={String(choice)}>{choice === 0 ? t("range.all") : t("range.last", { n: choice, count: number(choice) })}</option>
          ))}
        </select>
        {running ? (
          <button type="button" onClick={() => (stop(), setTold(null))}>
            {t("range.stop")}
          </button>
        ) : (
          <button type="button" data-check-range onClick={start}>
            {t("proof.check")}
          </button>
        )}
      </div>
      <div role="status">
        <Outcome told={told} />
      </div>
    </>
  );
}
