// One question as the server tells it, read again whenever something happens to it.
import { signal } from "@preact/signals";
import { get } from "../core/api";
import type { Sign } from "../keys/sign_answer";
import type { Quorum, Risk } from "./queue";

export interface Segment {
  text: string;
  mark?: "hidden" | "lookalike" | "masked" | "truncated";
}

export interface Member {
  path: string;
  before?: unknown;
  now?: unknown;
  diff?: string; // instead of both
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
  ended?: { state: string; by: string[]; at: string; door: string; reason: string | null } | null; // by nobody's answer
  result: { sequence: number; call_id: string; outcome: unknown } | null;
  risk: Risk;
  quorum: Quorum;
  may_answer: { ok: boolean; why: string | null; sign?: Sign | null };
  withheld: string[];
  shown: { text: string; truncated: boolean; segments: Segment[] } | null;
  unlike: { request_id: string; answered_at: string; members: Member[] } | null;
  edits?: Member[] | null; // of texts, by the call itself
  why: { autonomy: string; source: string; findings: unknown[] } | null;
  agent: { tier: string; counts: Record<string, number> } | null;
}

// Something that a guard let pass and wants looked at: it has no binding and no deadline.
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

let wanted = "";
let turn = 0; // of the newest read
let shown = 0; // the turn of what is shown

export function isEscalation(value: Detail | Escalation): value is Escalation {
  return "kind" in value && value.kind === "escalation";
}

export async function readDetail(id: string): Promise<void> {
  if (id !== wanted) {
    wanted = id;
    detail.value = null;
    detailFailure.value = null;
    full.value = false;
  }
  if (id === "") return;
  const mine = ++turn;
  try {
    const read = await get<Detail | Escalation>(`approvals/${encodeURIComponent(id)}${full.peek() ? "?full=1" : ""}`);
    // A newer read may be under way. If each made the one before it void, none would be shown where answers take longer
    // than the time between two reads.
    if (mine < shown || id !== wanted) return;
    shown = mine;
    detail.value = read;
    detailFailure.value = null;
  } catch (error) {
    if (mine === turn && id === wanted) detailFailure.value = error;
  }
}

export async function readWhole(id: string): Promise<void> {
  full.value = true;
  await readDetail(id);
}
