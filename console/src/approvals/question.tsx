// One question: the input of the call, its difference from an earlier call, the reason for the question, the responses
// so far, and the form for the answer.
import { useEffect, useRef } from "preact/hooks";
import { isTransient } from "../core/api";
import { countdown, secondsLeft } from "../core/clock";
import { Diff, ServerDiff } from "../core/diff";
import { Link } from "../core/link";
import { Absent, Failed, Row } from "../core/parts";
import { number, t, time, word } from "../core/text";
import { address, place } from "../core/url";
import { shownValue, visible } from "../core/visible";
import { Answer } from "./answer";
import { detail, type Detail, detailFailure, type Escalation, isEscalation, type Member, readDetail, readFullDetail, type Segment } from "./detail";

const RETRY = 2000; // ms

// A mark has a frame and a word for screen readers, not a colour alone.
export function Segments({ segments }: { segments: Segment[] }) {
  return (
    <pre class="shown" tabIndex={0} aria-label={t("question.input")}>
      {segments.map(({ text, mark }) =>
        mark ? (
          <mark class={mark} title={word("mark", mark)}>
            {text}
          </mark>
        ) : (
          text
        ),
      )}
    </pre>
  );
}

function Difference({ member }: { member: Member }) {
  const { path, before, now, diff } = member;
  const label = t("question.diff", { path: visible(path) });
  const multiline = typeof before === "string" && typeof now === "string" && (before + now).includes("\n");
  if (multiline || diff !== undefined) {
    return (
      <li>
        <code>{visible(path)}</code>
        {multiline ? <Diff before={before as string} now={now as string} label={label} /> : <ServerDiff text={diff!} label={label} />}
      </li>
    );
  }
  return (
    <li>
      <code>{visible(path)}</code> {before === undefined ? <em>{t("question.absent")}</em> : <del>{shownValue(before)}</del>} →{" "}
      {now === undefined ? <em>{t("question.absent")}</em> : <ins>{shownValue(now)}</ins>}
    </li>
  );
}

function factText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value as Record<string, unknown>)
    .filter(([, part]) => part !== null && part !== "")
    .map(([name, part]) => `${name} ${typeof part === "string" ? part : JSON.stringify(part)}`)
    .join(" · ");
}

// `http:token`: the door and the kind of credential.
function doorText(name: string): string {
  const [kind = "", credential] = name.split(":");
  return word("door", kind) + (credential ? ` (${credential})` : "");
}

function Facts({ question }: { question: Detail }) {
  const { risk, why, agent, quorum, unlike, withheld } = question;
  return (
    <dl class="facts">
      {(question.edits ?? []).length > 0 && (
        <Row name="question.edits">
          <ul class="members">
            {question.edits!.map((member) => (
              <Difference member={member} />
            ))}
          </ul>
        </Row>
      )}
      {unlike && unlike.members.length > 0 && (
        <Row name="question.differs">
          <span class="quiet">{t("question.differs_from", { time: time(unlike.answered_at) })}</span>
          <ul class="members">
            {unlike.members.map((member) => (
              <Difference member={member} />
            ))}
          </ul>
        </Row>
      )}
      {unlike && unlike.members.length === 0 && <Row name="question.differs">{t("question.same")}</Row>}
      {!unlike && question.request.kind !== "question" && (
        <Row name="question.differs">{withheld?.includes("unlike") ? <Absent state="withheld" /> : t("question.first")}</Row>
      )}
      {risk && (
        <Row name="question.risk">
          <strong class={`risk ${risk.level}`}>{word("risk", risk.level)}</strong> {visible(risk.class)}
          {risk.undo !== null && ` · ${t("question.undo")} ${word("undo", risk.undo)}`}
          {(risk.reach ?? []).length > 0 && ` · ${risk.reach!.map(visible).join(", ")}`}
        </Row>
      )}
      {why && (
        <Row name="question.why">
          {t("question.tier", { tier: why.autonomy, source: why.source })}
          {why.findings.length > 0 && (
            <ul class="members">
              {why.findings.map((one) => (
                <li>{visible(factText(one))}</li>
              ))}
            </ul>
          )}
        </Row>
      )}
      {agent && (
        <Row name="question.agent">
          {visible(agent.tier)}
          {Object.keys(agent.counts).length === 0 && ` · ${t("question.no_record")}`}
          {Object.entries(agent.counts).map(([name, count]) => ` · ${number(count)} ${word("count", name)}`)}
        </Row>
      )}
      {quorum && (
        <Row name="question.quorum">
          {t("question.of", { approved: quorum.approved.length, required: quorum.required })}
          {quorum.approved.map((one) => ` · ${one.reviewer} ${time(one.at)} ✓`)}
          {quorum.missing > 0 && question.state === "pending" && ` · ${t("question.missing", { n: quorum.missing })}`}
          {quorum.may_answer.length > 0 && question.state === "pending" && <span class="quiet"> · {t("question.may", { who: quorum.may_answer.join(", ") })}</span>}
        </Row>
      )}
      {question.responses.map((one) => (
        <Row name={one.approved ? "question.said_yes" : "question.said_no"}>
          {one.reviewer} · {time(one.responded_at)} · {doorText(one.door)}
          {one.reason && <> · “{visible(one.reason)}”</>}
        </Row>
      ))}
      {question.ended && (
        <Row name="question.ended">
          {[word("state", question.ended.state), ...question.ended.by.map(visible), time(question.ended.at), ...(question.ended.door ? [doorText(question.ended.door)] : [])].join(" · ")}
          {question.ended.reason && <> · “{visible(question.ended.reason)}”</>}
        </Row>
      )}
      {question.answer && <Row name="question.answer">{visible(question.answer)}</Row>}
      {question.result && (
        <Row name="question.result">
          {t("question.record", { n: question.result.sequence })} · {visible(factText(question.result.outcome))}
        </Row>
      )}
      {withheld?.length > 0 && (
        <Row name="question.withheld">
          <Absent state="withheld" /> {withheld.join(", ")}
        </Row>
      )}
    </dl>
  );
}

function TimeLeft({ deadline }: { deadline: string }) {
  const seconds = secondsLeft(deadline);
  return (
    <span class={seconds < 60 ? "left soon" : "left"} data-left={seconds}>
      {t("question.left", { time: countdown(seconds) })}
    </span>
  );
}

function Head({ question }: { question: Detail | Escalation }) {
  const { tool_name, server, agent_id, call_id } = isEscalation(question) ? question : question.request;
  const kind = isEscalation(question) ? "escalation" : question.request.kind;
  const session = isEscalation(question) ? null : question.request.session_id;
  return (
    <header>
      <h2>
        {tool_name ? (
          <>
            {visible(tool_name)}
            {server && <span class="quiet"> {t("question.on", { server: visible(server) })}</span>}
          </>
        ) : (
          word("kind", kind)
        )}
      </h2>
      {!isEscalation(question) && question.state === "pending" && <TimeLeft deadline={question.request.deadline} />}
      {question.state !== "pending" && <strong class="state">{word("state", question.state)}</strong>}
      <p class="quiet line">
        {agent_id && visible(agent_id)}
        {session && ` · ${t("question.session")} ${visible(session).slice(0, 13)}`}
        {call_id && ` · ${t("question.call")} ${visible(call_id)}`}
      </p>
    </header>
  );
}

function Body({ question }: { question: Detail | Escalation }) {
  if (isEscalation(question)) {
    return (
      <dl class="facts">
        <Row name="question.why">{question.guard}</Row>
        <Row name="question.message">{question.message === null ? <Absent state="withheld" /> : visible(question.message)}</Row>
        <Row name="question.count">{question.count}</Row>
      </dl>
    );
  }
  return (
    <>
      {question.request.kind !== "question" && question.state === "pending" && <p class="consequence">{t("question.consequence")}</p>}
      {question.shown ? <Segments segments={question.shown.segments} /> : <p>{question.description ? visible(question.description) : <Absent state="withheld" />}</p>}
      {question.shown?.truncated && (
        <button type="button" class="whole" onClick={() => void readFullDetail(question.request.request_id)}>
          {t("question.whole")} <kbd>f</kbd>
        </button>
      )}
      <Facts question={question} />
    </>
  );
}

function AnswerTo({ question, article }: { question: Detail | Escalation; article: { current: HTMLElement | null } }) {
  const id = place.value.id;
  if (question.state !== "pending") return null;
  if (isEscalation(question)) {
    return (
      <Answer id={id} binding="" identity={`${id} ${question.count}`} kind="escalation" name={question.tool_name} reasonRequired={false} truncated={false} sign={null}
        article={article} onAnswered={() => void readDetail(id)} onShowFull={() => {}} />
    );
  }
  if (!question.may_answer?.ok) {
    return (
      <p class="cannot" role="note" data-why={question.may_answer?.why ?? ""}>
        {word("may", question.may_answer?.why ?? "role")}{" "}
        {["key_needed", "strong_needed"].includes(question.may_answer?.why ?? "") && <Link to={address("keys")}>{t("may.enrol")}</Link>}
      </p>
    );
  }
  const { request } = question;
  const votes = question.quorum?.approved.length ?? 0;
  return (
    <Answer
      id={id}
      binding={request.binding}
      identity={`${id} ${request.binding} ${question.state} ${votes} ${question.shown?.truncated}`}
      kind={request.kind}
      name={visible(request.tool_name ?? word("kind", request.kind))}
      reasonRequired={question.reason_required === true}
      truncated={question.shown?.truncated === true}
      sign={question.may_answer.sign ?? null}
      article={article}
      onAnswered={() => void readDetail(id)}
      onShowFull={() => void readFullDetail(id)}
    />
  );
}

export function Question() {
  const article = useRef<HTMLElement>(null);
  const id = place.value.id;
  const question = detail.value;
  const deadline = question && !isEscalation(question) && question.state === "pending" ? question.request.deadline : null;
  const expired = deadline !== null && secondsLeft(deadline) === 0;
  // Only the server decides that a question has expired. The page reads the question again at that time.
  useEffect(() => {
    if (!expired) return;
    const timer = setTimeout(() => void readDetail(id), 1200);
    return () => clearTimeout(timer);
  }, [expired, id]);
  // While a stream is open, only an event about the question triggers a read. This timer retries a failed read.
  const failure = detailFailure.value;
  useEffect(() => {
    if (!isTransient(failure)) return;
    const timer = setTimeout(() => void readDetail(id), RETRY);
    return () => clearTimeout(timer);
  }, [failure, id]);
  if (failure && !question) return <Failed problem={failure} />;
  if (!question) return <p class="quiet empty">{t("question.loading")}</p>;
  return (
    <article ref={article} class="question" tabIndex={-1} aria-label={t("question.title")} data-id={id}>
      <Link to={address("approvals", "", Object.fromEntries(place.value.query))} class="back">
        ← {t("approvals.back")}
      </Link>
      <Head question={question} />
      <Body question={question} />
      <AnswerTo question={question} article={article} key={id} />
    </article>
  );
}
