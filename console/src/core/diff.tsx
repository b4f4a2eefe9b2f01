// Two texts, compared line by line.
import { lineDiff } from "../approvals/line_diff";
import { visible } from "./visible";

const MARKS = { same: "  ", old: "- ", new: "+ " };

export function Diff({ before, now, label }: { before: string; now: string; label: string }) {
  return (
    <pre class="diff" tabIndex={0} aria-label={label}>
      {lineDiff(before, now).map(({ kind, text }) => (
        <span class={kind}>{MARKS[kind] + visible(text)}</span>
      ))}
    </pre>
  );
}
