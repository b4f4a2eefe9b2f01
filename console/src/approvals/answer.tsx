// The two acts that answer a question.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { post, Problem } from "../core/api";
import { told } from "../core/parts";
import { session } from "../core/session";
import { type Key, t } from "../core/text";
import { type Sign, signAnswer } from "../keys/sign_answer";
import { type Act, type Choice, TwoActs } from "./two_acts";

interface Props {
  id: string;
  binding: string; // as it is on the screen
  identity: string; // changes with everything that a first act must not outlive
  kind: string;
  name: string;
  reasonRequired: boolean;
  truncated: boolean; // a yes needs the whole input first
  sign: Sign | null; // with which keys it is signed; null: the session is enough
  article: { current: HTMLElement | null };
  onAnswered: () => void;
  onWhole: () => void;
}

const YES: Record<string, Choice> = { question: "answer", escalation: "accept" };
const NO: Record<string, Choice> = { escalation: "dismiss" };

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

export function actOf(event: MouseEvent): Act {
  const pointed = event.detail > 0;
  return { at: performance.now(), trusted: event.isTrusted, repeated: event.detail > 1, x: pointed ? event.clientX : null, y: pointed ? event.clientY : null };
}

// A held `Enter` would click a button again and again, and a click does not say that a key repeats.
export function ignoreHeld(event: KeyboardEvent): void {
  if (event.repeat && event.key === "Enter") event.preventDefault();
}

export function Answer(props: Props) {
  const { id, binding, identity, kind, name, article } = props;
  const acts = useRef(new TwoActs());
  const yesButton = useRef<HTMLButtonElement>(null);
  const [choice, setChoice] = useState<Choice | null>(null);
  const [notice, setNotice] = useState<string>("");
  const [failed, setFailed] = useState(false);
  const [reason, setReason] = useState("");
  const [words, setWords] = useState("");
  const [busy, setBusy] = useState(false);
  const yes = YES[kind] ?? "approve";
  const no = NO[kind] ?? "deny";

  function say(text: string, bad = false) {
    setNotice(text);
    setFailed(bad);
  }
  function takeBack(why: Key) {
    if (!acts.current.cancel()) return;
    setChoice(null);
    say(t(why));
  }

  // A new question, or a new state of this one, begins anew, before any event can reach it.
  useLayoutEffect(() => {
    const had = acts.current.vanished();
    setChoice(null);
    if (had) say(t("answer.changed"));
    if (document.visibilityState === "visible") acts.current.appeared(performance.now());
  }, [identity]);

  useEffect(() => {
    const watcher = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting && document.visibilityState === "visible") acts.current.appeared(performance.now());
    });
    if (article.current) watcher.observe(article.current);
    function hidden() {
      if (document.visibilityState === "visible") {
        acts.current.appeared(performance.now());
        return;
      }
      if (acts.current.vanished()) {
        setChoice(null);
        say(t("answer.hidden"));
      }
    }
    const blurred = () => takeBack("answer.blurred");
    function left(event: FocusEvent) {
      if (!article.current?.contains(event.relatedTarget as Node | null)) takeBack("answer.blurred");
    }
    const element = article.current;
    document.addEventListener("visibilitychange", hidden);
    window.addEventListener("blur", blurred);
    element?.addEventListener("focusout", left);
    return () => {
      watcher.disconnect();
      document.removeEventListener("visibilitychange", hidden);
      window.removeEventListener("blur", blurred);
      element?.removeEventListener("focusout", left);
    };
  }, []);

  function choose(next: Choice, act: Act) {
    if (busy) return;
    if (next === yes && props.truncated) {
      say(t("answer.open_whole"));
      return;
    }
    if (next === yes && props.reasonRequired && reason.trim() === "") {
      say(t("answer.reason_needed"));
      return;
    }
    if (next === "answer" && words.trim() === "") {
      say(t("answer.words_needed"));
      return;
    }
    if (act.trusted && !acts.current.ready(act.at)) {
      say(t("answer.look_first"));
      return;
    }
    if (!acts.current.choose(next, act)) return;
    setChoice(next);
    say("");
  }

  function confirm(act: Act, box: DOMRect | null) {
    if (busy) return;
    const confirmed = acts.current.confirm(act, box);
    if (confirmed === null) return;
    setChoice(null);
    void send(confirmed);
  }

  function signed_with(sign: Sign, confirmed: Choice) {
    say(t("answer.signing"));
    return signAnswer({ request_id: id, reviewer: session.value!.name, binding, approved: confirmed !== "deny" }, sign);
  }

  async function send(confirmed: Choice) {
    setBusy(true);
    say(t("answer.sending"));
    const told_reason = reason.trim() === "" ? {} : { reason: reason.trim() };
    const body =
      confirmed === "accept" || confirmed === "dismiss"
        ? { accepted: confirmed === "accept", ...told_reason }
        : confirmed === "answer"
          ? { answer: words, binding, ...told_reason }
          : { approved: confirmed === "approve", binding, ...told_reason };
    try {
      const signed = props.sign && binding !== "" ? await signed_with(props.sign, confirmed) : {};
      await post(`approvals/${encodeURIComponent(id)}/respond`, { ...body, ...signed }, crypto.randomUUID());
      say(t(`answer.done_${confirmed}` as Key));
      setReason("");
      setWords("");
    } catch (error) {
      const code = error instanceof Problem ? error.code : "";
      say(code === "binding_mismatch" ? t("answer.new_question") : t("answer.not_taken", { why: told(error) }), true);
    }
    setBusy(false);
    props.onAnswered();
  }

  // The keys act while the question has focus, and never where one types.
  useEffect(() => {
    const element = article.current;
    function key(event: KeyboardEvent) {
      if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.getModifierState("AltGraph") || event.isComposing) return;
      const act: Act = { at: performance.now(), trusted: event.isTrusted, repeated: event.repeat, x: null, y: null };
      if (event.key === "a") choose(yes, act);
      else if (event.key === "d") choose(no, act);
      else if (event.key === "y") confirm(act, null);
      else if (event.key === "f") props.onWhole();
      else if (event.key === "Escape" && acts.current.choice !== null) takeBack("answer.taken_back");
      else return;
      event.preventDefault();
    }
    element?.addEventListener("keydown", key);
    return () => element?.removeEventListener("keydown", key);
  });

  return (
    <section class="answer" aria-label={t("answer.title")} onKeyDown={ignoreHeld}>
      <p class={failed ? "notice failed" : "notice"} role="status" aria-live="polite">
        {choice !== null ? t(`answer.confirm_${choice}` as Key, { name, binding: binding.slice(7, 15) }) : notice}
      </p>
      <div class="confirm">
        {choice !== null && (
          <>
            <button type="button" onClick={() => takeBack("answer.taken_back")}>
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
          <input type="text" name="words" value={words} maxLength={8000} onInput={(event) => setWords(event.currentTarget.value)} />
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
