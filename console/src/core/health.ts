// What the banner of every page says: a guard that fails open, a refused policy, a ledger that cannot write.
import { effect, signal } from "@preact/signals";
import { get, Problem } from "./api";
import { tellServerTime } from "./clock";
import { roles, session } from "./session";
import { onFrame, onOpen } from "./stream";

export interface Health {
  ok: boolean;
  server_time?: string;
  version: string;
  size: number;
  banner: { kind: string; since?: string; detail?: string }[];
}

const EVERY = 1_500; // for those to whom no stream tells it
export const health = signal<Health | null>(null);
export const tellsRecords = signal(true); // false: a gate that serves questions alone

let frames = 0; // that the stream has told

async function read(): Promise<void> {
  const before = frames;
  try {
    const told = await get<Health>("health");
    // What the stream told meanwhile is newer than this answer.
    if (frames === before) health.value = told;
    tellsRecords.value = true;
  } catch (error) {
    // The state of the connection is shown beside it.
    if (error instanceof Problem && error.status === 404) tellsRecords.value = false;
  }
}

export function startHealth(): void {
  onFrame((frame) => {
    if (frame.event !== "health") return;
    const told = JSON.parse(frame.data) as Health;
    tellServerTime(told.server_time);
    frames += 1;
    health.value = told;
  });
  onOpen(() => void read());
  effect(() => {
    if (!session.value) return;
    void read();
    if (roles.value.has("viewer")) return;
    const timer = setInterval(() => void read(), EVERY);
    return () => clearInterval(timer);
  });
}
