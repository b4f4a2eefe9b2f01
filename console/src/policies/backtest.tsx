// Backtest: the gate decides recorded calls again under another policy. It runs and writes nothing.
import { useEffect, useState } from "preact/hooks";
import { get, post, request } from "../core/api";
import { Link } from "../core/link";
import { Failed } from "../core/parts";
import { onFrame, subscribeTopics } from "../core/stream";
import { Table } from "../core/table";
import { number, t, time, word } from "../core/text";
import { address } from "../core/url";
import { visible } from "../core/visible";

interface Group {
  change: string;
  before: string;
  after: string;
  server: string;
  tool: string;
  before_by: string;
  after_by: string;
  calls: number;
  examples: string[];
}
interface Summary {
  calls: number;
  older_calls: number;
  since: string;
  until: string;
  undecided: number;
  undecided_by: Record<string, number>;
  not_reproduced: number;
  not_reproduced_by: Record<string, number>;
  same: number;
  loosened: number;
  tightened: number;
  other: number;
  newly_refused: number;
}
interface Test {
  id: string;
  state: string;
  why: string | null;
  read: number;
  summary?: Summary | null;
  groups?: Group[];
}

function Codes({ counts }: { counts: Record<string, number> }) {
  const all = Object.entries(counts);
  return all.length === 0 ? null : <>: {all.map(([code, count]) => `${number(count)} ${visible(code)}`).join(", ")}</>;
}

function Result({ summary, groups }: { summary: Summary; groups: Group[] }) {
  return (
    <div data-backtest="done">
      <p>
        {t("backtest.calls", { n: summary.calls, count: number(summary.calls) })} {summary.since && `${time(summary.since)} – ${time(summary.until)}`}{" "}
        {summary.older_calls > 0 && t("backtest.older", { n: summary.older_calls, count: number(summary.older_calls) })}
      </p>
      <p class={summary.undecided + summary.not_reproduced > 0 ? "warned" : "quiet"} data-undecided={summary.undecided}>
        {t("backtest.undecided", { count: number(summary.undecided) })}
        <Codes counts={summary.undecided_by} />. {t("backtest.lost", { count: number(summary.not_reproduced) })}
        <Codes counts={summary.not_reproduced_by} />.
      </p>
      <p>
        {(["same", "loosened", "tightened", "other"] as const).map((name) => (
          <span data-change={name}>
            {t(`backtest.${name}`)} {number(summary[name])}.{" "}
          </span>
        ))}
        <strong>{t("backtest.refused", { count: number(summary.newly_refused) })}</strong>
      </p>
      {groups.length > 0 && (
        <Table label={t("backtest.title")} heads={["backtest.change", "backtest.tool", "backtest.was", "backtest.is", "backtest.count", "backtest.examples"]}>
          {groups.map((one) => (
            <tr>
              <td>{t(`backtest.${one.change}` as "backtest.same")}</td>
              <td class="what">
                {visible(one.tool)} {one.server && <span class="quiet">{visible(one.server)}</span>}
              </td>
              <td>
                {word("verdict", one.before)} <span class="quiet">{visible(one.before_by)}</span>
              </td>
              <td>
                {word("verdict", one.after)} <span class="quiet">{visible(one.after_by)}</span>
              </td>
              <td>{number(one.calls)}</td>
              <td>
                {one.examples.map((id) => (
                  <>
                    <Link to={address("calls", id)}>{id.slice(0, 8)}</Link>{" "}
                  </>
                ))}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </div>
  );
}

export function Backtest({ text }: { text: string }) {
  const [last, setLast] = useState("200");
  const [agent, setAgent] = useState("");
  const [test, setTest] = useState<Test | null>(null);
  const [error, setError] = useState<unknown>(null);
  const running = test?.state === "running";
  const readTest = (id: string) => get<Test>(`backtests/${id}`).then(setTest, setError);
  // The stream reports the progress. The page reads the result once.
  useEffect(() => {
    if (!running) return;
    const leaveTopics = subscribeTopics(["backtests"]);
    const unsubscribe = onFrame((frame) => {
      if (frame.event !== "backtests") return;
      const update = (JSON.parse(frame.data) as { items: Test[] }).items.find((one) => one.id === test.id);
      if (update?.state === "running") setTest(update);
      else void readTest(test.id);
    });
    const timer = setInterval(() => void readTest(test.id), 2000); // for a page without an open stream
    return () => (leaveTopics(), unsubscribe(), clearInterval(timer));
  }, [running, test?.id]);
  const start = async () => {
    setError(null);
    try {
      const { id } = await post<{ id: string }>("backtests", { text, last: Number(last), ...(agent ? { agent } : {}) }, crypto.randomUUID());
      setTest({ id, state: "running", why: null, read: 0 });
    } catch (error) {
      setError(error);
    }
  };
  return (
    <details>
      <summary>{t("backtest.title")}</summary>
      <div class="stack">
        <p class="quiet">{t("backtest.about")}</p>
        <div class="bar">
          <label class="inline">
            <span>{t("backtest.last")}</span>
            <input type="number" name="last" min="1" max="10000" value={last} onInput={(event) => setLast(event.currentTarget.value)} />
          </label>
          <label class="inline">
            <span>{t("backtest.agent")}</span>
            <input type="text" name="agent" value={agent} spellcheck={false} onInput={(event) => setAgent(event.currentTarget.value.trim())} />
          </label>
          {running ? (
            <button type="button" onClick={() => void request(`backtests/${test.id}`, { method: "DELETE" }).catch(setError)}>
              {t("range.stop")}
            </button>
          ) : (
            <button type="button" data-start-backtest onClick={() => void start()}>
              {t("backtest.run")}
            </button>
          )}
        </div>
        {error !== null && <Failed problem={error} />}
        <div role="status">
          {running && <p data-backtest="running">{t("backtest.running", { count: number(test.read) })}</p>}
          {test?.state === "stopped" && <p data-backtest="stopped">{t("backtest.stopped")}</p>}
          {test?.state === "failed" && <p class="failed">{visible(test.why ?? "")}</p>}
          {test?.state === "done" && test.summary && <Result summary={test.summary} groups={test.groups ?? []} />}
        </div>
      </div>
    </details>
  );
}
