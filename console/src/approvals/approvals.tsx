// The inbox: the list of questions beside the open question.
import { useEffect, useRef } from "preact/hooks";
import { countdown, secondsLeft } from "../core/clock";
import { Link } from "../core/link";
import { Failed } from "../core/parts";
import { roles } from "../core/session";
import { onFrame, onOpen } from "../core/stream";
import { t, word } from "../core/text";
import { address, navigate, place } from "../core/url";
import { visible } from "../core/visible";
import { Batch } from "./batch";
import { readDetail } from "./detail";
import { History } from "./history";
import { frozen, hasMore, isAboutApprovals, type Item, newCount, readError, rows, showNew } from "./queue";
import { Question } from "./question";

function Row({ item }: { item: Item }) {
  const isCurrent = place.value.id === item.request_id;
  const isClosed = item.state !== "pending";
  const what = item.description ?? item.message ?? "";
  return (
    <li>
      <Link to={address("approvals", item.request_id)} current={isCurrent} class={isClosed ? "row gone" : "row"} data-row={item.request_id}>
        <span class="main">
          <strong>{visible(item.tool_name ?? word("kind", item.kind))}</strong> {item.agent_id && visible(item.agent_id)}
        </span>
        <span class="side">{isClosed ? word("state", item.state) : item.deadline ? countdown(secondsLeft(item.deadline)) : ""}</span>
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
  const updateFrozen = () => (frozen.value = pointer.current || focus.current);
  useEffect(() => () => void (frozen.value = false), []);

  function moveFocus(event: KeyboardEvent) {
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
        onPointerEnter={() => ((pointer.current = true), updateFrozen())}
        onPointerLeave={() => ((pointer.current = false), updateFrozen())}
        onFocusIn={() => ((focus.current = true), updateFrozen())}
        onFocusOut={(event: FocusEvent) => {
          if (list.current?.contains(event.relatedTarget as Node | null)) return;
          focus.current = false;
          updateFrozen();
        }}
      >
        <p class="fresh" aria-live="polite">
          {newCount.value > 0 && (
            <button type="button" class="small" onClick={showNew}>
              {t("approvals.new", { n: newCount.value })}
            </button>
          )}
        </p>
        {readError.value !== null && rows.value === null && <Failed problem={readError.value} />}
        <ul class="rows" aria-label={t("approvals.waiting")} onKeyDown={moveFocus}>
          {(rows.value ?? []).map((item) => (
            <Row item={item} key={item.request_id} />
          ))}
        </ul>
      </div>
      {rows.value?.length === 0 && <p class="quiet empty">{t("approvals.none")}</p>}
      {hasMore.value && <p class="quiet">{t("approvals.more")}</p>}
      <p class="keys quiet">{t("approvals.keys")}</p>
    </>
  );
}

export function Approvals() {
  const { id, query } = place.value;
  const history = query.get("view") === "history";
  const batch = query.get("view") === "batch" && roles.value.has("approver");
  const lastId = useRef(id);
  useEffect(() => {
    void readDetail(id);
    // A question that the person opens from the list gets focus. A question in the address of a new page does not.
    if (id !== "" && id !== lastId.current) {
      const timer = setInterval(() => {
        const article = document.querySelector<HTMLElement>("article.question");
        if (article?.dataset["id"] !== id) return;
        clearInterval(timer);
        if (document.activeElement?.closest("ul.rows") || document.activeElement === document.body) article.focus({ preventScroll: true });
      }, 20);
      setTimeout(() => clearInterval(timer), 3000);
    }
    lastId.current = id;
    const reload = () => void readDetail(id);
    const unsubscribers = [
      onFrame((frame) => {
        if (isAboutApprovals(frame.event) || frame.event === "lagged") reload();
      }),
      onOpen(reload),
    ];
    return () => unsubscribers.forEach((unsubscribe) => unsubscribe());
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
        if (event.key === "Escape" && !event.defaultPrevented && id) navigate(address("approvals", "", Object.fromEntries(query)));
      }}>
        {id ? <Question /> : <p class="quiet empty">{t("approvals.choose")}</p>}
      </section>
    </div>
  );
}
