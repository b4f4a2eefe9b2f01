// Health: the state of the gate, the start of each fault, the size of the log, the rate of calls, and gaps of the record.
import { Chart } from "../core/chart";
import { health } from "../core/health";
import { Link } from "../core/link";
import { useGet } from "../core/load";
import { Failed, Row } from "../core/parts";
import { roles } from "../core/session";
import { Table } from "../core/table";
import { number, t, time, word } from "../core/text";
import { address } from "../core/url";
import { visible } from "../core/visible";

interface Stats {
  pieces: { at: string; counts: Record<string, number> }[];
}
interface Gaps {
  gaps: { sequence: number; at: string; kind: string; detail: string }[];
  left_out: number;
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, one) => all + one, 0);

function Rates() {
  const { data, error } = useGet<Stats>("stats?bucket=1m&by=outcome");
  if (error) return <Failed problem={error} />;
  if (!data) return <p class="quiet">{t("question.loading")}</p>;
  const points = data.pieces.map(({ at, counts }) => ({ at, value: sum(counts) }));
  const max = Math.max(1, ...points.map((point) => point.value));
  return (
    <>
      <Chart label={t("health.rates")} points={points} max={max} maxText={number(max)} />
      <details>
        <summary>{t("agents.table")}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("health.minute")}</th>
              <th scope="col">{t("health.each")}</th>
            </tr>
          </thead>
          <tbody>
            {data.pieces
              .filter(({ counts }) => sum(counts) > 0)
              .map(({ at, counts }) => (
                <tr>
                  <td class="fixed">{time(at)}</td>
                  <td>
                    {Object.entries(counts)
                      .map(([outcome, count]) => `${word("outcome", outcome)} ${number(count)}`)
                      .join(" · ")}
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </>
  );
}

function GapTable() {
  const { data, error } = useGet<Gaps>("log/gaps");
  if (error) return <Failed problem={error} />;
  if (!data) return <p class="quiet">{t("question.loading")}</p>;
  if (data.gaps.length === 0) return <p class="quiet">{t("health.no_gaps")}</p>;
  return (
    <Table label={t("health.gaps")} heads={["health.at", "health.kind", "health.detail", "health.record"]} testName="gaps">
      {data.gaps.map((gap) => (
        <tr>
          <td class="fixed">{time(gap.at)}</td>
          <td>{word("gap", gap.kind)}</td>
          <td>{visible(gap.detail)}</td>
          <td>
            <Link to={address("proof", "", { entry: String(gap.sequence) })}>{gap.sequence}</Link>
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function HealthPage() {
  const current = health.value;
  return (
    <section class="page">
      <h1>{t("nav.health")}</h1>
      {!current && <p class="quiet empty">{t("question.loading")}</p>}
      {current && (
        <dl class="facts">
          <Row name="health.state">
            <strong class={current.banner.length === 0 ? "good" : "failed"}>{current.banner.length === 0 ? `✓ ${t("health.well")}` : `✗ ${t("health.ill")}`}</strong>
          </Row>
          {current.banner.map((row) => (
            <Row name="health.trouble">
              {word("banner", row.kind)}: {row.detail} {row.since && t("banner.since", { time: time(row.since) })}
            </Row>
          ))}
          <Row name="health.size">{number(current.size)}</Row>
          <Row name="health.version">{current.version}</Row>
        </dl>
      )}
      {roles.value.has("viewer") && (
        <>
          <h2>{t("health.rates")}</h2>
          <Rates />
          <h2>{t("health.gaps")}</h2>
          <GapTable />
        </>
      )}
    </section>
  );
}
