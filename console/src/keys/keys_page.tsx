// The person's own keys and sessions.
import { useEffect, useState } from "preact/hooks";
import { get, request } from "../core/api";
import { Failed } from "../core/parts";
import { roles } from "../core/session";
import { Table } from "../core/table";
import { t, time, word } from "../core/text";
import { deleteBrowserKey } from "./browser_key";
import { Enrol, isLocal, type Key, readKeys } from "./enrol";

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
  const [localIds, setLocalIds] = useState<Set<string>>(new Set());
  const [error, setError] = useState<unknown>(null);
  async function read() {
    try {
      const all = await readKeys();
      const local = new Set<string>();
      for (const key of all) if (await isLocal(key)) local.add(key.credential_id);
      setKeys(all);
      setLocalIds(local);
    } catch (error) {
      setError(error);
    }
  }
  useEffect(() => void read(), []);
  async function remove(key: Key) {
    try {
      await request(`passkeys/${encodeURIComponent(key.credential_id)}`, { method: "DELETE" });
      if (localIds.has(key.credential_id)) await deleteBrowserKey(key.credential_id);
      await read();
    } catch (error) {
      setError(error);
    }
  }
  return (
    <section class="stack">
      <h2>{t("keys.title")}</h2>
      <p class="quiet">{t("keys.about")}</p>
      {error !== null && <Failed problem={error} />}
      {keys !== null && keys.length === 0 && <p class="quiet">{t("keys.none")}</p>}
      {keys !== null && keys.length > 0 && (
        <Table label={t("keys.title")} heads={["keys.kind", "keys.page", "keys.enrolled", "keys.vouched"]} hasActions>
          {keys.map((key) => (
            <tr key={key.credential_id} data-key={key.credential_id}>
              <td>
                {word("keys", key.kind)} {localIds.has(key.credential_id) && <span class="quiet">({t("keys.here")})</span>}
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
  const [error, setError] = useState<unknown>(null);
  async function read() {
    try {
      setSessions((await get<{ items: OwnSession[] }>("sessions")).items);
    } catch (error) {
      setError(error);
    }
  }
  useEffect(() => void read(), []);
  async function end(id: string) {
    try {
      await request(`sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
      await read();
    } catch (error) {
      setError(error);
    }
  }
  return (
    <section class="stack">
      <h2>{t("sessions.title")}</h2>
      {error !== null && <Failed problem={error} />}
      <Table label={t("sessions.title")} heads={["sessions.how", "sessions.since", "sessions.used", "sessions.address"]} hasActions>
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
