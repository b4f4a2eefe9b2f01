// Several questions at once: each is shown whole, has a verdict of its own, and is sent with the others in two acts. There
// is no verdict for all of them.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, post } from "../core/api";
import { Link } from "../core/link";
import { told } from "../core/parts";
import { onFrame } from "../core/stream";
import { type Key, t, word } from "../core/text";
import { address } from "../core/url";
import { visible } from "../core/visible";
import { actOf, ignoreHeld } from "./answer";
import { type Detail } from "./detail";
import { held, isAboutApprovals, rows } from "./queue";
import { Segments } from "./question";
import { TwoActs, VISIBLE } from "./two_acts";

const MOST = 20;
const RETRY = 2000; // ms

export interface Verdict {
  approved: boolean;
  binding: string; // of what was on the screen
}
interface Sent {
  request_id: string;
  ok: boolean;
  code?: string;
  error?: string;
}

function useDetail(id: string): { detail: Detail | null; whole: () => void } {
  const [full, setFull] = useState(false);
  const [detail, setDetail] = useState<Detail | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    // A card that could not be read is read again: without it the question cannot be answered here.
    const again = () => void (stop.signal.aborted || setTimeout(() => stop.signal.aborted || read(), RETRY));
    const read = () => void get<Detail>(`approvals/${encodeURIComponent(id)}${full ? "?full=1" : ""}`, stop.signal).then(setDetail, again);
    read();
    const leave = onFrame((frame) => {
      if (isAboutApprovals(frame.event)) read();
    });
    return () => (stop.abort(), leave());
  }, [id, full]);
  return { detail, whole: () => setFull(true) };
}

// Since when the question, as it is, has been in view.
function useSeen(identity: string): { box: { current: HTMLElement | null }; ready: () => boolean } {
  const box = useRef<HTMLElement>(null);
  const since = useRef<number | null>(null);
  useEffect(() => {
    since.current = null;
    const watcher = new IntersectionObserver(([entry]) => {
      since.current = entry?.isIntersecting ? (since.current ?? performance.now()) : null;
    });
    if (identity !== "" && box.current) watcher.observe(box.current);
    return () => watcher.disconnect();
  }, [identity]);
  return { box, ready: () => since.current !== null && performance.now() - since.current >= VISIBLE };
}

interface CardProps {
  id: string;
  verdict: Verdict | null;
  sent: Sent | undefined;
  choose: (verdict: Verdict | null) => void;
  say: (text: string) => void;
}

function Choices({ id, detail, verdict, choose, ready, whole, say }: CardProps & { detail: Detail; ready: () => boolean; whole: () => void }) {
  const truncated = detail.shown?.truncated === true;
  const take = (event: MouseEvent, approved: boolean) => {
    event.preventDefault(); // the radio shows what was taken, and nothing else
    if (!event.isTrusted) return;
    if (!ready()) return say(t("answer.look_first"));
    choose({ approved, binding: detail.request.binding });
  };
  return (
    <fieldset class="bar">
      <legend>{t("batch.verdict")}</legend>
      {([false, true] as const).map((approved) => (
        <label class="inline">
          <input type="radio" name={`verdict-${id}`} value={String(approved)} checked={verdict?.approved === approved} disabled={approved && truncated} onClick={(event) => take(event, approved)} />
          <span>{t(approved ? "batch.yes" : "batch.no")}</span>
        </label>
      ))}
      {verdict && (
        <button type="button" class="small" onClick={() => choose(null)}>
          {t("batch.none")}
        </button>
      )}
      {truncated && (
        <button type="button" class="whole small" onClick={whole}>
          {t("question.whole")}
        </button>
      )}
    </fieldset>
  );
}

function Card(props: CardProps) {
  const { id, sent, verdict, choose, say } = props;
  const { detail, whole } = useDetail(id);
  const identity = detail ? `${detail.request.binding} ${detail.state} ${detail.shown?.truncated}` : "";
  const { box, ready } = useSeen(identity);
  const gone = detail !== null && detail.state !== "pending";
  // A question that changes under its verdict has none any more.
  useEffect(() => {
    if (verdict && detail && (gone || detail.request.binding !== verdict.binding)) {
      choose(null);
      if (!sent) say(t("answer.changed"));
    }
  }, [identity]);
  if (!detail) return <li class="card quiet">{t("question.loading")}</li>;
  const alone = detail.may_answer?.ok ? (detail.may_answer.sign ? "key_needed" : null) : (detail.may_answer?.why ?? "role");
  return (
    <li class="card" ref={box as never} data-card={id}>
      <p>
        <strong>{visible(detail.request.tool_name ?? word("kind", detail.request.kind))}</strong> {detail.request.agent_id && visible(detail.request.agent_id)}{" "}
        {detail.risk && <span class={`risk ${detail.risk.level}`}>{word("risk", detail.risk.level)}</span>}{" "}
        <Link to={address("approvals", id)}>{t("batch.open")}</Link>
      </p>
      {detail.shown && <Segments segments={detail.shown.segments} />}
      {sent && (
        <p class={sent.ok ? "good" : "failed"} data-sent={String(sent.ok)}>
          {sent.ok ? "✓" : "✗"} {sent.ok ? t("batch.taken") : visible(sent.error ?? "")}
        </p>
      )}
      {gone && !sent && <p class="quiet">{word("state", detail.state)}</p>}
      {!gone && alone !== null && <p class="cannot">{alone === "key_needed" && detail.may_answer?.ok ? t("batch.alone") : word("may", alone)}</p>}
      {!gone && alone === null && <Choices {...props} detail={detail} ready={ready} whole={whole} />}
    </li>
  );
}

function useTakeBack(acts: { current: TwoActs }, back: (why: Key) => void): (event: FocusEvent) => void {
  const blurred = () => acts.current.cancel() && back("answer.blurred");
  useEffect(() => {
    const hidden = () => document.visibilityState !== "visible" && acts.current.cancel() && back("answer.hidden");
    document.addEventListener("visibilitychange", hidden);
    window.addEventListener("blur", blurred);
    return () => {
      document.removeEventListener("visibilitychange", hidden);
      window.removeEventListener("blur", blurred);
    };
  }, []);
  return (event) => void ((event.currentTarget as Node).contains(event.relatedTarget as Node | null) || blurred());
}

export function Batch() {
  const [ids] = useState(() => (rows.value ?? []).filter((item) => item.kind === "approval" && item.state === "pending").map((item) => item.request_id).slice(0, MOST));
  const [verdicts, setVerdicts] = useState<Map<string, Verdict>>(new Map());
  const [sent, setSent] = useState<Map<string, Sent>>(new Map());
  const [armed, setArmed] = useState(false);
  const [busy, setBusy] = useState(false);
  const [notice, setNotice] = useState("");
  const acts = useRef(new TwoActs());
  const yes = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    held.value = true; // nothing moves here
    acts.current.appeared(performance.now());
    return () => void (held.value = false);
  }, []);
  const back = (why: Key) => (setArmed(false), setNotice(t(why)));
  const left = useTakeBack(acts, back);

  const choose = (id: string, verdict: Verdict | null) => {
    if (acts.current.cancel()) back("answer.taken_back");
    setVerdicts((before) => {
      const next = new Map(before);
      if (verdict) next.set(id, verdict);
      else next.delete(id);
      return next;
    });
  };
  const arm = (event: MouseEvent) => {
    if (acts.current.choose("answer", actOf(event))) setArmed(true);
  };
  const send = async (event: MouseEvent) => {
    if (busy || acts.current.confirm(actOf(event), yes.current!.getBoundingClientRect()) === null) return;
    setArmed(false);
    setBusy(true);
    const answers = [...verdicts].map(([request_id, verdict]) => ({ request_id, ...verdict }));
    try {
      const said = await post<{ answers: Sent[] }>("approvals/batch", answers, crypto.randomUUID());
      setSent(new Map([...sent, ...said.answers.map((one) => [one.request_id, one] as const)]));
      setVerdicts(new Map());
      setNotice(t("batch.done", { n: said.answers.filter((one) => one.ok).length }));
    } catch (error) {
      setNotice(t("answer.not_taken", { why: told(error) }));
    }
    setBusy(false);
  };
  if (ids.length === 0) return <p class="quiet empty">{t("approvals.none")}</p>;
  const approve = [...verdicts.values()].filter((one) => one.approved).length;
  return (
    <div class="batch" tabIndex={-1} onFocusOut={left}>
      <p class="quiet">{t("batch.about")}</p>
      <ul class="cards" aria-label={t("approvals.batch")}>
        {ids.map((id) => (
          <Card key={id} id={id} verdict={verdicts.get(id) ?? null} sent={sent.get(id)} choose={(verdict) => choose(id, verdict)} say={setNotice} />
        ))}
      </ul>
      <section class="answer" aria-label={t("answer.title")} onKeyDown={ignoreHeld}>
        <p class="notice" role="status">
          {armed ? t("batch.sure", { yes: approve, no: verdicts.size - approve }) : notice}
        </p>
        <div class="confirm">
          {armed && (
            <>
              <button type="button" onClick={() => (acts.current.cancel(), back("answer.taken_back"))}>
                {t("answer.no")}
              </button>
              <button type="button" class="primary" ref={yes} onClick={(event) => void send(event)}>
                {t("answer.yes")}
              </button>
            </>
          )}
        </div>
        <div class="acts">
          <span />
          <button type="button" data-send-batch disabled={busy || verdicts.size === 0} onClick={arm}>
            {t("batch.send", { n: verdicts.size })}
          </button>
        </div>
      </section>
    </div>
  );
}
