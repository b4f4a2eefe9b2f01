// Checks a range of the log in a worker, so that the page stays usable.
import { useEffect, useRef, useState } from "preact/hooks";
import { BASE, pageSecret } from "../core/api";
import { startPageWorker } from "../core/stream";
import { number, t, word } from "../core/text";
import { visible } from "../core/visible";
import type { RangeMessage, RangeRequest } from "./range_check";

const CHOICES = [1000, 100_000, 0];

function Outcome({ message }: { message: RangeMessage | null }) {
  if (!message) return null;
  if (message.kind === "progress") {
    return (
      <p data-range="running">
        <progress aria-label={t("range.progress")} max={message.size - message.first} value={message.done - message.first} />{" "}
        {t("range.done", { done: number(message.done - message.first), all: number(message.size - message.first) })}
      </p>
    );
  }
  if (message.kind === "good") {
    return (
      <p class="good" data-range="good">
        ✓ {t("range.good", { first: number(message.first), last: number(message.size - 1) })}
      </p>
    );
  }
  if (message.kind === "failed") return <p class="failed" data-range="failed">{t("range.failed", { detail: visible(message.detail) })}</p>;
  return (
    <p class="failed" data-range="bad" data-sequence={message.fault.sequence}>
      ✗ {t("range.bad", { n: number(message.fault.sequence) })} {word("check", message.fault.check)}: {visible(message.fault.detail)}
    </p>
  );
}

// `signer` is the key that must have signed the log.
export function Range({ signer }: { signer: string }) {
  const [last, setLast] = useState(CHOICES[0]!);
  const [message, setMessage] = useState<RangeMessage | null>(null);
  const worker = useRef<Worker | null>(null);
  const running = message?.kind === "progress";
  const stop = () => {
    worker.current?.terminate();
    worker.current = null;
  };
  useEffect(() => stop, []);
  const start = () => {
    stop();
    const started = (worker.current = startPageWorker());
    setMessage({ kind: "progress", first: 0, done: 0, size: 1 });
    started.onmessage = (message: MessageEvent<RangeMessage>) => {
      setMessage(message.data);
      if (message.data.kind !== "progress") stop();
    };
    started.onerror = () => setMessage({ kind: "failed", status: 0, detail: "the worker ended" });
    started.postMessage({ base: location.origin + BASE, secret: pageSecret() ?? "", key: signer, last } satisfies RangeRequest);
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
          <button type="button" onClick={() => (stop(), setMessage(null))}>
            {t("range.stop")}
          </button>
        ) : (
          <button type="button" data-check-range onClick={start}>
            {t("proof.check")}
          </button>
        )}
      </div>
      <div role="status">
        <Outcome message={message} />
      </div>
    </>
  );
}
