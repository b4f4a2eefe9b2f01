// Several questions in one answer. Each is shown in full and needs its own verdict; no verdict applies to all. Two acts
// send them together.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, post } from "../core/api";
import { Link } from "../core/link";
import { problemText } from "../core/parts";
import { onFrame } from "../core/stream";
import { type Key, t, word } from "../core/text";
import { address } from "../core/url";
import { visible } from "../core/visible";
import { actOf, ignoreHeldEnter } from "./answer";
import { type Detail } from "./detail";
import { frozen, isAboutApprovals, rows } from "./queue";
import { Segments } from "./question";
import { TwoActs, VISIBLE_TIME } from "./two_acts";

const MOST = 20;
const RETRY = 2000; // ms

export interface Verdict {
  approved: boolean;
  binding: string; // of the question as the screen showed it
}
interface AnswerResult {
  request_id: string;
  ok: boolean;
  code?: string;
  error?: string;
}

function useDetail(id: string): { detail: Detail | null; showFull: () => void } {
  const [full, setFull] = useState(false);
  const [detail, setDetail] = useState<Detail | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    let newestRead = 0;
    let shownRead = 0;
    const read = () => {
      const thisRead = ++newestRead;
      // An older answer never replaces a newer one (as in `readDetail`).
      const show = (answer: Detail) => void (thisRead < shownRead || ((shownRead = thisRead), setDetail(answer)));
      // Retries a failed read: a question without its card cannot be answered here.
      const retry = () => void (controller.signal.aborted || thisRead < newestRead || setTimeout(() => controller.signal.aborted || read(), RETRY));
      get<Detail>(`approvals/${encodeURIComponent(id)}${full ? "?full=1" : ""}`, controller.signal).then(show, retry);
    };
    read();
    const unsubscribe = onFrame((frame) => {
      if (isAboutApprovals(frame.event)) read();
    });
    return () => (controller.abort(), unsubscribe());
  }, [id, full]);
  return { detail, showFull: () => setFull(true) };
}

// Measures how long the question has been in view in its current state. `identity` changes with the state.
function useVisibleSince(identity: string): { box: { current: HTMLElement | null }; ready: () => boolean } {
  const box = useRef<HTMLElement>(null);
  const since = useRef<number | null>(null);
  useEffect(() => {
    since.current = null;
    const observer = new IntersectionObserver(([entry]) => {
      since.current = entry?.isIntersecting ? (since.current ?? performance.now()) : null;
    });
    if (identity !== "" && box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [identity]);
  return { box, ready: () => since.current !== null && performance.now() - since.current >= VISIBLE_TIME };
}

interface CardProps {
  id: string;
  verdict: Verdict | null;
  result: AnswerResult | undefined;
  choose: (verdict: Verdict | null) => void;
  showNotice: (text: string) => void;
}

function Choices({ id, detail, verdict, choose, ready, showFull, showNotice }: CardProps & { detail: Detail; ready: () => boolean; showFull: () => void }) {
  const truncated = detail.shown?.truncated === true;
  const onChoose = (event: MouseEvent, approved: boolean) => {
    event.preventDefault(); // only an accepted verdict changes the radio button
    if (!event.isTrusted) return;
    if (!ready()) return showNotice(t("answer.look_first"));
    choose({ approved, binding: detail.request.binding });
  };
  return (
    <fieldset class="bar">
      <legend>{t("batch.verdict")}</legend>
      {([false, true] as const).map((approved) => (
        <label class="inline">
          <input type="radio" name={`verdict-${id}`} value={String(approved)} checked={verdict?.approved === approved} disabled={approved && truncated} onClick={(event) => onChoose(event, approved)} />
          <span>{t(approved ? "batch.yes" : "batch.no")}</span>
        </label>
      ))}
      {verdict && (
        <button type="button" class="small" onClick={() => choose(null)}>
          {t("batch.none")}
        </button>
      )}
      {truncated && (
        <button type="button" class="whole small" onClick={showFull}>
          {t("question.whole")}
        </button>
      )}
    </fieldset>
  );
}

function Card(props: CardProps) {
  const { id, result, verdict, choose, showNotice } = props;
  const { detail, showFull } = useDetail(id);
  const identity = detail ? `${detail.request.binding} ${detail.state} ${detail.shown?.truncated}` : "";
  const { box, ready } = useVisibleSince(identity);
  const isClosed = detail !== null && detail.state !== "pending";
  // A change of the question cancels its verdict.
  useEffect(() => {
    if (verdict && detail && (isClosed || detail.request.binding !== verdict.binding)) {
      choose(null);
      if (!result) showNotice(t("answer.changed"));
    }
  }, [identity]);
  if (!detail) return <li class="card quiet">{t("question.loading")}</li>;
  const obstacle = detail.may_answer?.ok ? (detail.may_answer.sign ? "key_needed" : null) : (detail.may_answer?.why ?? "role");
  return (
    <li class="card" ref={box as never} data-card={id}>
      <p>
        <strong>{visible(detail.request.tool_name ?? word("kind", detail.request.kind))}</strong> {detail.request.agent_id && visible(detail.request.agent_id)}{" "}
        {detail.risk && <span class={`risk ${detail.risk.level}`}>{word("risk", detail.risk.level)}</span>}{" "}
        <Link to={address("approvals", id)}>{t("batch.open")}</Link>
      </p>
      {detail.shown && <Segments segments={detail.shown.segments} />}
      {result && (
        <p class={result.ok ? "good" : "failed"} data-sent={String(result.ok)}>
          {result.ok ? "✓" : "✗"} {result.ok ? t("batch.taken") : visible(result.error ?? "")}
        </p>
      )}
      {isClosed && !result && <p class="quiet">{word("state", detail.state)}</p>}
      {!isClosed && obstacle !== null && <p class="cannot">{obstacle === "key_needed" && detail.may_answer?.ok ? t("batch.alone") : word("may", obstacle)}</p>}
      {!isClosed && obstacle === null && <Choices {...props} detail={detail} ready={ready} showFull={showFull} />}
    </li>
  );
}

function useCancelOnBlur(acts: { current: TwoActs }, onCancel: (reason: Key) => void): (event: FocusEvent) => void {
  const onBlur = () => acts.current.cancel() && onCancel("answer.blurred");
  useEffect(() => {
    const onVisibilityChange = () => document.visibilityState !== "visible" && acts.current.cancel() && onCancel("answer.hidden");
    document.addEventListener("visibilitychange", onVisibilityChange);
    window.addEventListener("blur", onBlur);
    return () => {
      document.removeEventListener("visibilitychange", onVisibilityChange);
      window.removeEventListener("blur", onBlur);
    };
  }, []);
  return (event) => void ((event.currentTarget as Node).contains(event.relatedTarget as Node | null) || onBlur());
}

export function Batch() {
  const [ids] = useState(() => (rows.value ?? []).filter((item) => item.kind === "approval" && item.state === "pending").map((item) => item.request_id).slice(0, MOST));
  const [verdicts, setVerdicts] = useState<Map<string, Verdict>>(new Map());
  const [results, setResults] = useState<Map<string, AnswerResult>>(new Map());
  const [confirming, setConfirming] = useState(false);
  const [busy, setBusy] = useState(false);
  const [notice, setNotice] = useState("");
  const acts = useRef(new TwoActs());
  const yesButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    frozen.value = true; // no row moves while this page is open
    acts.current.appeared(performance.now());
    return () => void (frozen.value = false);
  }, []);
  const cancelSend = (reason: Key) => (setConfirming(false), setNotice(t(reason)));
  const onFocusOut = useCancelOnBlur(acts, cancelSend);

  const choose = (id: string, verdict: Verdict | null) => {
    if (acts.current.cancel()) cancelSend("answer.taken_back");
    setVerdicts((before) => {
      const next = new Map(before);
      if (verdict) next.set(id, verdict);
      else next.delete(id);
      return next;
    });
  };
  const startConfirming = (event: MouseEvent) => {
    if (acts.current.choose("answer", actOf(event))) setConfirming(true);
  };
  const send = async (event: MouseEvent) => {
    if (busy || acts.current.confirm(actOf(event), yesButton.current!.getBoundingClientRect()) === null) return;
    setConfirming(false);
    setBusy(true);
    const answers = [...verdicts].map(([request_id, verdict]) => ({ request_id, ...verdict }));
    try {
      const response = await post<{ answers: AnswerResult[] }>("approvals/batch", answers, crypto.randomUUID());
      setResults(new Map([...results, ...response.answers.map((one) => [one.request_id, one] as const)]));
      setVerdicts(new Map());
      setNotice(t("batch.done", { n: response.answers.filter((one) => one.ok).length }));
    } catch (error) {
      setNotice(t("answer.not_taken", { why: problemText(error) }));
    }
    setBusy(false);
  };
  if (ids.length === 0) return <p class="quiet empty">{t("approvals.none")}</p>;
  const approvals = [...verdicts.values()].filter((one) => one.approved).length;
  return (
    <div class="batch" tabIndex={-1} onFocusOut={onFocusOut}>
      <p class="quiet">{t("batch.about")}</p>
      <ul class="cards" aria-label={t("approvals.batch")}>
        {ids.map((id) => (
          <Card key={id} id={id} verdict={verdicts.get(id) ?? null} result={results.get(id)} choose={(verdict) => choose(id, verdict)} showNotice={setNotice} />
        ))}
      </ul>
      <section class="answer" aria-label={t("answer.title")} onKeyDown={ignoreHeldEnter}>
        <p class="notice" role="status">
          {confirming ? t("batch.sure", { yes: approvals, no: verdicts.size - approvals }) : notice}
        </p>
        <div class="confirm">
          {confirming && (
            <>
              <button type="button" onClick={() => (acts.current.cancel(), cancelSend("answer.taken_back"))}>
                {t("answer.no")}
              </button>
              <button type="button" class="primary" ref={yesButton} onClick={(event) => void send(event)}>
                {t("answer.yes")}
              </button>
            </>
          )}
        </div>
        <div class="acts">
          <span />
          <button type="button" data-send-batch disabled={busy || verdicts.size === 0} onClick={startConfirming}>
            {t("batch.send", { n: verdicts.size })}
          </button>
        </div>
      </section>
    </div>
  );
}
