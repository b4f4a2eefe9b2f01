// Small pieces that all screens share.
import type { ComponentChildren } from "preact";
import { Problem } from "./api";
import { type Key, t, word } from "./text";

export function told(problem: unknown): string {
  if (!(problem instanceof Problem)) return String(problem);
  const ours = word("problem", problem.code);
  if (ours !== problem.code) return ours;
  return problem.message;
}

export function Failed({ problem }: { problem: unknown }) {
  return (
    <p class="failed" role="alert">
      {told(problem)}
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

// Content that is not here says why; it never looks empty.
export function Absent({ state }: { state: string }) {
  return <span class="absent">{word("absent", state)}</span>;
}
