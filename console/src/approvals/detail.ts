// The open question. The page reads it again after each event about it.
import { signal } from "@preact/signals";
import { get } from "../core/api";
import type { SigningKeys } from "../keys/sign_answer";
import type { Quorum, Risk } from "./queue";

export interface Segment {
  text: string;
  mark?: "hidden" | "lookalike" | "masked" | "truncated";
}

export interface Member {
  path: string;
  before?: unknown;
  now?: unknown;
  diff?: string; // instead of `before` and `now`
}

export interface Detail {
  request: {
    kind: string;
    request_id: string;
    call_id: string | null;
    session_id: string | null;
    agent_id: string | null;
    server: string | null;
    tool_name: string | null;
    requested_at: string;
    deadline: string;
    binding: string;
  };
  state: string;
  description: string | null;
  answer: string | null;
  reason_required?: boolean;
  responses: { reviewer: string; approved: boolean; responded_at: string; door: string; reason?: string | null }[];
  ended?: { state: string; by: string[]; at: string; door: string; reason: string | null } | null; // set if the question ended without an answer
  result: { sequence: number; call_id: string; outcome: unknown } | null;
  risk: Risk;
  quorum: Quorum;
  may_answer: { ok: boolean; why: string | null; sign?: SigningKeys | null };
  withheld: string[];
  shown: { text: string; truncated: boolean; segments: Segment[] } | null;
  unlike: { request_id: string; answered_at: string; members: Member[] } | null;
  edits?: Member[] | null; // the changes that the call itself makes to texts
  why: { autonomy: string; source: string; findings: unknown[] } | null;
  agent: { tier: string; counts: Record<string, number> } | null;
}

// A call that a guard allowed and reports to a person. It has no binding and no deadline.
export interface Escalation {
  kind: "escalation";
  state: string;
  request_id: string;
  call_id: string;
  agent_id: string;
  server: string;
  tool_name: string;
  guard: string;
  message: string | null;
  opened_at: string;
  count: number;
}

export const detail = signal<Detail | Escalation | null>(null);
export const detailFailure = signal<unknown>(null);
export const full = signal(false);

let currentId = "";
let newestRead = 0; // the number of the newest read
let shownRead = 0; // the number of the read on the screen

export function isEscalation(value: Detail | Escalation): value is Escalation {
  return "kind" in value && value.kind === "escalation";
}

export async function readDetail(id: string): Promise<void> {
  if (id !== currentId) {
    currentId = id;
    detail.value = null;
    detailFailure.value = null;
    full.value = false;
  }
  if (id === "") return;
  const thisRead = ++newestRead;
  try {
    const answer = await get<Detail | Escalation>(`approvals/${encodeURIComponent(id)}${full.peek() ? "?full=1" : ""}`);
    // An answer counts even if a newer read is under way. Otherwise, no answer would ever be shown if answers take longer
    // than the time between two reads.
    if (thisRead < shownRead || id !== currentId) return;
    shownRead = thisRead;
    detail.value = answer;
    detailFailure.value = null;
  } catch (error) {
    if (thisRead === newestRead && id === currentId) detailFailure.value = error;
  }
}

export async function readFullDetail(id: string): Promise<void> {
  full.value = true;
  await readDetail(id);
}
