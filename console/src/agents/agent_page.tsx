// One agent: its tier, its score over time as chart and table, the proposals of its record, and the form for a change of
// tier. A controller signs the change.
import { useState } from "preact/hooks";
import { post } from "../core/api";
import { Chart } from "../core/chart";
import { serverNow } from "../core/clock";
import { Confirm } from "../core/confirm";
import { Link } from "../core/link";
import { useGet } from "../core/load";
import { Failed, Row } from "../core/parts";
import { roles, session } from "../core/session";
import { Table } from "../core/table";
import { number, t, time, word } from "../core/text";
import { address, place } from "../core/url";
import { visible } from "../core/visible";
import { type Agent, percent } from "./agents";

interface Trust {
  history: { at: string; total: number; successes: number; success_rate: number | null }[];
  records: { timestamp: string; action: string; outcome: string; autonomy_tier: string; approver: string | null }[];
}

interface Proposal {
  action: string;
  from_tier: string;
  to_tier: string;
  why: string;
  evidence: { total: number; successes: number; failures: number; denied: number; timeouts: number; success_rate: number | null; first_at: string; latest_at: string; calls: string[] };
}

interface Proposals {
  items: Proposal[];
  tier: string;
  ledger: string;
}

const TIERS = ["shadow", "suggest", "act_with_approval", "act_auto"];

function History({ trust }: { trust: Trust }) {
  const label = t("agents.history");
  return (
    <>
      <h2>{label}</h2>
      <Chart label={label} max={1} maxText={percent(1)} points={trust.history.map(({ at, success_rate }) => ({ at, value: success_rate }))} />
      <details>
        <summary>{t("agents.table")}</summary>
        <Table label={label} heads={["agents.latest", "agents.records", "agents.successes", "agents.rate"]}>
          {trust.history.map((point) => (
            <tr>
              <td class="fixed">{time(point.at)}</td>
              <td>{number(point.total)}</td>
              <td>{number(point.successes)}</td>
              <td>{percent(point.success_rate)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </>
  );
}

function Evidence({ proposal }: { proposal: Proposal }) {
  const { evidence } = proposal;
  return (
    <div class="cannot">
      <p>
        <strong>{t(proposal.action === "trust.promote" ? "agents.promote" : "agents.demote", { from: proposal.from_tier, to: proposal.to_tier })}</strong>
      </p>
      <p>
        {t("agents.evidence", {
          total: number(evidence.total), successes: number(evidence.successes), failures: number(evidence.failures), denied: number(evidence.denied),
          timeouts: number(evidence.timeouts), rate: percent(evidence.success_rate), from: time(evidence.first_at), to: time(evidence.latest_at),
        })}
      </p>
      <p>
        {t("agents.calls")}{" "}
        {evidence.calls.map((call) => (
          <>
            <Link to={address("calls", call)}>…{call.slice(-8)}</Link>{" "}
          </>
        ))}
      </p>
      <p class="quiet">{t("agents.counting")}</p>
    </div>
  );
}

// The page makes the statement. The controller signs it on the machine that has the key, and pastes the signed statement.
function Change({ agent, current, onDone }: { agent: string; current: Proposals; onDone: () => void }) {
  const [to, setTo] = useState(current.items[0]?.to_tier ?? TIERS.find((tier) => tier !== current.tier)!);
  const [statementIds] = useState(() => ({ control_id: crypto.randomUUID(), at: new Date(serverNow()).toISOString().slice(0, 19) + "Z" }));
  const [text, setText] = useState("");
  const isPromotion = TIERS.indexOf(to) > TIERS.indexOf(current.tier);
  const statement = JSON.stringify({
    action: isPromotion ? "trust.promote" : "trust.demote", agent, control_id: statementIds.control_id, from_tier: current.tier, ledger: current.ledger,
    reviewer: session.value!.name, schema: "sallyport.control.v1", signed_at: statementIds.at, to_tier: to,
  });
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = null;
  }
  return (
    <form class="stack" onSubmit={(event) => event.preventDefault()}>
      <h2>{t("agents.change")}</h2>
      <label>
        <span>{t("agents.to")}</span>
        <select value={to} onChange={(event) => setTo(event.currentTarget.value)}>
          {TIERS.filter((tier) => tier !== current.tier).map((tier) => (
            <option value={tier}>{tier}</option>
          ))}
        </select>
      </label>
      <p>{t("agents.sign")}</p>
      <pre class="shown" tabIndex={0} aria-label={t("agents.statement")}>
        {`sallyport trust sign <<'END'\n${visible(statement)}\nEND`}
      </pre>
      <label>
        <span>{t("agents.signed")}</span>
        <textarea name="signed" rows={4} value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <Confirm
        label={t("agents.perform")}
        question={t("agents.sure", { agent: visible(agent), from: current.tier, to })}
        disabled={parsed === null}
        act={async (key) => {
          await post(`agents/${encodeURIComponent(agent)}/tier`, parsed, key);
          onDone();
        }}
      />
    </form>
  );
}

export function AgentPage() {
  const { id } = place.value;
  const path = `agents/${encodeURIComponent(id)}`;
  const agent = useGet<Agent>(path);
  const trust = useGet<Trust>(path + "/trust");
  const proposals = useGet<Proposals>(path + "/proposals");
  const error = agent.error ?? trust.error ?? proposals.error;
  const { score } = agent.data ?? {};
  const reload = () => [agent, trust, proposals].forEach((one) => one.reload());
  return (
    <section class="page">
      <p class="pager">
        <Link to={address("agents")}>← {t("nav.agents")}</Link>
      </p>
      <h1>{visible(id)}</h1>
      {error !== null && <Failed problem={error} />}
      {!agent.data && error === null && <p class="quiet">{t("question.loading")}</p>}
      {agent.data && score && (
        <dl class="facts">
          <Row name="agents.tier">
            <strong data-tier>{visible(agent.data.tier)}</strong> <span class="quiet">{word("source", agent.data.source)}</span>
          </Row>
          <Row name="agents.level">{visible(score.policy.side_effect_level)}</Row>
          <Row name="agents.records">
            {t("agents.counts", {
              total: number(score.total), successes: number(score.successes), failures: number(score.failures), denied: number(score.denied),
              timeouts: number(score.timeouts), withheld: number(score.withheld),
            })}
          </Row>
          <Row name="agents.rate">{percent(score.success_rate)}</Row>
          <Row name="agents.see">
            <Link to={address("calls", "", { agent: id })}>{t("nav.calls")}</Link>
          </Row>
        </dl>
      )}
      {proposals.data?.items.map((proposal) => <Evidence proposal={proposal} />)}
      {trust.data && <History trust={trust.data} />}
      {proposals.data && roles.value.has("controller") && <Change key={proposals.data.tier} agent={id} current={proposals.data} onDone={reload} />}
    </section>
  );
}
