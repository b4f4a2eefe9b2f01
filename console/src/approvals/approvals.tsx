// The inbox: what waits beside the question that is open.
import { useEffect, useRef } from "preact/hooks";
import { countdown, secondsLeft } from "../core/clock";
import { Link } from "../core/link";
import { Failed } from "../core/parts";
import { roles } from "../core/session";
import { onFrame, onOpen } from "../core/stream";
import { t, word } from "../core/text";
import { address, go, place } from "../core/url";
import { visible } from "../core/visible";
import { Batch } from "./batch";
import { readDetail } from "./detail";
import { History } from "./history";
import { failure, fresh, held, isAboutApprovals, type Item, more, rows, showNew } from "./queue";
import { Question } from "./question";

function Row({ item }: { item: Item }) {
  const chosen = place.value.id === item.request_id;
  const gone = item.state !== "pending";
  const what = item.description ?? item.message ?? "";
  return (
    <li>
      <Link to={address("approvals", item.request_id)} current={chosen} class={gone ? "row gone" : "row"} data-row={item.request_id}>
        <span class="main">
          <strong>{visible(item.tool_name ?? word("kind", item.kind))}</strong> {item.agent_id && visible(item.agent_id)}
        </span>
        <span class="side">{gone ? word("state", item.state) : item.deadline ? countdown(secondsLeft(item.deadline)) : ""}</span>
        <span class="more quiet">
          {item.risk && <span class={`risk ${item.risk.level}`}>{word("risk", item.risk.level)} </span>}
          {item.risk?.class ?? word("kind", item.kind)}
          {what && ` · ${visible(what).slice(0, 120)}`}
        </span>
      </Link>
    </li>
  );
}

function Waiting() {
  const list = useRef<HTMLDivElement>(null);
  const pointer = useRef(false);
  const focus = useRef(false);
  const hold = () => (held.value = pointer.current || focus.current);
  useEffect(() => () => void (held.value = false), []);

  function move(event: KeyboardEvent) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const step = event.key === "j" || event.key === "ArrowDown" ? 1 : event.key === "k" || event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    const links = [...(list.current?.querySelectorAll<HTMLAnchorElement>("a.row") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
    event.preventDefault();
  }
  return (
    <>
      <div
        ref={list}
        class="held"
        onPointerEnter={() => ((pointer.current = true), hold())}
        onPointerLeave={() => ((pointer.current = false), hold())}
        onFocusIn={() => ((focus.current = true), hold())}
        onFocusOut={(event: FocusEvent) => {
          if (list.current?.contains(event.relatedTarget as Node | null)) return;
          focus.current = false;
          hold();
        }}
      >
        <p class="fresh" aria-live="polite">
          {fresh.value > 0 && (
            <button type="button" class="small" onClick={showNew}>
              {t("approvals.new", { n: fresh.value })}
            </button>
          )}
        </p>
        {failure.value !== null && rows.value === null && <Failed problem={failure.value} />}
        <ul class="rows" aria-label={t("approvals.waiting")} onKeyDown={move}>
          {(rows.value ?? []).map((item) => (
            <Row item={item} key={item.request_id} />
          ))}
        </ul>
      </div>
      {rows.value?.length === 0 && <p class="quiet empty">{t("approvals.none")}</p>}
      {more.value && <p class="quiet">{t("approvals.more")}</p>}
      <p class="keys quiet">{t("approvals.keys")}</p>
    </>
  );
}

export function Approvals() {
  const { id, query } = place.value;
  const history = query.get("view") === "history";
  const batch = query.get("view") === "batch" && roles.value.has("approver");
  const opened = useRef(id);
  useEffect(() => {
    void readDetail(id);
    // Whoever opened it looks at it now; a page that was loaded with it leaves focus where it is.
    if (id !== "" && id !== opened.current) {
      const wait = setInterval(() => {
        const article = document.querySelector<HTMLElement>("article.question");
        if (article?.dataset["id"] !== id) return;
        clearInterval(wait);
        if (document.activeElement?.closest("ul.rows") || document.activeElement === document.body) article.focus({ preventScroll: true });
      }, 20);
      setTimeout(() => clearInterval(wait), 3000);
    }
    opened.current = id;
    const again = () => void readDetail(id);
    const stops = [
      onFrame((frame) => {
        if (isAboutApprovals(frame.event) || frame.event === "lagged") again();
      }),
      onOpen(again),
    ];
    return () => stops.forEach((stop) => stop());
  }, [id]);
  return (
    <div class={id ? "panes open" : batch ? "panes one" : "panes"}>
      <section class="pane list">
        <h1 class="tabs">
          <Link to={address("approvals")} current={!history && !batch}>
            {t("approvals.waiting")}
          </Link>
          <Link to={address("approvals", "", { view: "history" })} current={history}>
            {t("approvals.history")}
          </Link>
          {roles.value.has("approver") && (
            <Link to={address("approvals", "", { view: "batch" })} current={batch}>
              {t("approvals.batch")}
            </Link>
          )}
        </h1>
        {history ? <History /> : batch ? rows.value !== null && <Batch /> : <Waiting />}
      </section>
      <section class="pane" onKeyDown={(event: KeyboardEvent) => {
        if (event.key === "Escape" && !event.defaultPrevented && id) go(address("approvals", "", Object.fromEntries(query)));
      }}>
        {id ? <Question /> : <p class="quiet empty">{t("approvals.choose")}</p>}
      </section>
    </div>
  );
}
