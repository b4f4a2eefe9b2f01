// The server's clock. It runs on from the last time that the server told, by a clock that cannot be set.
import { signal } from "@preact/signals";

let told: { server: number; here: number } | null = null;

// `asked` is when the request left, so that half of the way can be taken off.
export function tellServerTime(text: string | undefined | null, asked = performance.now()): void {
  const server = text ? Date.parse(text) : NaN;
  if (Number.isNaN(server)) return;
  const now = performance.now();
  told = { server: server + (now - asked) / 2, here: now };
}

export function serverNow(): number {
  return told ? told.server + (performance.now() - told.here) : Date.now();
}

// Changes four times a second; every reader is drawn again.
export const tick = signal(0);
setInterval(() => (tick.value = performance.now()), 250);

export function secondsLeft(deadline: string): number {
  tick.value;
  return Math.max(0, Math.floor((Date.parse(deadline) - serverNow()) / 1000));
}

export function countdown(seconds: number): string {
  const two = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor((seconds % 3600) / 60))}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}
