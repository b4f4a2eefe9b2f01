// Reads a stream of server-sent events by fetch, which can send the page secret, and goes on after a lost connection
// behind the last event that it has finished.

export interface Frame {
  event: string;
  id: string;
  data: string;
}

export type Told =
  | { kind: "state"; state: "opening" | "open" | "lost" | "refused"; status?: number }
  | { kind: "frames"; frames: Frame[] }
  | { kind: "time"; at: string };

const SILENCE = 40_000; // the server says something every 15 s
const LONGEST_WAIT = 15_000;
const MOST_FRAME = 4 * 1024 * 1024;

// Cuts a stream of text into frames and comments. Keeps an unfinished frame for the next piece.
export class FrameCutter {
  private rest = "";

  take(piece: string): { frames: Frame[]; comments: string[] } {
    this.rest += piece;
    if (this.rest.length > MOST_FRAME) throw new Error("a frame is too long");
    const frames: Frame[] = [];
    const comments: string[] = [];
    for (let end = this.rest.indexOf("\n\n"); end >= 0; end = this.rest.indexOf("\n\n")) {
      const frame: Frame = { event: "message", id: "", data: "" };
      let some = false;
      for (const line of this.rest.slice(0, end).split("\n")) {
        const colon = line.indexOf(":");
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (colon === 0) comments.push(value);
        else if (name === "data") frame.data += (frame.data ? "\n" : "") + value;
        else if (name === "event") frame.event = value;
        else if (name === "id") frame.id = value;
        some ||= colon !== 0 && line !== "";
      }
      if (some) frames.push(frame);
      this.rest = this.rest.slice(end + 2);
    }
    return { frames, comments };
  }
}

export class EventReader {
  private stop = new AbortController();
  private last = "";
  private failures = 0;
  private readonly tellsAll: boolean; // every record: then a new connection goes on behind the last one

  constructor(
    private readonly address: string,
    private readonly secret: string,
    private readonly tell: (told: Told) => void,
    after = "",
  ) {
    // Of a stream that tells some, the rest would be searched for records that a listener reads again anyway.
    this.tellsAll = /[?&]topics=[^&]*\bentries\b/.test(address);
    this.last = this.tellsAll ? after : "";
    void this.run();
  }

  end(): void {
    this.stop.abort();
  }

  get after(): string {
    return this.last;
  }

  private async run(): Promise<void> {
    while (!this.stop.signal.aborted) {
      this.tell({ kind: "state", state: "opening" });
      const status = await this.connect();
      if (this.stop.signal.aborted) return;
      if (status === 401 || status === 403 || status === 404) {
        this.tell({ kind: "state", state: "refused", status });
        return;
      }
      this.tell({ kind: "state", state: "lost" });
      this.failures++;
      const wait = Math.min(LONGEST_WAIT, 250 * 2 ** Math.min(this.failures, 10)) * (0.75 + Math.random() / 2);
      await new Promise((done) => setTimeout(done, wait));
    }
  }

  // Ends when the connection does; gives the status where there was one.
  private async connect(): Promise<number> {
    const silent = new AbortController();
    let timer = setTimeout(() => silent.abort(), SILENCE);
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream", "X-Sallyport-Page": this.secret };
      if (this.last) headers["Last-Event-ID"] = this.last;
      const response = await fetch(this.address, {
        headers, credentials: "same-origin", cache: "no-store", signal: AbortSignal.any([this.stop.signal, silent.signal]),
      });
      if (!response.ok || !response.body) return response.status;
      this.tell({ kind: "state", state: "open" });
      const cutter = new FrameCutter();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return 0;
        this.failures = 0;
        clearTimeout(timer);
        timer = setTimeout(() => silent.abort(), SILENCE);
        this.pass(cutter.take(value));
      }
    } catch {
      return 0;
    } finally {
      clearTimeout(timer);
    }
  }

  private pass({ frames, comments }: { frames: Frame[]; comments: string[] }): void {
    for (const comment of comments) if (/^\d{4}-/.test(comment)) this.tell({ kind: "time", at: comment });
    if (frames.length === 0) return;
    if (this.tellsAll) for (const frame of frames) if (frame.id) this.last = frame.id;
    // Behind `lagged` the stream goes on where the ledger is now: what was missed is counted, not fetched.
    const lagged = frames.find((frame) => frame.event === "lagged");
    const size = lagged && (JSON.parse(lagged.data) as { size?: number }).size;
    if (this.tellsAll && size) this.last = String(size - 1);
    this.tell({ kind: "frames", frames });
  }
}
