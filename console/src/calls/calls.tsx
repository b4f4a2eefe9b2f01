// Calls: one row each, filtered by the address. All pages of a list are cut at one tree size, which the address holds too.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, Problem, query } from "../core/api";
import { serverNow } from "../core/clock";
import { Link } from "../core/link";
import type { Page } from "../core/load";
import { Pager } from "../core/pager";
import { Absent, Failed } from "../core/parts";
import { Table } from "../core/table";
import { type Key, number, t, time, word } from "../core/text";
import { address, filter, place } from "../core/url";
import { visible } from "../core/visible";
import { CallPage } from "./call_page";

export interface CallRow {
  time: string;
  sequence: number;
  call_id: string;
  agent: string;
  server: string;
  tool: string;
  what: string | null;
  verdict: string;
  why: string | null;
}

type List = Page<CallRow>;

const ROWS = 40; // at most 500 elements (CO-70)
const FILTERS = ["text", "agent", "server", "tool", "verdict", "session", "since", "until"] as const;
const VERDICTS = ["runs", "failed", "withheld", "cached", "refused", "skipped", "proposed", "asks", "unknown"];

// A time that is counted back from now, as `1h`, would mean other rows to whoever gets the address: it holds the moment itself.
const AGO = /^(\d{1,7})([smhdw])$/;
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };

function moments(filters: Record<string, string>): Record<string, string> | null {
  const ago = ["since", "until"].flatMap((name) => {
    const found = AGO.exec(filters[name] ?? "");
    return found ? [[name, new Date(Math.max(0, serverNow() - Number(found[1]) * SECONDS[found[2]!]! * 1000)).toISOString()]] : [];
  });
  return ago.length > 0 ? Object.fromEntries(ago) : null;
}

function Filters() {
  const now = place.value.query;
  const change = (name: string) => (event: Event) => filter({ [name]: (event.currentTarget as HTMLInputElement).value.trim(), cursor: "", tree_size: "" });
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label={t("calls.filters")}>
      {FILTERS.map((name) => (
        <label>
          <span>{t(`calls.${name}` as Key)}</span>
          {name === "verdict" ? (
            <select value={now.get(name) ?? ""} onChange={change(name)}>
              <option value="">{t("calls.any")}</option>
              {VERDICTS.map((verdict) => (
                <option value={verdict}>{word("verdict", verdict)}</option>
              ))}
            </select>
          ) : (
            <input type="text" value={now.get(name) ?? ""} placeholder={name === "since" || name === "until" ? "1h, 2026-11-16" : ""} spellcheck={false} onChange={change(name)} />
          )}
        </label>
      ))}
      <label>
        <span>{t("calls.order")}</span>
        <select name="order" value={now.get("order") ?? ""} onChange={change("order")}>
          <option value="">{t("calls.desc")}</option>
          <option value="asc">{t("calls.asc")}</option>
        </select>
      </label>
    </form>
  );
}

function Rows({ rows }: { rows: CallRow[] }) {
  const filters = Object.fromEntries(place.value.query);
  return (
    <Table label={t("nav.calls")} heads={["calls.time", "calls.agent", "calls.tool", "calls.what", "calls.verdict", "calls.why"]}>
      {rows.map((row) => (
        <tr key={row.call_id}>
          <td class="fixed">
            <Link to={address("calls", row.call_id, filters)}>{time(row.time)}</Link>
          </td>
          <td>{visible(row.agent)}</td>
          <td>
            {visible(row.tool)} {row.server && <span class="quiet">{visible(row.server)}</span>}
          </td>
          <td class="what">{row.what === null ? <Absent state="withheld" /> : visible(row.what)}</td>
          <td>
            <span class={`verdict ${row.verdict}`}>{word("verdict", row.verdict)}</span>
          </td>
          <td class="what">{row.why === null ? <Absent state="withheld" /> : visible(row.why)}</td>
        </tr>
      ))}
    </Table>
  );
}

// A search over many records comes in parts, until the page is full or there is no more to look at. `show` gets what is
// found so far.
async function readList(filters: Record<string, string>, show: (list: List) => void, signal: AbortSignal): Promise<void> {
  let list = await get<List>("calls" + query({ ...filters, limit: ROWS }), signal);
  for (show(list); list.reached && list.items.length < ROWS; show(list)) {
    const { side } = list.reached;
    const part = await get<List>("calls" + query({ ...filters, cursor: list[side], limit: ROWS - list.items.length }), signal);
    const items = side === "next" ? [...list.items, ...part.items] : [...part.items, ...list.items];
    const other = side === "next" ? "prev" : "next";
    list = { ...part, items, [other]: list[other], total: list.total + part.total, exact: part[side] === null && list[other] === null };
  }
}

function CallList() {
  const filters = Object.fromEntries(place.value.query);
  const [list, setList] = useState<List | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  const [searching, setSearching] = useState<AbortController | null>(null);
  const [turn, setTurn] = useState(0);
  const own = useRef(""); // the size that the first answer gave this list: from then on its rows stay the same
  const asked = query({ ...filters, tree_size: filters["tree_size"] === own.current ? "" : filters["tree_size"] });
  useEffect(() => {
    const fixed = moments(filters);
    if (fixed) return filter(fixed);
    const stop = new AbortController();
    const show = (read: List) => {
      setList(read);
      setFailed(null);
      setSearching(read.reached && read.items.length < ROWS ? stop : null);
      if (place.peek().query.get("tree_size") || filters["cursor"]) return;
      own.current = String(read.tree_size);
      filter({ tree_size: own.current });
    };
    readList(filters, show, stop.signal).catch((error: unknown) => {
      setSearching(null);
      if (stop.signal.aborted) return;
      // A cursor belongs to its filters: with others the list begins anew.
      if (error instanceof Problem && error.code === "bad_cursor") filter({ cursor: "" });
      else setFailed(error);
    });
    return () => stop.abort();
  }, [asked, turn]);
  const newest = () => {
    filter({ tree_size: "", cursor: "" });
    setTurn(turn + 1);
  };
  return (
    <section class="page">
      <h1>{t("nav.calls")}</h1>
      <Filters />
      {failed !== null && <Failed problem={failed} />}
      {list && (
        <>
          <p class="quiet">
            {list.exact ? t("calls.total", { n: list.total, count: number(list.total) }) : t("calls.at_least", { count: number(list.total) })} ·{" "}
            {t("calls.size", { size: number(list.tree_size) })}{" "}
            <button type="button" class="small" onClick={newest}>
              {t("calls.newest")}
            </button>
          </p>
          {list.reached && list.items.length < ROWS && (
            <p role="status" data-search={searching ? "running" : "stopped"}>
              {t(searching ? "calls.searching" : "calls.searched", { sequence: number(list.reached.sequence) })}{" "}
              {searching && (
                <button type="button" class="small" onClick={() => searching.abort()}>
                  {t("range.stop")}
                </button>
              )}
            </p>
          )}
          {list.items.length > 0 ? <Rows rows={list.items} /> : !list.reached && <p class="quiet empty">{t("calls.none")}</p>}
          <Pager list={list} />
        </>
      )}
    </section>
  );
}

export function Calls() {
  return place.value.id ? <CallPage /> : <CallList />;
}
