// The person's own keys and sessions.
import { useEffect, useState } from "preact/hooks";
import { ask, get } from "../core/api";
import { Failed } from "../core/parts";
import { roles } from "../core/session";
import { Table } from "../core/table";
import { t, time, word } from "../core/text";
import { forgetBrowserKey } from "./browser_key";
import { Enrol, isHere, type Key, readKeys } from "./enrol";

interface OwnSession {
  id: string;
  current: boolean;
  how: string;
  created_at: string;
  used_at: string;
  address: string;
}

function Keys() {
  const [keys, setKeys] = useState<Key[] | null>(null);
  const [here, setHere] = useState<Set<string>>(new Set());
  const [failed, setFailed] = useState<unknown>(null);
  async function read() {
    try {
      const all = await readKeys();
      const own = new Set<string>();
      for (const key of all) if (await isHere(key)) own.add(key.credential_id);
      setKeys(all);
      setHere(own);
    } catch (error) {
      setFailed(error);
    }
  }
  useEffect(() => void read(), []);
  async function remove(key: Key) {
    try {
      await ask(`passkeys/${encodeURIComponent(key.credential_id)}`, { method: "DELETE" });
      if (here.has(key.credential_id)) await forgetBrowserKey(key.credential_id);
      await read();
    } catch (error) {
      setFailed(error);
    }
  }
  return (
    <section class="stack">
      <h2>{t("keys.title")}</h2>
      <p class="quiet">{t("keys.about")}</p>
      {failed !== null && <Failed problem={failed} />}
      {keys !== null && keys.length === 0 && <p class="quiet">{t("keys.none")}</p>}
      {keys !== null && keys.length > 0 && (
        <Table label={t("keys.title")} heads={["keys.kind", "keys.page", "keys.enrolled", "keys.vouched"]} acts>
          {keys.map((key) => (
            <tr key={key.credential_id} data-key={key.credential_id}>
              <td>
                {word("keys", key.kind)} {here.has(key.credential_id) && <span class="quiet">({t("keys.here")})</span>}
              </td>
              <td>{key.origin}</td>
              <td class="fixed">{time(key.enrolled_at)}</td>
              <td>{word("keys.by", key.vouched_by)}</td>
              <td>
                <button type="button" class="small" onClick={() => void remove(key)}>
                  {t("keys.remove")}
                </button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Enrol onAdded={() => void read()} />
    </section>
  );
}

function Sessions() {
  const [sessions, setSessions] = useState<OwnSession[]>([]);
  const [failed, setFailed] = useState<unknown>(null);
  async function read() {
    try {
      setSessions((await get<{ items: OwnSession[] }>("sessions")).items);
    } catch (error) {
      setFailed(error);
    }
  }
  useEffect(() => void read(), []);
  async function end(id: string) {
    try {
      await ask(`sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
      await read();
    } catch (error) {
      setFailed(error);
    }
  }
  return (
    <section class="stack">
      <h2>{t("sessions.title")}</h2>
      {failed !== null && <Failed problem={failed} />}
      <Table label={t("sessions.title")} heads={["sessions.how", "sessions.since", "sessions.used", "sessions.address"]} acts>
        {sessions.map((one) => (
          <tr key={one.id} data-session={one.id}>
            <td>{word("how", one.how)}</td>
            <td class="fixed">{time(one.created_at)}</td>
            <td class="fixed">{time(one.used_at)}</td>
            <td>{one.address}</td>
            <td>
              {one.current ? (
                <span class="quiet">{t("sessions.this")}</span>
              ) : (
                <button type="button" class="small" onClick={() => void end(one.id)}>
                  {t("sessions.end")}
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

export function KeysPage() {
  const mayHaveKeys = roles.value.has("approver") || roles.value.has("controller");
  return (
    <div class="page">
      {mayHaveKeys && <Keys />}
      <Sessions />
    </div>
  );
}
