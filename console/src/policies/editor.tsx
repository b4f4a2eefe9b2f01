// Edits a policy. The gate checks while you type and puts cases to it; nothing here judges.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, get, post } from "../core/api";
import { Confirm } from "../core/confirm";
import { Diff } from "../core/diff";
import { Link } from "../core/link";
import { useGet } from "../core/load";
import { Failed } from "../core/parts";
import { t } from "../core/text";
import { address, place } from "../core/url";
import { visible } from "../core/visible";
import { Backtest } from "./backtest";
import type { Policies, PolicyText } from "./policies";
import { short } from "./policies";

interface Found {
  message: string;
  where: string;
  code: string | null;
}
interface Checked {
  valid: boolean;
  hash?: string;
  error?: Found;
  warnings?: Found[];
}
interface Tested {
  passed: number;
  failed: number;
  cases: { name: string; passed: boolean; problem: string | null; line: number }[];
}

const PAUSE = 120; // after the last key; the answer is there within 300 ms

export function placeOf(where: string): { line: number; column: number } | null {
  const found = /:(\d+):(\d+)$/.exec(where);
  return found ? { line: Number(found[1]), column: Number(found[2]) } : null;
}

// Where a line and column stand in the text.
export function offsetOf(text: string, line: number, column: number): number {
  let at = 0;
  for (let i = 1; i < line; i++) {
    const end = text.indexOf("\n", at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  return Math.min(at + column - 1, text.length);
}

function Finding({ found, area, kind }: { found: Found; area: HTMLTextAreaElement | null; kind: "error" | "warning" }) {
  const at = placeOf(found.where);
  const show = () => {
    if (!at || !area) return;
    const begin = offsetOf(area.value, at.line, at.column);
    const end = area.value.indexOf("\n", begin);
    area.focus();
    area.setSelectionRange(begin, end < 0 ? area.value.length : end);
  };
  return (
    <p class={kind === "error" ? "failed" : "warned"} data-found={kind}>
      {at && (
        <button type="button" class="small" onClick={show}>
          {t("editor.place", at)}
        </button>
      )}{" "}
      {visible(found.message)}
    </p>
  );
}

function useCheck(text: string | null): { checked: Checked | null; failed: unknown } {
  const [state, setState] = useState<{ checked: Checked | null; failed: unknown }>({ checked: null, failed: null });
  useEffect(() => {
    if (text === null) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      ask("policies/check", { method: "POST", body: { text }, signal: stop.signal })
        .then(async (response) => setState({ checked: (await response.json()) as Checked, failed: null }))
        .catch((failed: unknown) => {
          if (!stop.signal.aborted) setState({ checked: null, failed });
        });
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);
  return state;
}

function Cases({ text }: { text: string }) {
  const [cases, setCases] = useState("");
  const [tested, setTested] = useState<Tested | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  const run = async () => {
    setFailed(null);
    setTested(null);
    try {
      setTested(await post<Tested>("policies/test", { text, cases }, crypto.randomUUID()));
    } catch (error) {
      setFailed(error);
    }
  };
  return (
    <details>
      <summary>{t("editor.cases")}</summary>
      <div class="stack">
        <label>
          <span>{t("editor.cases_text")}</span>
          <textarea name="cases" class="code" rows={6} value={cases} spellcheck={false} onInput={(event) => setCases(event.currentTarget.value)} />
        </label>
        <button type="button" disabled={cases.trim() === ""} onClick={() => void run()}>
          {t("editor.run")}
        </button>
        {failed !== null && <Failed problem={failed} />}
        {tested && (
          <div role="status" data-tested>
            <p class={tested.failed === 0 ? "good" : "failed"}>{t("editor.tested", { passed: tested.passed, failed: tested.failed })}</p>
            <ul>
              {tested.cases.map((one) => (
                <li>
                  {one.passed ? "✓" : "✗"} {visible(one.name)} {one.problem && <span class="failed">{visible(one.problem)}</span>}
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </details>
  );
}

function Keep({ text, writes, again }: { text: string; writes: string; again: () => void }) {
  const [name, setName] = useState(place.value.query.get("draft") ?? "");
  const [kept, setKept] = useState(false);
  if (writes === "read_only") return null;
  const good = /^[a-z0-9-]{1,64}$/.test(name);
  return (
    <Confirm
      label={t("editor.keep")}
      question={t("editor.keep_sure", { name })}
      disabled={!good}
      why={name !== "" ? t("editor.letters") : undefined}
      act={async () => {
        await ask(`policies/drafts/${name}`, { method: "PUT", body: { text } });
        setKept(true);
        again();
      }}
    >
      <label>
        <span>{t("editor.name")}</span>
        <input type="text" name="draft" value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      {kept && <span role="status">{t("editor.kept")}</span>}
    </Confirm>
  );
}

export function Editor() {
  const draft = place.value.query.get("draft") ?? "";
  const list = useGet<Policies>("policies");
  const [base, setBase] = useState<PolicyText | null>(null);
  const [text, setText] = useState<string | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const now = list.read?.items.find((one) => one.in_force)?.hash;
  useEffect(() => {
    if (now === undefined || base !== null) return;
    Promise.all([get<PolicyText>(`policies/${encodeURIComponent(now)}`), draft ? get<{ text: string | null }>(`policies/drafts/${draft}`) : null]).then(
      ([inForce, kept]) => {
        setBase(inForce);
        setText(kept?.text ?? inForce.text ?? "");
      },
      setFailed,
    );
  }, [now, draft]);
  const { checked, failed: unchecked } = useCheck(text);
  const at = checked?.error ? placeOf(checked.error.where) : null;
  const wrong = failed ?? list.failed ?? unchecked;
  return (
    <section class="page">
      <p class="pager">
        <Link to={address("policies")}>← {t("nav.policies")}</Link>
      </p>
      <h1>{draft ? t("policies.draft", { name: draft }) : t("policies.edit")}</h1>
      {wrong !== null && <Failed problem={wrong} />}
      {text === null && wrong === null && <p class="quiet">{t("question.loading")}</p>}
      {text !== null && base && list.read && (
        <div class="stack">
          <label>
            <span>{t("policies.text")}</span>
            <textarea
              name="policy" class="code" rows={24} ref={area} value={text} spellcheck={false} wrap="off" aria-invalid={checked?.valid === false} aria-describedby="findings"
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <div id="findings" role="status" data-valid={checked ? checked.valid : undefined} data-line={at?.line}>
            {checked?.valid && <p class="good">✓ {t("editor.good", { hash: short(checked.hash ?? "") })}</p>}
            {checked?.error && <Finding found={checked.error} area={area.current} kind="error" />}
            {checked?.warnings?.map((warning) => <Finding found={warning} area={area.current} kind="warning" />)}
          </div>
          <Cases text={text} />
          <Backtest text={text} />
          {base.text !== null && base.text !== text && (
            <details>
              <summary>{t("editor.changes")}</summary>
              <Diff before={base.text} now={text} label={t("editor.changes")} />
            </details>
          )}
          <Keep text={text} writes={list.read.writes} again={list.again} />
          {list.read.writes === "activate" && list.read.is_file && (
            <Confirm
              label={t("editor.activate")}
              question={t("editor.sure", { hash: short(base.hash) })}
              disabled={!checked?.valid || base.text === text}
              why={base.text === text ? t("editor.same") : undefined}
              act={async (key) => {
                await post("policies/activate", { text, replaces: base.hash }, key);
                setBase(null);
                list.again();
              }}
            />
          )}
        </div>
      )}
    </section>
  );
}
