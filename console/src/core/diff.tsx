// The difference of two texts, line by line.
import { lineDiff } from "./line_diff";
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

// A difference that the server made. Each line begins with its mark.
export function ServerDiff({ text, label }: { text: string; label: string }) {
  return (
    <pre class="diff" tabIndex={0} aria-label={label}>
      {text.split("\n").map((line) => (
        <span class={line.startsWith("-") ? "old" : line.startsWith("+") ? "new" : "same"}>{visible(line)}</span>
      ))}
    </pre>
  );
}
