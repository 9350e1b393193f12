import { useEffect, useRef, useState } from "preact/hooks";
import { apiPath, ApiError, fetchJson, send } from "../api";
import { ErrorNote } from "../error_note";
import { saveFile } from "../file_link";
import { useUnsaved } from "../unsaved";
import { useLoaded } from "../use_loaded";
import { Download, OPEN_EXPORT, type OpenExport } from "./download";
import type { KeptExport } from "./kept";

interface ExportCardProps {
  kept: KeptExport;
  /** It was closed, or is over. */
  onEnded: () => void;
}

const WHOLE = new Intl.NumberFormat("en");
const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
/** Asking for the state keeps the export, so it is asked for only now and then. */
const LOOK_MS = 10_000;

/** An open export: its state, and how far its download is. */
export function ExportCard({ kept, onEnded }: ExportCardProps) {
  const { data, error, reload } = useLoaded(kept.token, (signal) => fetchJson(apiPath("export", kept.token), OPEN_EXPORT, signal));
  const [closing, setClosing] = useState<unknown>(null);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && reload(), LOOK_MS);
    return () => clearInterval(timer);
  }, [reload]);
  const isOver = error instanceof ApiError && (error.status === 410 || error.status === 400);

  const close = async () => {
    try {
      if (!isOver) await send({ method: "DELETE", path: apiPath("export", kept.token) });
      onEnded();
    } catch (failure) {
      setClosing(failure);
    }
  };
  return (
    <article class="card export-card">
      <div class="row">
        <b>
          <bdi>{kept.entry}</bdi>
        </b>
        <span class={`badge ${isOver ? "bad" : data ? "good" : ""}`}>{isOver ? "over" : data ? "open" : "…"}</span>
        <span class="muted">
          opened {WHEN.format(kept.at)}
          {data && !isOver && ` · ${data.rows === null ? "rows counted as they are read" : `${WHOLE.format(data.rows)} rows`} · version ${data.version.slice(0, 8)} · kept for ${Math.round(data.expires_in / 60)} min unread`}
        </span>
        <span class="spring" />
        <button type="button" class="button small" onClick={() => void close()}>
          {isOver ? "Forget" : "Close"}
        </button>
      </div>
      <ErrorNote error={isOver ? error : (closing ?? error)} onRetry={isOver || closing !== null ? undefined : reload} />
      {data && !isOver && <DownloadPanel source={data} kept={kept} />}
    </article>
  );
}

function DownloadPanel({ source, kept }: { source: OpenExport; kept: KeptExport }) {
  const [, setTurn] = useState(0);
  const download = useRef<Download | null>(null);
  download.current ??= new Download(source, kept.format, () => setTurn((turn) => turn + 1));
  const { current } = download;
  useEffect(() => () => current.pause(), []);
  // What has come is kept in the page alone.
  useUnsaved(current.rows > 0 && !current.done);
  const total = source.rows;
  return (
    <>
      <div class="row">
        {current.running ? (
          <button type="button" class="button small" onClick={() => current.pause()}>
            Pause
          </button>
        ) : (
          !current.done && (
            <button
              type="button"
              class="button small primary"
              onClick={() => {
                void current.start();
                setTurn((turn) => turn + 1);
              }}
            >
              {current.rows ? "Resume" : `Download as ${kept.format.toUpperCase()}`}
            </button>
          )
        )}
        {current.done && (
          <button type="button" class="button small primary" onClick={() => saveFile(current.blob(), `${kept.entry}.${kept.format}`)}>
            Save {kept.entry}.{kept.format}
          </button>
        )}
        <span role="status" class="muted">
          {WHOLE.format(current.rows)} {total === null ? "rows" : `of ${WHOLE.format(total)} rows`}, {(current.bytes / 1e6).toFixed(1)} MB
          {current.done && ", checksums right"}
        </span>
      </div>
      <ul class="export-streams">
        {source.streams.map((stream, index) => {
          const progress = current.streams[index];
          const value = progress?.done ? 1 : stream.rows ? (progress?.offset ?? 0) / stream.rows : 0;
          return (
            <li key={stream.stream}>
              <span class="muted">Stream {stream.stream}</span>
              <progress max={1} value={value} aria-label={`Stream ${stream.stream}`} />
              <span class="muted">{WHOLE.format(progress?.offset ?? 0)}</span>
            </li>
          );
        })}
      </ul>
      <ErrorNote error={current.error} />
    </>
  );
}
