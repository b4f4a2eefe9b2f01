// Enrols a new key. The key waits until the registered key or a passkey of the same person signs for it.
import { useEffect, useState } from "preact/hooks";
import { get, request } from "../core/api";
import { Failed } from "../core/parts";
import { t } from "../core/text";
import { findBrowserKey, makeBrowserKey } from "./browser_key";
import { fromBase64url } from "./bytes";
import { hasPasskeys, makePasskey, signWithPasskey } from "./passkey";

export interface Key {
  credential_id: string;
  kind: "passkey" | "browser_key";
  alg: string;
  origin: string;
  enrolled_at: string;
  vouched_by: string;
}

interface Offer {
  code: string;
  challenge: string;
  statement: { credential_id: string };
  passkeys: string[];
}

export async function readKeys(): Promise<Key[]> {
  return (await get<{ items: Key[] }>("passkeys")).items;
}

const codeText = (code: string) => code.replace(/^(....)/, "$1-");

function PendingKey({ offer, onDone, onError }: { offer: Offer; onDone: () => void; onError: (error: unknown) => void }) {
  const id = offer.statement.credential_id;
  useEffect(() => {
    const timer = setInterval(() => {
      void readKeys()
        .then((keys) => keys.some((key) => key.credential_id === id) && onDone())
        .catch(onError);
    }, 1000);
    return () => clearInterval(timer);
  }, [id]);
  async function sign() {
    try {
      const signature = await signWithPasskey(fromBase64url(offer.challenge), offer.passkeys);
      await request("passkeys", { method: "POST", body: { code: offer.code, signature } });
      onDone();
    } catch (error) {
      onError(error);
    }
  }
  return (
    <section class="stack waiting" aria-live="polite" data-code={offer.code}>
      <p>{t("keys.sign_for")}</p>
      <pre class="shown">sallyport passkeys add {codeText(offer.code)}</pre>
      <p class="quiet">{t("keys.code_good")}</p>
      {offer.passkeys.length > 0 && (
        <p>
          <button type="button" onClick={() => void sign()}>
            {t("keys.sign_by_passkey")}
          </button>
        </p>
      )}
    </section>
  );
}

export function Enrol({ onAdded }: { onAdded: () => void }) {
  const [offer, setOffer] = useState<Offer | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  async function add(make: () => Promise<unknown>) {
    setBusy(true);
    setError(null);
    try {
      setOffer((await (await request("passkeys", { method: "POST", body: await make() })).json()) as Offer);
    } catch (error) {
      setError(error);
    }
    setBusy(false);
  }
  function done() {
    setOffer(null);
    setError(null);
    onAdded();
  }
  return (
    <>
      {error !== null && <Failed problem={error} />}
      {offer ? (
        <PendingKey offer={offer} onDone={done} onError={setError} />
      ) : (
        <p class="bar">
          <button type="button" class="primary" disabled={busy || !hasPasskeys} data-add="passkey" onClick={() => void add(makePasskey)}>
            {t("keys.add_passkey")}
          </button>
          <button type="button" disabled={busy} data-add="browser_key" onClick={() => void add(async () => ({ public_key: await makeBrowserKey() }))}>
            {t("keys.add_browser_key")}
          </button>
        </p>
      )}
    </>
  );
}

// True if this browser has the key. Unknown, so false, for a passkey.
export async function isLocal(key: Key): Promise<boolean> {
  return key.kind === "browser_key" && (await findBrowserKey([key.credential_id])) !== null;
}
