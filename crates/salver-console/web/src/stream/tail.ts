import { ApiError, type ApiRequest, send, unexpected } from "../api";

/** An event as a tail sends it: its offset, and the text of its value. */
export interface TailEvent {
  offset: string;
  text: string;
  /** When this page got it, in milliseconds since 1970. */
  at: number;
  /** Set for a gap: offsets that the log has lost. */
  missing?: boolean;
  /** Set for an event that lay there before, so that `at` is not when it came. */
  replayed?: boolean;
}

/** Whether a tail is on its way, open, or ended by an error. */
export type TailState = "connecting" | "open" | "failed";

/** What a screen wants to know of a tail. */
export interface TailListener {
  onEvents(events: TailEvent[]): void;
  onState(state: TailState, error?: unknown): void;
}

/** Events of this many milliseconds are handed over together, so that a fast stream does not draw the page to death. */
const BATCH_MS = 100;
const RECONNECT_MS = 1500;

/**
 * Follows a stream until `close`. It reads server-sent events with `fetch` and not with `EventSource`, which could send
 * no key and would not tell why the server refuses.
 */
export class Tail {
  private readonly controller = new AbortController();
  private readonly timer: ReturnType<typeof setInterval>;
  private waiting: TailEvent[] = [];
  private lastOffset = "";

  constructor(
    private readonly request: ApiRequest,
    private readonly listener: TailListener,
  ) {
    this.timer = setInterval(() => this.handOver(), BATCH_MS);
    void this.follow();
  }

  close(): void {
    clearInterval(this.timer);
    this.controller.abort();
  }

  private handOver(): void {
    if (!this.waiting.length) return;
    const events = this.waiting;
    this.waiting = [];
    this.listener.onEvents(events);
  }

  private async follow(): Promise<void> {
    const { signal } = this.controller;
    this.listener.onState("connecting");
    while (!signal.aborted) {
      try {
        await this.readOnce(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) {
          this.listener.onState("failed", error);
          return;
        }
        this.listener.onState("connecting", error);
      }
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }

  private async readOnce(signal: AbortSignal): Promise<void> {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.lastOffset) headers["Last-Event-ID"] = this.lastOffset;
    const response = await send({ ...this.request, headers }, signal);
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) throw unexpected(response, "It has no events");
    this.listener.onState("open");
    if (!response.body) return;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) this.take(block);
    }
  }

  private take(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      // A line that begins with a colon only keeps the connection alive.
      if (colon <= 0) continue;
      const name = line.slice(0, colon);
      const value = line.slice(colon + 1).replace(/^ /, "");
      const before = fields.get(name);
      fields.set(name, before !== undefined && name === "data" ? `${before}\n${value}` : value);
    }
    const text = fields.get("data");
    if (text === undefined) return;
    const offset = fields.get("id") ?? "";
    if (offset) this.lastOffset = offset;
    this.waiting.push({ offset, text, at: Date.now(), ...(fields.get("event") === "missing" ? { missing: true } : {}) });
  }
}

/** Events per second over the last seconds, counted when they arrive. */
export class Rate {
  private readonly counts = new Map<number, number>();

  constructor(
    /** How many seconds are kept. */
    readonly seconds: number,
  ) {}

  add(events: TailEvent[]): void {
    for (const event of events) {
      const second = Math.floor(event.at / 1000);
      this.counts.set(second, (this.counts.get(second) ?? 0) + 1);
    }
  }

  /** The counts of the last seconds, oldest first; the current second is left out, since it is not over. */
  values(now: number): number[] {
    const end = Math.floor(now / 1000);
    for (const second of this.counts.keys()) if (second < end - this.seconds) this.counts.delete(second);
    return Array.from({ length: this.seconds }, (_, index) => this.counts.get(end - this.seconds + index) ?? 0);
  }
}
