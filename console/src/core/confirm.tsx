// A button that asks for a confirmation at another place before it acts.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isTransient, Problem } from "./api";
import { Failed } from "./parts";
import { t } from "./text";

interface Props {
  label: string;
  question: string;
  act: (key: string) => Promise<void>; // `key` is the same for each retry of one act
  disabled?: boolean;
  disabledReason?: string | undefined; // why the button is disabled
  children?: ComponentChildren; // fields before the button
}

export function Confirm({ label, question, act, disabled, disabledReason, children }: Props) {
  const [key, setKey] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const noButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (key !== null) noButton.current?.focus();
  }, [key]);
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await act(key!);
      setKey(null);
    } catch (error) {
      setError(error);
      // The server keeps its answer under the key. A corrected request is another act.
      if (error instanceof Problem && !isTransient(error)) setKey(crypto.randomUUID());
    }
    setBusy(false);
  };
  return (
    <div class="confirming">
      {children}
      <button type="button" disabled={disabled || key !== null} onClick={() => setKey(crypto.randomUUID())}>
        {label}
      </button>
      {disabled && disabledReason && <span class="quiet">{disabledReason}</span>}
      {key !== null && (
        <div class="confirm" role="group" aria-label={question}>
          <p>{question}</p>
          <button type="button" ref={noButton} disabled={busy} onClick={() => setKey(null)}>
            {t("confirm.no")}
          </button>
          <button type="button" class="primary" disabled={busy} onClick={() => void confirm()}>
            {t("confirm.yes")}
          </button>
        </div>
      )}
      {error !== null && <Failed problem={error} />}
    </div>
  );
}
