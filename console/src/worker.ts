// One stream for all tabs: a browser keeps six connections to a server, and every tab would take one. As the worker of
// one page the same file checks a range of the log.
import { EventReader, type Told } from "./core/sse";
import { type Asked, checkRange } from "./proof/range_check";

export interface Wish {
  secret: string;
  address: string; // of the stream, without its topics
  topics: string[];
}

const ports = new Map<MessagePort, Wish>();
let reader: EventReader | null = null;
let open = "";
let newest: Told = { kind: "state", state: "opening" };
let health: Told | null = null;

function tell(told: Told): void {
  if (told.kind === "state") newest = told;
  for (const [port, wish] of ports) {
    if (told.kind !== "frames") {
      port.postMessage(told);
      continue;
    }
    const frames = told.frames.filter((frame) => wish.topics.includes(frame.event) || frame.event === "lagged" || frame.event.includes("."));
    if (frames.length > 0) port.postMessage({ kind: "frames", frames } satisfies Told);
  }
  if (told.kind !== "frames") return;
  const last = told.frames.filter((frame) => frame.event === "health").pop();
  if (last) health = { kind: "frames", frames: [last] };
}

// The stream carries what any tab wants. When that changes, a new one goes on where the old one was.
function arrange(): void {
  const wishes = [...ports.values()];
  const wish = wishes[wishes.length - 1];
  if (!wish) {
    reader?.end();
    reader = null;
    open = "";
    return;
  }
  const topics = [...new Set(wishes.flatMap((one) => one.topics))].sort().join(",");
  const wanted = `${wish.secret} ${wish.address} ${topics}`;
  if (wanted === open) return;
  const same = open.startsWith(`${wish.secret} ${wish.address} `);
  const after = same ? (reader?.after ?? "") : "";
  reader?.end();
  if (!same) health = null;
  open = wanted;
  reader = new EventReader(topics ? `${wish.address}?topics=${topics}` : wish.address, wish.secret, tell, after);
}

const shared = "onconnect" in self;
(self as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = (event) => {
  const port = event.ports[0]!;
  port.onmessage = (message: MessageEvent<Wish | null>) => {
    const known = ports.has(port);
    ports.delete(port);
    if (message.data) ports.set(port, message.data);
    arrange();
    if (!known && message.data) {
      port.postMessage(newest);
      if (health) port.postMessage(health);
    }
  };
  port.start();
};

if (!shared) {
  self.onmessage = (message: MessageEvent<Asked>) => void checkRange(message.data, (told) => self.postMessage(told));
}
