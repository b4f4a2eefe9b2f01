// Reads a stream of server-sent events. Uses fetch, because EventSource cannot send the page secret. After a lost
// connection it resumes after the last complete event.

export interface Frame {
  event: string;
  id: string;
  data: string;
}

export type StreamMessage =
  | { kind: "state"; state: "opening" | "open" | "lost" | "refused"; topics: string[] } // `topics`: of this stream
  | { kind: "frames"; frames: Frame[] }
  | { kind: "time"; at: string };

const SILENCE_TIMEOUT = 40_000; // ms; the server sends at least a comment every 15 s
const LONGEST_WAIT = 15_000;
const MOST_FRAME = 4 * 1024 * 1024;

// Splits a stream of text into frames and comments. Keeps an incomplete frame for the next piece.
export class FrameCutter {
  private rest = "";

  take(piece: string): { frames: Frame[]; comments: string[] } {
    this.rest += piece;
    if (this.rest.length > MOST_FRAME) throw new Error("a frame is too long");
    const frames: Frame[] = [];
    const comments: string[] = [];
    for (let end = this.rest.indexOf("\n\n"); end >= 0; end = this.rest.indexOf("\n\n")) {
      const frame: Frame = { event: "message", id: "", data: "" };
      let hasField = false;
      for (const line of this.rest.slice(0, end).split("\n")) {
        const colon = line.indexOf(":");
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (colon === 0) comments.push(value);
        else if (name === "data") frame.data += (frame.data ? "\n" : "") + value;
        else if (name === "event") frame.event = value;
        else if (name === "id") frame.id = value;
        hasField ||= colon !== 0 && line !== "";
      }
      if (hasField) frames.push(frame);
      this.rest = this.rest.slice(end + 2);
    }
    return { frames, comments };
  }
}

export class EventReader {
  private controller = new AbortController();
  private lastEventId = "";
  private failures = 0;
  private readonly resumes: boolean; // the stream has every record: a new connection resumes after the last record

  constructor(
    private readonly address: string, // without the topics
    private readonly topics: string[],
    private readonly secret: string,
    private readonly notify: (message: StreamMessage) => void,
    after = "",
  ) {
    // Other streams do not resume: the server would search the log for records that the listeners read again anyway.
    this.resumes = topics.includes("entries");
    this.lastEventId = this.resumes ? after : "";
    void this.run();
  }

  close(): void {
    this.controller.abort();
  }

  get lastId(): string {
    return this.lastEventId;
  }

  private notifyState(state: "opening" | "open" | "lost" | "refused"): void {
    this.notify({ kind: "state", state, topics: this.topics });
  }

  private async run(): Promise<void> {
    while (!this.controller.signal.aborted) {
      this.notifyState("opening");
      const status = await this.connect();
      if (this.controller.signal.aborted) return;
      if (status === 401 || status === 403 || status === 404) {
        this.notifyState("refused");
        return;
      }
      this.notifyState("lost");
      this.failures++;
      const wait = Math.min(LONGEST_WAIT, 250 * 2 ** Math.min(this.failures, 10)) * (0.75 + Math.random() / 2);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  // Returns when the connection ends. The result is the HTTP status of a refusal, or 0.
  private async connect(): Promise<number> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT);
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream", "X-Sallyport-Page": this.secret };
      if (this.lastEventId) headers["Last-Event-ID"] = this.lastEventId;
      const query = this.topics.length > 0 ? `?topics=${this.topics.join(",")}` : "";
      const response = await fetch(this.address + query, {
        headers, credentials: "same-origin", cache: "no-store", signal: AbortSignal.any([this.controller.signal, silence.signal]),
      });
      if (!response.ok || !response.body) return response.status;
      this.notifyState("open");
      const cutter = new FrameCutter();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return 0;
        this.failures = 0;
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT);
        this.deliver(cutter.take(value));
      }
    } catch {
      return 0;
    } finally {
      clearTimeout(timer);
    }
  }

  private deliver({ frames, comments }: { frames: Frame[]; comments: string[] }): void {
    for (const comment of comments) if (/^\d{4}-/.test(comment)) this.notify({ kind: "time", at: comment });
    if (frames.length === 0) return;
    if (this.resumes) for (const frame of frames) if (frame.id) this.lastEventId = frame.id;
    // After `lagged` the stream continues at the end of the ledger. Missed records are counted, not fetched.
    const lagged = frames.find((frame) => frame.event === "lagged");
    const size = lagged && (JSON.parse(lagged.data) as { size?: number }).size;
    if (this.resumes && size) this.lastEventId = String(size - 1);
    this.notify({ kind: "frames", frames });
  }
}
