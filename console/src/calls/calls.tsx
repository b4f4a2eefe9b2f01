// Calls: one row for each. The address has the filters, and the tree size, which is the same for all pages of a list.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, Problem, query } from "../core/api";
import { serverNow } from "../core/clock";
import { Link } from "../core/link";
import type { Page } from "../core/load";
import { Pager } from "../core/pager";
import { Absent, Failed } from "../core/parts";
import { Table } from "../core/table";
import { type Key, number, t, time, word } from "../core/text";
import { address, place, setFilters } from "../core/url";
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

// A relative time such as `1h`. The address gets the absolute time instead, so that it shows another person the same rows.
const RELATIVE_TIME = /^(\d{1,7})([smhdw])$/;
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };

function absoluteTimes(filters: Record<string, string>): Record<string, string> | null {
  const relative = ["since", "until"].flatMap((name) => {
    const match = RELATIVE_TIME.exec(filters[name] ?? "");
    return match ? [[name, new Date(Math.max(0, serverNow() - Number(match[1]) * SECONDS[match[2]!]! * 1000)).toISOString()]] : [];
  });
  return relative.length > 0 ? Object.fromEntries(relative) : null;
}

function Filters() {
  const current = place.value.query;
  const change = (name: string) => (event: Event) => setFilters({ [name]: (event.currentTarget as HTMLInputElement).value.trim(), cursor: "", tree_size: "" });
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label={t("calls.filters")}>
      {FILTERS.map((name) => (
        <label>
          <span>{t(`calls.${name}` as Key)}</span>
          {name === "verdict" ? (
            <select value={current.get(name) ?? ""} onChange={change(name)}>
              <option value="">{t("calls.any")}</option>
              {VERDICTS.map((verdict) => (
                <option value={verdict}>{word("verdict", verdict)}</option>
              ))}
            </select>
          ) : (
            <input type="text" value={current.get(name) ?? ""} placeholder={name === "since" || name === "until" ? "1h, 2026-11-16" : ""} spellcheck={false} onChange={change(name)} />
          )}
        </label>
      ))}
      <label>
        <span>{t("calls.order")}</span>
        <select name="order" value={current.get("order") ?? ""} onChange={change("order")}>
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

// Reads a search in parts, until the page is full or the search ends. Calls `show` with the rows found so far after each
// part.
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
  const [error, setError] = useState<unknown>(null);
  const [searching, setSearching] = useState<AbortController | null>(null);
  const [attempt, setAttempt] = useState(0);
  const ownTreeSize = useRef(""); // from the first answer; it keeps the rows of this list the same
  const path = query({ ...filters, tree_size: filters["tree_size"] === ownTreeSize.current ? "" : filters["tree_size"] });
  useEffect(() => {
    const absolute = absoluteTimes(filters);
    if (absolute) return setFilters(absolute);
    const controller = new AbortController();
    const show = (answer: List) => {
      setList(answer);
      setError(null);
      setSearching(answer.reached && answer.items.length < ROWS ? controller : null);
      if (place.peek().query.get("tree_size") || filters["cursor"]) return;
      ownTreeSize.current = String(answer.tree_size);
      setFilters({ tree_size: ownTreeSize.current });
    };
    readList(filters, show, controller.signal).catch((error: unknown) => {
      setSearching(null);
      if (controller.signal.aborted) return;
      // A cursor is valid for its filters only. With other filters the list starts at the first page.
      if (error instanceof Problem && error.code === "bad_cursor") setFilters({ cursor: "" });
      else setError(error);
    });
    return () => controller.abort();
  }, [path, attempt]);
  const showNewest = () => {
    setFilters({ tree_size: "", cursor: "" });
    setAttempt(attempt + 1);
  };
  return (
    <section class="page">
      <h1>{t("nav.calls")}</h1>
      <Filters />
      {error !== null && <Failed problem={error} />}
      {list && (
        <>
          <p class="quiet">
            {list.exact ? t("calls.total", { n: list.total, count: number(list.total) }) : t("calls.at_least", { count: number(list.total) })} ·{" "}
            {t("calls.size", { size: number(list.tree_size) })}{" "}
            <button type="button" class="small" onClick={showNewest}>
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
