// Agents: the tier of each agent, the source of the tier, and the counts of its record.
import { query } from "../core/api";
import { Link } from "../core/link";
import { type Page, useGet } from "../core/load";
import { Pager } from "../core/pager";
import { Failed } from "../core/parts";
import { Table } from "../core/table";
import { number, t, time, word } from "../core/text";
import { address, place } from "../core/url";
import { visible } from "../core/visible";
import { AgentPage } from "./agent_page";

export interface Score {
  total: number;
  successes: number;
  failures: number;
  denied: number;
  timeouts: number;
  withheld: number;
  success_rate: number | null;
  latest_timestamp: string | null;
  policy: { side_effect_level: string };
}

export interface Agent {
  agent: string;
  tier: string;
  source: string;
  score: Score;
  proposes?: boolean;
}

export function percent(rate: number | null): string {
  return rate === null ? "–" : `${(rate * 100).toFixed(1)} %`;
}

function AgentList() {
  const { data, error } = useGet<Page<Agent>>("agents" + query({ cursor: place.value.query.get("cursor") }));
  return (
    <section class="page">
      <h1>{t("nav.agents")}</h1>
      {error !== null && <Failed problem={error} />}
      {!data && error === null && <p class="quiet">{t("question.loading")}</p>}
      {data && data.items.length === 0 && <p class="quiet empty">{t("agents.none")}</p>}
      {data && data.items.length > 0 && (
        <Table label={t("nav.agents")} heads={["agents.agent", "agents.tier", "agents.level", "agents.records", "agents.rate", "agents.latest"]}>
          {data.items.map((one) => (
            <tr key={one.agent}>
              <td>
                <Link to={address("agents", one.agent)}>{visible(one.agent)}</Link> {one.proposes && <span class="count">{t("agents.proposes")}</span>}
              </td>
              <td>
                {visible(one.tier)} <span class="quiet">{word("source", one.source)}</span>
              </td>
              <td>{visible(one.score.policy.side_effect_level)}</td>
              <td>{number(one.score.total)}</td>
              <td>{percent(one.score.success_rate)}</td>
              <td class="fixed">{one.score.latest_timestamp && time(one.score.latest_timestamp)}</td>
            </tr>
          ))}
        </Table>
      )}
      {data && <Pager list={data} />}
    </section>
  );
}

export function Agents() {
  return place.value.id ? <AgentPage /> : <AgentList />;
}
