// Questions that are no longer pending.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, query } from "../core/api";
import { Link } from "../core/link";
import { Failed } from "../core/parts";
import { onFrame } from "../core/stream";
import { t, time, word } from "../core/text";
import { address, place, setFilters } from "../core/url";
import { visible } from "../core/visible";
import { isAboutApprovals, type Item } from "./queue";

const STATES = ["all", "approved", "used", "denied", "expired", "cancelled", "invalidated"] as const;

export function History() {
  const wantedState = place.value.query.get("state") ?? "all";
  const [items, setItems] = useState<Item[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(true);
  const newestRead = useRef(0); // the number of the newest read
  const shownRead = useRef(0); // the number of the read on the screen; older answers are ignored

  async function read(cursor: string | null) {
    const thisRead = ++newestRead.current;
    setBusy(true);
    try {
      const list = await get<{ approvals: Item[]; cursor?: string | null }>("approvals" + query({ state: wantedState, limit: 100, cursor }));
      if (thisRead < shownRead.current) return;
      shownRead.current = thisRead;
      const answered = list.approvals.filter((item) => item.state !== "pending");
      setItems((before) => (cursor ? [...before, ...answered] : answered));
      setNext(list.cursor ?? null);
      setError(null);
    } catch (error) {
      if (thisRead < shownRead.current) return;
      setError(error);
    }
    setBusy(false);
  }
  useEffect(() => {
    shownRead.current = newestRead.current + 1; // answers for another state are ignored
    void read(null);
    return onFrame((frame) => {
      if (isAboutApprovals(frame.event)) void read(null);
    });
  }, [wantedState]);

  const shown = [...items].sort((a, b) => (b.requested_at ?? "").localeCompare(a.requested_at ?? ""));
  return (
    <>
      <label class="filter">
        {t("history.state")}
        <select value={wantedState} onChange={(event) => setFilters({ state: event.currentTarget.value === "all" ? "" : event.currentTarget.value })}>
          {STATES.map((state) => (
            <option value={state}>{word("state", state)}</option>
          ))}
        </select>
      </label>
      {error !== null && <Failed problem={error} />}
      <ul class="rows history">
        {shown.map((item) => (
          <li>
            <Link to={address("approvals", item.request_id, Object.fromEntries(place.value.query))} current={item.request_id === place.value.id} class="row">
              <span class="main">
                <strong>{visible(item.tool_name ?? word("kind", item.kind))}</strong> {item.agent_id && visible(item.agent_id)}
              </span>
              <span class="side">{word("state", item.state)}</span>
              <span class="more quiet">{time(item.requested_at)}</span>
            </Link>
          </li>
        ))}
      </ul>
      {!busy && shown.length === 0 && error === null && <p class="quiet empty">{t("history.none")}</p>}
      {next !== null && (
        <button type="button" disabled={busy} onClick={() => void read(next)}>
          {t("history.more")}
        </button>
      )}
    </>
  );
}
