// Calls: one row each, filtered by the address. All pages of a list are cut at one tree size, which the address holds too.
import { useEffect, useState } from "preact/hooks";
import { get, Problem, query } from "../core/api";
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

const FILTERS = ["agent", "server", "tool", "verdict", "session", "since", "until"] as const;
const VERDICTS = ["runs", "failed", "withheld", "cached", "refused", "skipped", "proposed", "asks", "unknown"];

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
            <input type="text" value={now.get(name) ?? ""} placeholder={name === "since" || name === "until" ? "2026-11-16T20:00:00Z" : ""} spellcheck={false} onChange={change(name)} />
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

function CallList() {
  const search = place.value.query;
  const [list, setList] = useState<List | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  const asked = query({ ...Object.fromEntries(search), limit: 40 }); // at most 500 elements (CO-70)
  useEffect(() => {
    const stop = new AbortController();
    get<List>("calls" + asked, stop.signal).then(
      (read) => {
        setList(read);
        setFailed(null);
        // From here on the rows of this address stay the same.
        if (!search.get("tree_size") && !search.get("cursor")) filter({ tree_size: String(read.tree_size) });
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        // A cursor belongs to its filters: with others the list begins anew.
        if (error instanceof Problem && error.code === "bad_cursor") filter({ cursor: "" });
        else setFailed(error);
      },
    );
    return () => stop.abort();
  }, [asked]);
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
            <button type="button" class="small" onClick={() => filter({ tree_size: "", cursor: "" })}>
              {t("calls.newest")}
            </button>
          </p>
          {list.items.length > 0 ? <Rows rows={list.items} /> : <p class="quiet empty">{t("calls.none")}</p>}
          <Pager list={list} />
        </>
      )}
    </section>
  );
}

export function Calls() {
  return place.value.id ? <CallPage /> : <CallList />;
}
