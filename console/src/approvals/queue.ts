// The pending questions in the order of the server, and the rows on the screen. While the list has focus or the pointer,
// no row moves: new questions wait behind a button.
import { computed, effect, signal } from "@preact/signals";
import { get, isTransient } from "../core/api";
import { roles, session } from "../core/session";
import { onFrame, onOpen } from "../core/stream";

export interface Risk {
  level: string;
  class: string;
  undo: string | null;
  reach: string[] | null;
  hidden: boolean;
}

export interface Quorum {
  required: number;
  approved: { reviewer: string; at: string; door: string }[];
  missing: number;
  may_answer: string[];
}

export interface Item {
  request_id: string;
  kind: string;
  state: string;
  tool_name: string | null;
  server: string | null;
  agent_id: string | null;
  description: string | null;
  message?: string | null;
  requested_at?: string;
  opened_at?: string;
  deadline?: string;
  risk?: Risk;
  quorum?: Quorum;
  may_answer?: { ok: boolean; why: string | null };
}

interface List {
  approvals: Item[];
  more: boolean;
  cursor?: string | null;
}

const latest = signal<Item[] | null>(null);
export const rows = signal<Item[] | null>(null);
export const readError = signal<unknown>(null);
export const hasMore = signal(false);
export const frozen = signal(false); // the list has focus or the pointer
export const waitingCount = computed(() => latest.value?.length ?? 0);
export const newCount = computed(() => {
  const shownIds = new Set((rows.value ?? []).map((item) => item.request_id));
  return (latest.value ?? []).filter((item) => !shownIds.has(item.request_id)).length;
});

export function showNew(): void {
  rows.value = latest.value;
}

function applyList(next: Item[]): void {
  latest.value = next;
  const shown = rows.peek();
  if (!frozen.peek() || !shown || shown.length === 0) {
    rows.value = next;
    return;
  }
  // Each row keeps its place. A question that is no longer pending gets the state `gone`.
  const byId = new Map(next.map((item) => [item.request_id, item]));
  rows.value = shown.map((item) => byId.get(item.request_id) ?? { ...item, state: item.state === "pending" ? "gone" : item.state });
}

const RETRY = 2000; // ms
let reading = false;
let readAgain = false;

function mayRead(): boolean {
  return roles.value.has("approver") || roles.value.has("viewer");
}

export async function readQueue(): Promise<void> {
  if (!mayRead()) return;
  if (reading) {
    readAgain = true;
    return;
  }
  reading = true;
  do {
    readAgain = false;
    try {
      const list = await get<List>("approvals?state=pending");
      hasMore.value = list.more;
      readError.value = null;
      applyList(list.approvals);
    } catch (error) {
      readError.value = error;
      // While a stream is open, only a change triggers a read. Without this timer the list stays missing until then.
      if (isTransient(error)) setTimeout(() => void readQueue(), RETRY);
    }
  } while (readAgain && session.peek());
  reading = false;
}

export function isAboutApprovals(event: string): boolean {
  return event === "approvals" || event.includes(".");
}

export function startQueue(): void {
  effect(() => {
    if (session.value && mayRead()) void readQueue();
    else latest.value = rows.value = null;
  });
  effect(() => {
    if (!frozen.value && latest.peek()) rows.value = latest.peek();
  });
  onFrame((frame) => {
    if (isAboutApprovals(frame.event) || frame.event === "lagged") void readQueue();
  });
  onOpen(() => void readQueue());
}
