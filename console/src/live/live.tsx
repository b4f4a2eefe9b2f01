// Records as the gate writes them. The page shows when it is paused and how many records it missed.
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "../core/link";
import { onFrame, streamState, subscribeTopics } from "../core/stream";
import { Table } from "../core/table";
import { clockTime, number, t, word } from "../core/text";
import { address } from "../core/url";
import { visible } from "../core/visible";

interface Entry {
  sequence: number;
  recorded_at: string;
  kind: string;
  outcome?: string | null;
  tool_name?: string | null;
  server?: string | null;
  agent_id?: string | null;
  call_id?: string | null;
}

const MOST_BUFFERED = 500; // records that wait while the page is paused
const ROWS = 100;

export function Live() {
  const [rows, setRows] = useState<Entry[]>([]);
  const [missed, setMissed] = useState(0);
  const [paused, setPaused] = useState(false);
  const [waiting, setWaiting] = useState(0);
  const buffer = useRef<Entry[]>([]);
  const lastSequence = useRef(-1);
  const pausedRef = useRef(false);
  const frameRequest = useRef(0);

  function draw() {
    frameRequest.current = 0;
    if (pausedRef.current) {
      setWaiting(buffer.current.length);
      return;
    }
    const added = buffer.current.splice(0).reverse();
    if (added.length > 0) setRows((before) => [...added, ...before].slice(0, ROWS));
    setWaiting(0);
  }
  function scheduleDraw() {
    frameRequest.current ||= requestAnimationFrame(draw);
  }
  useEffect(() => {
    const leaveTopics = subscribeTopics(["entries"]);
    const unsubscribe = onFrame((frame) => {
      if (frame.event === "lagged") setMissed((n) => n + ((JSON.parse(frame.data) as { missed: number }).missed ?? 0));
      if (frame.event !== "entries") return;
      const entry = JSON.parse(frame.data) as Entry;
      // A connection that resumes may repeat records.
      if (entry.sequence <= lastSequence.current) return;
      lastSequence.current = entry.sequence;
      buffer.current.push(entry);
      if (buffer.current.length > MOST_BUFFERED) {
        buffer.current.shift();
        setMissed((n) => n + 1);
      }
      scheduleDraw();
    });
    return () => {
      unsubscribe();
      leaveTopics();
      cancelAnimationFrame(frameRequest.current);
    };
  }, []);
  function toggle() {
    pausedRef.current = !pausedRef.current;
    setPaused(pausedRef.current);
    scheduleDraw();
  }
  return (
    <section class="page">
      <h1>{t("nav.live")}</h1>
      <p class="bar">
        <button type="button" aria-pressed={paused} onClick={toggle}>
          {paused ? t("live.go_on") : t("live.pause")}
        </button>
        <span role="status" data-live={paused ? "paused" : streamState.value}>
          {paused ? t("live.paused", { n: waiting, count: number(waiting) }) : streamState.value === "open" ? t("live.running") : t("live.lost")}
          {missed > 0 && ` · ${t("live.missed", { n: missed, count: number(missed) })}`}
        </span>
      </p>
      <Table label={t("nav.live")} heads={["live.record", "calls.time", "live.kind", "calls.agent", "calls.tool", "live.outcome", "live.call"]}>
        {rows.map((row) => (
          <tr key={row.sequence} data-sequence={row.sequence}>
            <td class="fixed">
              <Link to={address("proof", "", { entry: String(row.sequence) })}>{row.sequence}</Link>
            </td>
            <td class="fixed">{clockTime(row.recorded_at)}</td>
            <td>{row.kind}</td>
            <td>{visible(row.agent_id ?? "")}</td>
            <td>
              {visible(row.tool_name ?? "")} <span class="quiet">{visible(row.server ?? "")}</span>
            </td>
            <td>{word("outcome", row.outcome ?? "")}</td>
            <td>{row.call_id && <Link to={address("calls", row.call_id)}>{visible(row.call_id)}</Link>}</td>
          </tr>
        ))}
      </Table>
      {rows.length === 0 && <p class="quiet empty">{t("live.none")}</p>}
    </section>
  );
}
