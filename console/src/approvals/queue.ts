// The questions that wait, as the server orders them, and what of them is on the screen. While focus or pointer is inside
// the list, nothing in it moves: what is new waits behind a button.
import { computed, effect, signal } from "@preact/signals";
import { get, mayPass } from "../core/api";
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
export const failure = signal<unknown>(null);
export const more = signal(false);
export const held = signal(false); // focus or pointer is inside
export const waiting = computed(() => latest.value?.length ?? 0);
export const fresh = computed(() => {
  const known = new Set((rows.value ?? []).map((item) => item.request_id));
  return (latest.value ?? []).filter((item) => !known.has(item.request_id)).length;
});

export function showNew(): void {
  rows.value = latest.value;
}

function settle(next: Item[]): void {
  latest.value = next;
  const shown = rows.peek();
  if (!held.peek() || !shown || shown.length === 0) {
    rows.value = next;
    return;
  }
  // Each stays where it is; one that waits no more says so.
  const now = new Map(next.map((item) => [item.request_id, item]));
  rows.value = shown.map((item) => now.get(item.request_id) ?? { ...item, state: item.state === "pending" ? "gone" : item.state });
}

const RETRY = 2000; // ms
let reading = false;
let again = false;

function mayRead(): boolean {
  return roles.value.has("approver") || roles.value.has("viewer");
}

export async function readQueue(): Promise<void> {
  if (!mayRead()) return;
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  do {
    again = false;
    try {
      const list = await get<List>("approvals?state=pending");
      more.value = list.more;
      failure.value = null;
      settle(list.approvals);
    } catch (error) {
      failure.value = error;
      // While a stream is open, only the next change would make the page read the list again.
      if (mayPass(error)) setTimeout(() => void readQueue(), RETRY);
    }
  } while (again && session.peek());
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
    if (!held.value && latest.peek()) rows.value = latest.peek();
  });
  onFrame((frame) => {
    if (isAboutApprovals(frame.event) || frame.event === "lagged") void readQueue();
  });
  onOpen(() => void readQueue());
}
