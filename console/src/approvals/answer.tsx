// The two acts that answer a question.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { post, Problem } from "../core/api";
import { problemText } from "../core/parts";
import { session } from "../core/session";
import { type Key, t } from "../core/text";
import { signAnswer, type SigningKeys } from "../keys/sign_answer";
import { type Act, type Choice, TwoActs } from "./two_acts";

interface Props {
  id: string;
  binding: string; // of the question as the screen shows it
  identity: string; // a change of it cancels the first act
  kind: string;
  name: string;
  reasonRequired: boolean;
  truncated: boolean; // true: the person must open the full input before a yes
  sign: SigningKeys | null; // the keys that may sign the answer; null: the session is enough
  article: { current: HTMLElement | null };
  onAnswered: () => void;
  onShowFull: () => void;
}

const YES: Record<string, Choice> = { question: "answer", escalation: "accept" };
const NO: Record<string, Choice> = { escalation: "dismiss" };

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

export function actOf(event: MouseEvent): Act {
  const hasPointer = event.detail > 0;
  return { at: performance.now(), trusted: event.isTrusted, repeated: event.detail > 1, x: hasPointer ? event.clientX : null, y: hasPointer ? event.clientY : null };
}

// A held `Enter` clicks a button again and again, and a click event does not say that a key repeats.
export function ignoreHeldEnter(event: KeyboardEvent): void {
  if (event.repeat && event.key === "Enter") event.preventDefault();
}

export function Answer(props: Props) {
  const { id, binding, identity, kind, name, article } = props;
  const acts = useRef(new TwoActs());
  const yesButton = useRef<HTMLButtonElement>(null);
  const [choice, setChoice] = useState<Choice | null>(null);
  const [notice, setNotice] = useState<string>("");
  const [noticeFailed, setNoticeFailed] = useState(false);
  const [reason, setReason] = useState("");
  const [answerText, setAnswerText] = useState("");
  const [busy, setBusy] = useState(false);
  const yes = YES[kind] ?? "approve";
  const no = NO[kind] ?? "deny";

  function showNotice(text: string, isFailure = false) {
    setNotice(text);
    setNoticeFailed(isFailure);
  }
  function cancelChoice(textKey: Key) {
    if (!acts.current.cancel()) return;
    setChoice(null);
    showNotice(t(textKey));
  }

  // A new question or a new state starts without a first act. A layout effect runs before any event can come.
  useLayoutEffect(() => {
    const hadChoice = acts.current.vanished();
    setChoice(null);
    if (hadChoice) showNotice(t("answer.changed"));
    if (document.visibilityState === "visible") acts.current.appeared(performance.now());
  }, [identity]);

  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting && document.visibilityState === "visible") acts.current.appeared(performance.now());
    });
    if (article.current) observer.observe(article.current);
    function onVisibilityChange() {
      if (document.visibilityState === "visible") {
        acts.current.appeared(performance.now());
        return;
      }
      if (acts.current.vanished()) {
        setChoice(null);
        showNotice(t("answer.hidden"));
      }
    }
    const onBlur = () => cancelChoice("answer.blurred");
    function onFocusOut(event: FocusEvent) {
      if (!article.current?.contains(event.relatedTarget as Node | null)) cancelChoice("answer.blurred");
    }
    const element = article.current;
    document.addEventListener("visibilitychange", onVisibilityChange);
    window.addEventListener("blur", onBlur);
    element?.addEventListener("focusout", onFocusOut);
    return () => {
      observer.disconnect();
      document.removeEventListener("visibilitychange", onVisibilityChange);
      window.removeEventListener("blur", onBlur);
      element?.removeEventListener("focusout", onFocusOut);
    };
  }, []);

  function choose(next: Choice, act: Act) {
    if (busy) return;
    if (next === yes && props.truncated) {
      showNotice(t("answer.open_whole"));
      return;
    }
    if (next === yes && props.reasonRequired && reason.trim() === "") {
      showNotice(t("answer.reason_needed"));
      return;
    }
    if (next === "answer" && answerText.trim() === "") {
      showNotice(t("answer.words_needed"));
      return;
    }
    if (act.trusted && !acts.current.ready(act.at)) {
      showNotice(t("answer.look_first"));
      return;
    }
    if (!acts.current.choose(next, act)) return;
    setChoice(next);
    showNotice("");
  }

  function confirm(act: Act, box: DOMRect | null) {
    if (busy) return;
    const confirmed = acts.current.confirm(act, box);
    if (confirmed === null) return;
    setChoice(null);
    void send(confirmed);
  }

  function signChoice(sign: SigningKeys, confirmed: Choice) {
    showNotice(t("answer.signing"));
    return signAnswer({ request_id: id, reviewer: session.value!.name, binding, approved: confirmed !== "deny" }, sign);
  }

  async function send(confirmed: Choice) {
    setBusy(true);
    showNotice(t("answer.sending"));
    const reasonMember = reason.trim() === "" ? {} : { reason: reason.trim() };
    const body =
      confirmed === "accept" || confirmed === "dismiss"
        ? { accepted: confirmed === "accept", ...reasonMember }
        : confirmed === "answer"
          ? { answer: answerText, binding, ...reasonMember }
          : { approved: confirmed === "approve", binding, ...reasonMember };
    try {
      const signed = props.sign && binding !== "" ? await signChoice(props.sign, confirmed) : {};
      await post(`approvals/${encodeURIComponent(id)}/respond`, { ...body, ...signed }, crypto.randomUUID());
      showNotice(t(`answer.done_${confirmed}` as Key));
      setReason("");
      setAnswerText("");
    } catch (error) {
      const code = error instanceof Problem ? error.code : "";
      showNotice(code === "binding_mismatch" ? t("answer.new_question") : t("answer.not_taken", { why: problemText(error) }), true);
    }
    setBusy(false);
    props.onAnswered();
  }

  // The keys work while the question has focus, and not in a text field.
  useEffect(() => {
    const element = article.current;
    function onKeyDown(event: KeyboardEvent) {
      if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.getModifierState("AltGraph") || event.isComposing) return;
      const act: Act = { at: performance.now(), trusted: event.isTrusted, repeated: event.repeat, x: null, y: null };
      if (event.key === "a") choose(yes, act);
      else if (event.key === "d") choose(no, act);
      else if (event.key === "y") confirm(act, null);
      else if (event.key === "f") props.onShowFull();
      else if (event.key === "Escape" && acts.current.choice !== null) cancelChoice("answer.taken_back");
      else return;
      event.preventDefault();
    }
    element?.addEventListener("keydown", onKeyDown);
    return () => element?.removeEventListener("keydown", onKeyDown);
  });

  return (
    <section class="answer" aria-label={t("answer.title")} onKeyDown={ignoreHeldEnter}>
      <p class={noticeFailed ? "notice failed" : "notice"} role="status" aria-live="polite">
        {choice !== null ? t(`answer.confirm_${choice}` as Key, { name, binding: binding.slice(7, 15) }) : notice}
      </p>
      <div class="confirm">
        {choice !== null && (
          <>
            <button type="button" onClick={() => cancelChoice("answer.taken_back")}>
              {t("answer.no")}
            </button>
            <button type="button" class="primary" ref={yesButton} onClick={(event) => confirm(actOf(event), yesButton.current!.getBoundingClientRect())}>
              {t("answer.yes")} <kbd>y</kbd>
            </button>
          </>
        )}
      </div>
      {kind === "question" && (
        <label class="reason">
          <span>{t("answer.words")}</span>
          <input type="text" name="words" value={answerText} maxLength={8000} onInput={(event) => setAnswerText(event.currentTarget.value)} />
        </label>
      )}
      <label class="reason">
        <span>
          {t("answer.reason")}
          {props.reasonRequired ? " *" : ""}
        </span>
        <input
          type="text"
          name="reason"
          value={reason}
          maxLength={2000}
          required={props.reasonRequired}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      <div class="acts">
        <button type="button" class="no" disabled={busy} aria-pressed={choice === no} onClick={(event) => choose(no, actOf(event))}>
          {t(`answer.${no}` as Key)} <kbd>d</kbd>
        </button>
        <button type="button" class="yes" disabled={busy} aria-pressed={choice === yes} onClick={(event) => choose(yes, actOf(event))}>
          {t(`answer.${yes}` as Key)} <kbd>a</kbd>
        </button>
      </div>
    </section>
  );
}
