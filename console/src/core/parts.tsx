// Small pieces that all screens share.
import type { ComponentChildren } from "preact";
import { Problem } from "./api";
import { type Key, t, word } from "./text";

export function problemText(problem: unknown): string {
  if (!(problem instanceof Problem)) return String(problem);
  const text = word("problem", problem.code);
  if (text !== problem.code) return text;
  return problem.message;
}

export function Failed({ problem }: { problem: unknown }) {
  return (
    <p class="failed" role="alert">
      {problemText(problem)}
    </p>
  );
}

export function Row({ name, children }: { name: Key; children: ComponentChildren }) {
  return (
    <>
      <dt>{t(name)}</dt>
      <dd>{children}</dd>
    </>
  );
}

// The reason why content is absent. Absent content must not look empty.
export function Absent({ state }: { state: string }) {
  return <span class="absent">{word("absent", state)}</span>;
}
