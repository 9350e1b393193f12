import { ApiError, bodyOf, send } from "../api";
import { list, nullable, number, object, text } from "../shape";
import { crc32 } from "./crc32";

/** A stream of an open export, as the API describes it. */
export interface ExportStream {
  stream: number;
  rows: number | null;
  url: string;
}

/** An open export. */
export interface OpenExport {
  export: string;
  entry: string;
  version: string;
  rows: number | null;
  /** How many seconds it is kept without being read. */
  expires_in: number;
  schema: { name: string; type: string }[];
  streams: ExportStream[];
}

export const OPEN_EXPORT = object<OpenExport>({
  export: text,
  entry: text,
  version: text,
  rows: nullable(number),
  expires_in: number,
  schema: list(object<{ name: string; type: string }>({ name: text, type: text })),
  streams: list(object<ExportStream>({ stream: number, rows: nullable(number), url: text })),
});

/** Formats whose parts can stand one behind the other in one file. */
export type PartFormat = "ndjson" | "csv" | "tsv";

/** How far one stream is. */
export interface StreamProgress {
  /** The offset of the next batch. */
  offset: number;
  done: boolean;
  parts: Uint8Array<ArrayBuffer>[];
}

const BATCH_ROWS = 50_000;
const TRIES_MAX = 5;

/**
 * Reads the streams of an export batch by batch, at most two at a time, and keeps the batches. It can be paused and
 * resumed at any batch: an offset always means the same row.
 */
export class Download {
  readonly streams: StreamProgress[];
  /** Why the last run ended early. */
  error: unknown = null;
  private controller: AbortController | null = null;

  constructor(
    readonly source: OpenExport,
    readonly format: PartFormat,
    private readonly onProgress: () => void,
  ) {
    this.streams = source.streams.map(() => ({ offset: 0, done: false, parts: [] }));
  }

  get running(): boolean {
    return this.controller !== null;
  }

  get done(): boolean {
    return this.streams.every((stream) => stream.done);
  }

  get rows(): number {
    return this.streams.reduce((sum, stream) => sum + stream.offset, 0);
  }

  get bytes(): number {
    return this.streams.reduce((sum, stream) => sum + stream.parts.reduce((size, part) => size + part.length, 0), 0);
  }

  /** Reads until the end, a pause or an error. */
  async start(): Promise<void> {
    if (this.controller) return;
    const controller = new AbortController();
    this.controller = controller;
    this.error = null;
    const waiting = this.streams.map((_, index) => index).filter((index) => !this.streams[index]?.done);
    const work = async () => {
      for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) await this.readStream(index, controller.signal);
    };
    try {
      await Promise.all([work(), work()]);
    } catch (error) {
      if (!controller.signal.aborted) this.error = error;
      controller.abort();
    } finally {
      this.controller = null;
      this.onProgress();
    }
  }

  pause(): void {
    this.controller?.abort();
  }

  /** The whole file, its streams in the order of the snapshot. */
  blob(): Blob {
    return new Blob(this.streams.flatMap((stream) => stream.parts));
  }

  private async readStream(index: number, signal: AbortSignal): Promise<void> {
    const progress = this.streams[index];
    if (!progress) return;
    while (!progress.done) {
      const { bytes, rows, next } = await this.readBatch(index, progress.offset, signal);
      progress.parts.push(bytes);
      progress.offset = next ?? progress.offset + rows;
      progress.done = next === null;
      this.onProgress();
    }
  }

  private async readBatch(index: number, offset: number, signal: AbortSignal) {
    // Only the very first part of the file has the names of the columns.
    const header = index === 0 && offset === 0;
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await send(
          {
            path: `api/export/${this.source.export}/${index}`,
            query: [
              ["offset", String(offset)],
              ["rows", String(BATCH_ROWS)],
              ["format", this.format],
              ...(header || this.format === "ndjson" ? [] : [["header", "false"] as [string, string]]),
            ],
          },
          signal,
        );
        const bytes = new Uint8Array(await bodyOf(response, () => response.arrayBuffer()));
        const sum = response.headers.get("salver-crc32");
        if (sum !== null && sum !== crc32(bytes)) throw new ApiError(0, "checksum", "A batch arrived damaged.", null, null);
        const next = response.headers.get("salver-next");
        return { bytes, rows: Number(response.headers.get("salver-rows") ?? 0), next: next === null ? null : Number(next) };
      } catch (error) {
        if (signal.aborted || attempt >= TRIES_MAX || !worthAnother(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
      }
    }
  }
}

/** Whether the same request may succeed a moment later. */
function worthAnother(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}
