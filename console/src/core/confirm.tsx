// An act that changes something takes two: the button, and a yes at another place.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Failed } from "./parts";
import { t } from "./text";

interface Props {
  label: string;
  question: string;
  act: (key: string) => Promise<void>; // `key` is the same for every repeat of one act
  disabled?: boolean;
  why?: string | undefined; // it is disabled
  children?: ComponentChildren; // what is asked for between the two acts
}

export function Confirm({ label, question, act, disabled, why, children }: Props) {
  const [key, setKey] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const no = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (key !== null) no.current?.focus();
  }, [key]);
  const yes = async () => {
    setBusy(true);
    setFailed(null);
    try {
      await act(key!);
      setKey(null);
    } catch (error) {
      setFailed(error);
    }
    setBusy(false);
  };
  return (
    <div class="confirming">
      {children}
      <button type="button" disabled={disabled || key !== null} onClick={() => setKey(crypto.randomUUID())}>
        {label}
      </button>
      {disabled && why && <span class="quiet">{why}</span>}
      {key !== null && (
        <div class="confirm" role="group" aria-label={question}>
          <p>{question}</p>
          <button type="button" ref={no} disabled={busy} onClick={() => setKey(null)}>
            {t("confirm.no")}
          </button>
          <button type="button" class="primary" disabled={busy} onClick={() => void yes()}>
            {t("confirm.yes")}
          </button>
        </div>
      )}
      {failed !== null && <Failed problem={failed} />}
    </div>
  );
}
