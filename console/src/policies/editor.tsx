// The editor of a policy. The gate checks the text after each change and runs the test cases. The page itself checks
// nothing.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, post, request } from "../core/api";
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
import { shortHash } from "./policies";

interface PolicyFinding {
  message: string;
  where: string;
  code: string | null;
}
interface CheckResult {
  valid: boolean;
  hash?: string;
  error?: PolicyFinding;
  warnings?: PolicyFinding[];
}
interface TestResult {
  passed: number;
  failed: number;
  cases: { name: string; passed: boolean; problem: string | null; line: number }[];
}

const CHECK_DELAY = 120; // ms after the last key; the answer must come within 300 ms

export function placeOf(where: string): { line: number; column: number } | null {
  const match = /:(\d+):(\d+)$/.exec(where);
  return match ? { line: Number(match[1]), column: Number(match[2]) } : null;
}

// The offset of a line and a column in the text.
export function offsetOf(text: string, line: number, column: number): number {
  let at = 0;
  for (let i = 1; i < line; i++) {
    const end = text.indexOf("\n", at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  return Math.min(at + column - 1, text.length);
}

function Finding({ finding, area, kind }: { finding: PolicyFinding; area: HTMLTextAreaElement | null; kind: "error" | "warning" }) {
  const at = placeOf(finding.where);
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
      {visible(finding.message)}
    </p>
  );
}

function useCheck(text: string | null): { checked: CheckResult | null; error: unknown } {
  const [state, setState] = useState<{ checked: CheckResult | null; error: unknown }>({ checked: null, error: null });
  useEffect(() => {
    if (text === null) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      request("policies/check", { method: "POST", body: { text }, signal: controller.signal })
        .then(async (response) => setState({ checked: (await response.json()) as CheckResult, error: null }))
        .catch((error: unknown) => {
          if (!controller.signal.aborted) setState({ checked: null, error });
        });
    }, CHECK_DELAY);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  return state;
}

function Cases({ text }: { text: string }) {
  const [cases, setCases] = useState("");
  const [testResult, setTestResult] = useState<TestResult | null>(null);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setError(null);
    setTestResult(null);
    try {
      setTestResult(await post<TestResult>("policies/test", { text, cases }, crypto.randomUUID()));
    } catch (error) {
      setError(error);
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
        {error !== null && <Failed problem={error} />}
        {testResult && (
          <div role="status" data-tested>
            <p class={testResult.failed === 0 ? "good" : "failed"}>{t("editor.tested", { passed: testResult.passed, failed: testResult.failed })}</p>
            <ul>
              {testResult.cases.map((one) => (
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

function SaveDraft({ text, writes, reload }: { text: string; writes: string; reload: () => void }) {
  const [name, setName] = useState(place.value.query.get("draft") ?? "");
  const [saved, setSaved] = useState(false);
  if (writes === "read_only") return null;
  const isValidName = /^[a-z0-9-]{1,64}$/.test(name);
  return (
    <Confirm
      label={t("editor.keep")}
      question={t("editor.keep_sure", { name })}
      disabled={!isValidName}
      disabledReason={name !== "" ? t("editor.letters") : undefined}
      act={async () => {
        await request(`policies/drafts/${name}`, { method: "PUT", body: { text } });
        setSaved(true);
        reload();
      }}
    >
      <label>
        <span>{t("editor.name")}</span>
        <input type="text" name="draft" value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      {saved && <span role="status">{t("editor.kept")}</span>}
    </Confirm>
  );
}

export function Editor() {
  const draft = place.value.query.get("draft") ?? "";
  const list = useGet<Policies>("policies");
  const [base, setBase] = useState<PolicyText | null>(null);
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const activeHash = list.data?.items.find((one) => one.in_force)?.hash;
  useEffect(() => {
    if (activeHash === undefined || base !== null) return;
    Promise.all([get<PolicyText>(`policies/${encodeURIComponent(activeHash)}`), draft ? get<{ text: string | null }>(`policies/drafts/${draft}`) : null]).then(
      ([inForce, draftText]) => {
        setBase(inForce);
        setText(draftText?.text ?? inForce.text ?? "");
      },
      setError,
    );
  }, [activeHash, draft]);
  const { checked, error: checkError } = useCheck(text);
  const at = checked?.error ? placeOf(checked.error.where) : null;
  const shownError = error ?? list.error ?? checkError;
  return (
    <section class="page">
      <p class="pager">
        <Link to={address("policies")}>← {t("nav.policies")}</Link>
      </p>
      <h1>{draft ? t("policies.draft", { name: draft }) : t("policies.edit")}</h1>
      {shownError !== null && <Failed problem={shownError} />}
      {text === null && shownError === null && <p class="quiet">{t("question.loading")}</p>}
      {text !== null && base && list.data && (
        <div class="stack">
          <label>
            <span>{t("policies.text")}</span>
            <textarea
              name="policy" class="code" rows={24} ref={area} value={text} spellcheck={false} wrap="off" aria-invalid={checked?.valid === false} aria-describedby="findings"
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <div id="findings" role="status" data-valid={checked ? checked.valid : undefined} data-line={at?.line}>
            {checked?.valid && <p class="good">✓ {t("editor.good", { hash: shortHash(checked.hash ?? "") })}</p>}
            {checked?.error && <Finding finding={checked.error} area={area.current} kind="error" />}
            {checked?.warnings?.map((warning) => <Finding finding={warning} area={area.current} kind="warning" />)}
          </div>
          <Cases text={text} />
          <Backtest text={text} />
          {base.text !== null && base.text !== text && (
            <details>
              <summary>{t("editor.changes")}</summary>
              <Diff before={base.text} now={text} label={t("editor.changes")} />
            </details>
          )}
          <SaveDraft text={text} writes={list.data.writes} reload={list.reload} />
          {list.data.writes === "activate" && list.data.is_file && (
            <Confirm
              label={t("editor.activate")}
              question={t("editor.sure", { hash: shortHash(base.hash) })}
              disabled={!checked?.valid || base.text === text}
              disabledReason={base.text === text ? t("editor.same") : undefined}
              act={async (key) => {
                await post("policies/activate", { text, replaces: base.hash }, key);
                setBase(null);
                list.reload();
              }}
            />
          )}
        </div>
      )}
    </section>
  );
}
