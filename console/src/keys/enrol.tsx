// A new key waits until the registered key, or a passkey of the same person, signs for it.
import { useEffect, useState } from "preact/hooks";
import { ask, get } from "../core/api";
import { Failed } from "../core/parts";
import { t } from "../core/text";
import { hasBrowserKey, makeBrowserKey } from "./browser_key";
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

const spaced = (code: string) => code.replace(/^(....)/, "$1-");

function Waiting({ offer, onDone, onFailed }: { offer: Offer; onDone: () => void; onFailed: (error: unknown) => void }) {
  const id = offer.statement.credential_id;
  useEffect(() => {
    const timer = setInterval(() => {
      void readKeys()
        .then((keys) => keys.some((key) => key.credential_id === id) && onDone())
        .catch(onFailed);
    }, 1000);
    return () => clearInterval(timer);
  }, [id]);
  async function sign() {
    try {
      const signature = await signWithPasskey(fromBase64url(offer.challenge), offer.passkeys);
      await ask("passkeys", { method: "POST", body: { code: offer.code, signature } });
      onDone();
    } catch (error) {
      onFailed(error);
    }
  }
  return (
    <section class="stack waiting" aria-live="polite" data-code={offer.code}>
      <p>{t("keys.sign_for")}</p>
      <pre class="shown">sallyport passkeys add {spaced(offer.code)}</pre>
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
  const [failed, setFailed] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  async function add(make: () => Promise<unknown>) {
    setBusy(true);
    setFailed(null);
    try {
      setOffer((await (await ask("passkeys", { method: "POST", body: await make() })).json()) as Offer);
    } catch (error) {
      setFailed(error);
    }
    setBusy(false);
  }
  function done() {
    setOffer(null);
    setFailed(null);
    onAdded();
  }
  return (
    <>
      {failed !== null && <Failed problem={failed} />}
      {offer ? (
        <Waiting offer={offer} onDone={done} onFailed={setFailed} />
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

// Is this a key that this browser holds?
export async function isHere(key: Key): Promise<boolean> {
  return key.kind === "browser_key" && (await hasBrowserKey([key.credential_id])) !== null;
}
