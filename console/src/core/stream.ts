// What the server tells by itself. All tabs share one worker; where a browser has no shared workers, the page reads.
import { effect, signal } from "@preact/signals";
import { BASE, pageSecret } from "./api";
import { tellServerTime } from "./clock";
import { roles, session } from "./session";
import { EventReader, type Frame, type Told } from "./sse";
import type { Wish } from "../worker";

declare const WORKER: string;

export const stream = signal<"opening" | "open" | "lost" | "refused">("opening");
const listeners = new Set<(frame: Frame) => void>();
const openers = new Set<() => void>();
const wanted = signal<string[]>(["approvals", "health"]);

export function onFrame(listen: (frame: Frame) => void): () => void {
  listeners.add(listen);
  return () => listeners.delete(listen);
}

// After a connection whatever was missed is read again; while there is none, it is read every two seconds.
export function onOpen(listen: () => void): () => void {
  openers.add(listen);
  return () => openers.delete(listen);
}

export function wantTopics(topics: string[]): () => void {
  wanted.value = [...new Set([...wanted.peek(), ...topics])];
  return () => (wanted.value = ["approvals", "health"]);
}

function take(told: Told): void {
  if (told.kind === "time") tellServerTime(told.at);
  else if (told.kind === "frames") for (const frame of told.frames) for (const listen of [...listeners]) listen(frame);
  else {
    const opened = told.state === "open" && stream.peek() !== "open";
    stream.value = told.state;
    if (opened) for (const listen of [...openers]) listen();
  }
}

// The policy makes the address of the worker and nothing else.
const makeUrl = (url: string): string => {
  if (url !== WORKER) throw new TypeError("not the worker");
  return url;
};
const policy = (window as unknown as { trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } } }).trustedTypes
  ?.createPolicy("sallyport", { createScriptURL: makeUrl });

// The same file, for this page alone: a long check runs there while the page stays usable.
export function ownWorker(): Worker {
  return new Worker(policy ? policy.createScriptURL(WORKER) : makeUrl(WORKER));
}

let port: MessagePort | null = null;
let own: EventReader | null = null;

function send(wish: Wish | null): void {
  if (typeof SharedWorker !== "undefined") {
    if (!port) {
      port = new SharedWorker(policy ? policy.createScriptURL(WORKER) : makeUrl(WORKER)).port;
      port.onmessage = (event: MessageEvent<Told>) => take(event.data);
    }
    port.postMessage(wish);
    return;
  }
  const after = own?.after ?? "";
  own?.end();
  own = wish && new EventReader(wish.topics.length ? `${wish.address}?topics=${wish.topics.join(",")}` : wish.address, wish.secret, take, after);
}

const EVERY = 2_000;

export function startStream(): void {
  effect(() => {
    if (!session.value || stream.value === "open") return;
    const timer = setInterval(() => openers.forEach((listen) => listen()), EVERY);
    return () => clearInterval(timer);
  });
  effect(() => {
    const secret = session.value ? pageSecret() : null;
    // A person who may only answer has a stream of questions alone.
    const all = roles.value.has("viewer");
    send(secret ? { secret, address: BASE + (all ? "stream" : "approvals/stream"), topics: all ? wanted.value : [] } : null);
  });
  window.addEventListener("pagehide", () => send(null));
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
