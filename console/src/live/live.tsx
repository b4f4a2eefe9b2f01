// Records as they are written. It pauses only where it says so, and says what it missed.
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "../core/link";
import { onFrame, stream, wantTopics } from "../core/stream";
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

const MOST = 500; // that wait while it is paused
const ROWS = 100;

export function Live() {
  const [rows, setRows] = useState<Entry[]>([]);
  const [missed, setMissed] = useState(0);
  const [paused, setPaused] = useState(false);
  const [waiting, setWaiting] = useState(0);
  const buffer = useRef<Entry[]>([]);
  const last = useRef(-1);
  const stopped = useRef(false);
  const drawing = useRef(0);

  function draw() {
    drawing.current = 0;
    if (stopped.current) {
      setWaiting(buffer.current.length);
      return;
    }
    const fresh = buffer.current.splice(0).reverse();
    if (fresh.length > 0) setRows((before) => [...fresh, ...before].slice(0, ROWS));
    setWaiting(0);
  }
  function soon() {
    drawing.current ||= requestAnimationFrame(draw);
  }
  useEffect(() => {
    const leave = wantTopics(["entries"]);
    const stop = onFrame((frame) => {
      if (frame.event === "lagged") setMissed((n) => n + ((JSON.parse(frame.data) as { missed: number }).missed ?? 0));
      if (frame.event !== "entries") return;
      const entry = JSON.parse(frame.data) as Entry;
      // A connection that goes on may repeat what it had not finished.
      if (entry.sequence <= last.current) return;
      last.current = entry.sequence;
      buffer.current.push(entry);
      if (buffer.current.length > MOST) {
        buffer.current.shift();
        setMissed((n) => n + 1);
      }
      soon();
    });
    return () => {
      stop();
      leave();
      cancelAnimationFrame(drawing.current);
    };
  }, []);
  function toggle() {
    stopped.current = !stopped.current;
    setPaused(stopped.current);
    soon();
  }
  return (
    <section class="page">
      <h1>{t("nav.live")}</h1>
      <p class="bar">
        <button type="button" aria-pressed={paused} onClick={toggle}>
          {paused ? t("live.go_on") : t("live.pause")}
        </button>
        <span role="status" data-live={paused ? "paused" : stream.value}>
          {paused ? t("live.paused", { n: waiting, count: number(waiting) }) : stream.value === "open" ? t("live.running") : t("live.lost")}
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
