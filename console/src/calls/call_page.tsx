// One call, from its records alone: each step of both doors in order, the step that decided, and the decision of the
// policy now.
import { useEffect, useState } from "preact/hooks";
import { get, Problem, query, request } from "../core/api";
import { Link } from "../core/link";
import { useGet } from "../core/load";
import { Absent, Failed, Row } from "../core/parts";
import { roles } from "../core/session";
import { type Key, number, t, time, word } from "../core/text";
import { address, place } from "../core/url";
import { shownValue, visible } from "../core/visible";
import type { CallRow } from "./calls";

interface GuardStep {
  guard: string;
  verdict: string | null;
  rule?: string | null;
  place?: string | null;
  why?: string | null;
  us?: number | null;
  skipped?: string | null;
  decided?: boolean;
}

interface Stage {
  stage: string;
  at?: string;
  sequence?: number;
  reached?: boolean;
  input?: unknown;
  input_state?: string;
  class?: string;
  guards?: GuardStep[];
  tier?: string | null;
  source?: string | null;
  approval_id?: string | null;
  effect?: string | null;
  verdict?: string | null;
  output?: string | null;
  output_bytes?: number;
  output_state?: string;
  outcome?: string | null;
  reason?: string | null;
  terminal?: boolean;
}

interface Call {
  call: CallRow;
  records: { sequence: number; kind: string }[];
  timeline: Stage[];
  policy_hash: string | null;
  next: string | null;
  prev: string | null;
  search?: { next: string | null; prev: string | null }; // cursors of the list; set if no neighbour was found nearby
  withheld: string[];
}

interface Explanation {
  verdict?: string;
  text?: string; // why there is no explanation
  withheld?: string[];
  decided_by?: Record<string, unknown> | null;
  policy?: { name?: string; hash?: string };
  causes?: { kind: string; name: string; place: string | null; verdict: string; text: string }[];
  changes?: { kind: string; edits: { place: string | null; text: string }[]; verdict: string }[];
}

function Guard({ step }: { step: GuardStep }) {
  return (
    <tr class={step.decided ? "decided" : ""}>
      <th scope="row">{visible(step.guard)}</th>
      <td>{step.skipped ? t("call.skipped", { why: step.skipped }) : word("guard", step.verdict ?? "")}</td>
      <td>
        {step.rule && t("call.rule", { rule: visible(step.rule) })} {step.place && <code>{visible(step.place)}</code>} {step.why && visible(step.why)}
      </td>
      <td class="fixed">{typeof step.us === "number" ? `${step.us} µs` : ""}</td>
      <td>{step.decided && <strong>◀ {t("call.decided")}</strong>}</td>
    </tr>
  );
}

// The input of the call, or the output for the agent.
function Content({ name, state, value }: { name: Key; state: string | undefined; value: unknown }) {
  const shown = value !== null && value !== undefined;
  const open = state === undefined || state === "open";
  return (
    <>
      {!open && <Absent state={state} />}
      {(open || shown) && (
        <pre class="shown" tabIndex={0} aria-label={t(name)}>
          {shownValue(value)}
        </pre>
      )}
    </>
  );
}

function StageView({ stage }: { stage: Stage }) {
  const shown = new TextEncoder().encode(stage.output ?? "").length;
  return (
    <li>
      <h2>
        {word("stage", stage.stage)} {stage.class && <span class="quiet">{visible(stage.class)}</span>}
        <span class="side quiet">
          {stage.at && time(stage.at)} {stage.sequence !== undefined && t("question.record", { n: stage.sequence })}
          {stage.terminal && ` · ${t("call.terminal")}`}
        </span>
      </h2>
      {stage.reached === false && !stage.effect && <p class="quiet">{t("call.not_reached")}</p>}
      {stage.stage === "asked" && <Content name="call.input" state={stage.input_state} value={stage.input} />}
      {stage.guards && stage.guards.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label={word("stage", stage.stage)}>
          <table>
            <tbody>
              {stage.guards.map((step) => (
                <Guard step={step} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {stage.tier && stage.reached !== false && (
        <p>
          {t("question.tier", { tier: stage.tier, source: stage.source ?? "" })}{" "}
          {stage.approval_id && <Link to={address("approvals", stage.approval_id, { view: "history" })}>{stage.approval_id}</Link>}
        </p>
      )}
      {stage.effect && <p>{word("effect", stage.effect)}</p>}
      {stage.verdict && <p>{word("guard", stage.verdict)}</p>}
      {stage.output_state && <Content name="call.output" state={stage.output_state} value={stage.output} />}
      {shown < (stage.output_bytes ?? 0) && <p class="quiet">{t("call.cut", { shown: number(shown), n: number(stage.output_bytes ?? 0) })}</p>}
      {stage.outcome && (
        <p>
          <strong>{word("outcome", stage.outcome)}</strong> {stage.reason && visible(stage.reason)}
        </p>
      )}
    </li>
  );
}

// The output of `policy explain`, under the policy of that time (`policy` is empty) or the policy of now.
function Explained({ id, policy }: { id: string; policy: "" | "now" }) {
  const { data: explanation, error } = useGet<Explanation>(`calls/${encodeURIComponent(id)}/explain` + query({ policy }));
  const name = policy === "now" ? "call.today" : "call.then";
  if (error instanceof Problem && error.status === 404) return null; // this gate does not explain calls
  if (error) return <Failed problem={error} />;
  if (!explanation) return <p class="quiet">{t("question.loading")}</p>;
  const deciders = ["kind", "name", "place"].map((part) => explanation.decided_by?.[part]).filter((value) => value !== null && value !== undefined && value !== "");
  return (
    <dl class="facts" data-explained={policy || "then"}>
      {explanation.verdict && (
        <Row name={name}>
          <strong>{visible(word("verdict", explanation.verdict))}</strong> {explanation.policy?.hash && <Link to={address("policies", explanation.policy.hash)}>{explanation.policy.hash.slice(0, 15)}…</Link>}
        </Row>
      )}
      {explanation.text && <Row name="call.missing">{visible(explanation.text)}</Row>}
      {deciders.length > 0 && <Row name="call.by">{deciders.map(shownValue).join(" ")}</Row>}
      {explanation.causes?.map((cause) => (
        <Row name="call.cause">
          {visible(cause.text)} {cause.place && <code>{visible(cause.place)}</code>}
        </Row>
      ))}
      {explanation.changes?.map((change) => (
        <Row name="call.would">
          {change.edits.map((edit) => `${edit.place ? visible(edit.place) + "  " : ""}${visible(edit.text)}`).join("; ")} → {visible(word("verdict", change.verdict))}
        </Row>
      ))}
      {explanation.withheld && explanation.withheld.length > 0 && (
        <Row name="question.withheld">
          <Absent state="withheld" /> {explanation.withheld.join(", ")}
        </Row>
      )}
    </dl>
  );
}

// Saves all receipts of the call as a file for `sallyport verify` or verify.html.
function Receipts({ id }: { id: string }) {
  const [error, setError] = useState<unknown>(null);
  const save = async () => {
    setError(null);
    try {
      const blob = await (await request(`calls/${encodeURIComponent(id)}/receipts`)).blob();
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = `receipts-${id}.json`;
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      setError(error);
    }
  };
  return (
    <Row name="call.receipts">
      <button type="button" class="small" onClick={() => void save()}>
        {t("call.get")}
      </button>
      {error !== null && <Failed problem={error} />}
    </Row>
  );
}

export function CallPage() {
  const { id, query: search } = place.value;
  const filters = Object.fromEntries(search);
  const [data, setData] = useState<Call | null>(null);
  const [error, setError] = useState<unknown>(null);
  const path = `calls/${encodeURIComponent(id)}` + query({ ...filters, cursor: "" });
  useEffect(() => {
    const controller = new AbortController();
    setError(null);
    get<Call>(path, controller.signal).then(setData, (error: unknown) => {
      if (!controller.signal.aborted) setError(error);
    });
    return () => controller.abort();
  }, [path]);
  if (error) return <Failed problem={error} />;
  if (!data || data.call.call_id !== place.value.id) return <p class="quiet empty">{t("question.loading")}</p>;
  const { call } = data;
  // `calls.prev` is the text for a newer call, `calls.next` for an older one.
  const [prevLabel, nextLabel] = filters["order"] === "asc" ? (["calls.next", "calls.prev"] as const) : (["calls.prev", "calls.next"] as const);
  return (
    <section class="page">
      <p class="pager">
        <Link to={address("calls", "", filters)}>← {t("nav.calls")}</Link>
        {data.prev && <Link to={address("calls", data.prev, filters)}>‹ {t(prevLabel)}</Link>}
        {data.search?.prev && <Link to={address("calls", "", { ...filters, cursor: data.search.prev })}>‹ {t(prevLabel)}…</Link>}
        {data.next && <Link to={address("calls", data.next, filters)}>{t(nextLabel)} ›</Link>}
        {data.search?.next && <Link to={address("calls", "", { ...filters, cursor: data.search.next })}>{t(nextLabel)}… ›</Link>}
      </p>
      <h1>
        {visible(call.tool)} <span class="quiet">{call.server && t("question.on", { server: visible(call.server) })}</span>
      </h1>
      <p>
        {visible(call.agent)} · <span class={`verdict ${call.verdict}`}>{word("verdict", call.verdict)}</span> {visible(call.why ?? "")} · <code>{call.call_id}</code>
      </p>
      <ol class="timeline">
        {data.timeline.map((stage) => (
          <StageView stage={stage} />
        ))}
      </ol>
      <Explained id={id} policy="" />
      <Explained id={id} policy="now" />
      <dl class="facts">
        <Row name="call.records">
          {data.records.map((record) => (
            <>
              <Link to={address("proof", "", { entry: String(record.sequence) })}>
                {record.sequence} {visible(record.kind)}
              </Link>{" "}
            </>
          ))}
        </Row>
        {data.policy_hash && (
          <Row name="call.policy">
            <Link to={address("policies", data.policy_hash)}>{data.policy_hash}</Link>
          </Row>
        )}
        {roles.value.has("viewer") && <Receipts id={id} />}
        {data.withheld.length > 0 && (
          <Row name="question.withheld">
            <Absent state="withheld" /> {data.withheld.join(", ")}
          </Row>
        )}
      </dl>
    </section>
  );
}
