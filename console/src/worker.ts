// As a shared worker, this file reads one stream for all tabs: a browser allows six connections to a server, and each
// tab would use one. As the worker of one page, it checks a range of the log.
import { EventReader, type StreamMessage } from "./core/sse";
import { checkRange, type RangeRequest } from "./proof/range_check";

export interface Subscription {
  secret: string;
  address: string; // of the stream, without the topics
  topics: string[];
}

const subscriptions = new Map<MessagePort, Subscription>();
let reader: EventReader | null = null;
let openKey = "";
let newestState: StreamMessage = { kind: "state", state: "opening", topics: [] };
let newestHealth: StreamMessage | null = null;

function broadcast(message: StreamMessage): void {
  if (message.kind === "state") newestState = message;
  for (const [port, subscription] of subscriptions) {
    if (message.kind !== "frames") {
      port.postMessage(message);
      continue;
    }
    const frames = message.frames.filter((frame) => subscription.topics.includes(frame.event) || frame.event === "lagged" || frame.event.includes("."));
    if (frames.length > 0) port.postMessage({ kind: "frames", frames } satisfies StreamMessage);
  }
  if (message.kind !== "frames") return;
  const last = message.frames.filter((frame) => frame.event === "health").pop();
  if (last) newestHealth = { kind: "frames", frames: [last] };
}

// The stream has the topics of all tabs. If these change, a new stream resumes where the old stream ended.
function updateReader(): void {
  const wanted = [...subscriptions.values()];
  const subscription = wanted[wanted.length - 1];
  if (!subscription) {
    reader?.close();
    reader = null;
    openKey = "";
    return;
  }
  const topics = [...new Set(wanted.flatMap((one) => one.topics))].sort();
  const key = `${subscription.secret} ${subscription.address} ${topics.join(",")}`;
  if (key === openKey) return;
  const sameStream = openKey.startsWith(`${subscription.secret} ${subscription.address} `);
  const after = sameStream ? (reader?.lastId ?? "") : "";
  reader?.close();
  if (!sameStream) newestHealth = null;
  openKey = key;
  reader = new EventReader(subscription.address, topics, subscription.secret, broadcast, after);
}

const isShared = "onconnect" in self;
(self as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = (event) => {
  const port = event.ports[0]!;
  port.onmessage = (message: MessageEvent<Subscription | null>) => {
    const isKnown = subscriptions.has(port);
    subscriptions.delete(port);
    if (message.data) subscriptions.set(port, message.data);
    updateReader();
    if (!isKnown && message.data) {
      port.postMessage(newestState);
      if (newestHealth) port.postMessage(newestHealth);
    }
  };
  port.start();
};

if (!isShared) {
  self.onmessage = (message: MessageEvent<RangeRequest>) => void checkRange(message.data, (reply) => self.postMessage(reply));
}
