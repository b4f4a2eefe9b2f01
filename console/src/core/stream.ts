// The stream of events from the server. All tabs share one worker. In a browser without shared workers the page reads the
// stream itself.
import { computed, effect, signal } from "@preact/signals";
import { BASE, pageSecret } from "./api";
import { setServerTime } from "./clock";
import { roles, session } from "./session";
import { EventReader, type Frame, type StreamMessage } from "./sse";
import type { Subscription } from "../worker";

declare const WORKER: string;

const latestState = signal<Extract<StreamMessage, { kind: "state" }>>({ kind: "state", state: "opening", topics: [] });
const requestedTopics = signal<string[]>([]); // the topics of the last subscription
// If the stream lacks a topic of this page, the worker replaces it soon. Until then the state is `opening`.
export const streamState = computed(() => {
  const topicMissing = requestedTopics.value.some((topic) => !latestState.value.topics.includes(topic));
  return latestState.value.state === "open" && topicMissing ? "opening" : latestState.value.state;
});
const listeners = new Set<(frame: Frame) => void>();
const openListeners = new Set<() => void>();
const wantedTopics = signal<string[]>(["approvals", "health"]);

export function onFrame(listener: (frame: Frame) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// Calls the listener after each connection, to read what was missed, and every two seconds while there is none.
export function onOpen(listener: () => void): () => void {
  openListeners.add(listener);
  return () => openListeners.delete(listener);
}

export function subscribeTopics(topics: string[]): () => void {
  wantedTopics.value = [...new Set([...wantedTopics.peek(), ...topics])];
  return () => (wantedTopics.value = ["approvals", "health"]);
}

function receive(message: StreamMessage): void {
  if (message.kind === "time") setServerTime(message.at);
  else if (message.kind === "frames") for (const frame of message.frames) for (const listener of [...listeners]) listener(frame);
  else {
    const before = streamState.peek();
    latestState.value = message;
    if (streamState.peek() === "open" && before !== "open") for (const listener of [...openListeners]) listener();
  }
}

// The Trusted Types policy accepts the address of the worker only.
const makeUrl = (url: string): string => {
  if (url !== WORKER) throw new TypeError("not the worker");
  return url;
};
const policy = (window as unknown as { trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } } }).trustedTypes
  ?.createPolicy("sallyport", { createScriptURL: makeUrl });

// Starts the same file as a worker of this page alone. A long check runs there, so that the page stays usable.
export function startPageWorker(): Worker {
  return new Worker(policy ? policy.createScriptURL(WORKER) : makeUrl(WORKER));
}

let port: MessagePort | null = null;
let pageReader: EventReader | null = null;

function subscribe(subscription: Subscription | null): void {
  if (typeof SharedWorker !== "undefined") {
    if (!port) {
      port = new SharedWorker(policy ? policy.createScriptURL(WORKER) : makeUrl(WORKER)).port;
      port.onmessage = (event: MessageEvent<StreamMessage>) => receive(event.data);
    }
    port.postMessage(subscription);
    return;
  }
  const after = pageReader?.lastId ?? "";
  pageReader?.close();
  pageReader = subscription && new EventReader(subscription.address, subscription.topics, subscription.secret, receive, after);
}

const POLL_INTERVAL = 2_000;

export function startStream(): void {
  effect(() => {
    if (!session.value || streamState.value === "open") return;
    const timer = setInterval(() => openListeners.forEach((listener) => listener()), POLL_INTERVAL);
    return () => clearInterval(timer);
  });
  effect(() => {
    const secret = session.value ? pageSecret() : null;
    // Without the role `viewer` a person has the stream of questions only.
    const isViewer = roles.value.has("viewer");
    requestedTopics.value = isViewer ? wantedTopics.value : [];
    subscribe(secret ? { secret, address: BASE + (isViewer ? "stream" : "approvals/stream"), topics: requestedTopics.value } : null);
  });
  window.addEventListener("pagehide", () => subscribe(null));
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}
