// The health of the gate, for the banner of all pages: a guard that fails open, a refused policy, a ledger that cannot
// write.
import { effect, signal } from "@preact/signals";
import { get, Problem } from "./api";
import { setServerTime } from "./clock";
import { roles, session } from "./session";
import { onFrame, onOpen } from "./stream";

export interface Health {
  ok: boolean;
  server_time?: string;
  version: string;
  size: number;
  banner: { kind: string; since?: string; detail?: string }[];
}

const POLL_INTERVAL = 1_500; // ms; for persons whose stream does not carry the health
export const health = signal<Health | null>(null);
export const servesRecords = signal(true); // false: the gate serves questions only

let frameCount = 0; // frames of the stream with a health

async function readHealth(): Promise<void> {
  const before = frameCount;
  try {
    const answer = await get<Health>("health");
    // A frame that came during the request is newer than the answer.
    if (frameCount === before) health.value = answer;
    servesRecords.value = true;
  } catch (error) {
    // The banner shows a lost connection by the state of the stream.
    if (error instanceof Problem && error.status === 404) servesRecords.value = false;
  }
}

export function startHealth(): void {
  onFrame((frame) => {
    if (frame.event !== "health") return;
    const answer = JSON.parse(frame.data) as Health;
    setServerTime(answer.server_time);
    frameCount += 1;
    health.value = answer;
  });
  onOpen(() => void readHealth());
  effect(() => {
    if (!session.value) return;
    void readHealth();
    if (roles.value.has("viewer")) return;
    const timer = setInterval(() => void readHealth(), POLL_INTERVAL);
    return () => clearInterval(timer);
  });
}
