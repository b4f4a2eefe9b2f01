// The time of the server: the last time that the server sent, plus the time since then by a monotonic clock.
import { signal } from "@preact/signals";

let reference: { server: number; here: number } | null = null;

// `sentAt` is the time of the request. Half of the round trip is added to the time of the server.
export function setServerTime(text: string | undefined | null, sentAt = performance.now()): void {
  const server = text ? Date.parse(text) : NaN;
  if (Number.isNaN(server)) return;
  const now = performance.now();
  reference = { server: server + (now - sentAt) / 2, here: now };
}

export function serverNow(): number {
  return reference ? reference.server + (performance.now() - reference.here) : Date.now();
}

// Changes four times a second. Each component that reads it is drawn again.
export const tick = signal(0);
setInterval(() => (tick.value = performance.now()), 250);

export function secondsLeft(deadline: string): number {
  tick.value;
  return Math.max(0, Math.floor((Date.parse(deadline) - serverNow()) / 1000));
}

export function countdown(seconds: number): string {
  const twoDigits = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${twoDigits(Math.floor((seconds % 3600) / 60))}:${twoDigits(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}
