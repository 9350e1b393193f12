import { useState } from "preact/hooks";
import { type ApiRequest, fetchJson } from "../api";
import type { Entry } from "../catalog";
import { ErrorNote } from "../error_note";
import { RequestPanel } from "../request_panel";
import { chosenColumns } from "./columns_choice";
import { OPEN_EXPORT, type OpenExport, type PartFormat } from "./download";

interface OpenFormProps {
  entry: Entry;
  onOpened: (opened: OpenExport, format: PartFormat) => void;
}

/** Opens an export in streams of one snapshot. */
export function OpenForm({ entry, onOpened }: OpenFormProps) {
  const [streams, setStreams] = useState(2);
  const [minutes, setMinutes] = useState(5);
  const [format, setFormat] = useState<PartFormat>("csv");
  const [error, setError] = useState<unknown>(null);
  const [opening, setOpening] = useState(false);
  const columns = chosenColumns(entry.columns);
  const request: ApiRequest = {
    method: "POST",
    path: "api/export",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ entry: entry.name, streams, ttl: minutes * 60, ...(columns.length ? { columns } : {}) }),
  };
  const open = async (event: SubmitEvent) => {
    event.preventDefault();
    setOpening(true);
    setError(null);
    try {
      onOpened(await fetchJson(request, OPEN_EXPORT), format);
    } catch (failure) {
      setError(failure);
    } finally {
      setOpening(false);
    }
  };
  return (
    <section class="card exports-way" aria-labelledby="snapshot">
      <h2 id="snapshot">A snapshot, in streams</h2>
      <p class="muted">The rows as they are now, read in batches with a checksum for each. Here it can be paused and resumed, also after the server was restarted, as long as this page is not left: what has come is kept in it. A program that keeps it goes on whenever it likes.</p>
      <form class="row" onSubmit={(event) => void open(event)}>
        <label class="inline-field">
          <span>Streams</span>
          <input type="number" min={1} max={64} value={streams} onInput={(event) => setStreams(Number(event.currentTarget.value) || 1)} />
        </label>
        <label class="inline-field">
          <span>As</span>
          <select value={format} onChange={(event) => setFormat(event.currentTarget.value as PartFormat)}>
            <option value="csv">CSV</option>
            <option value="tsv">TSV</option>
            <option value="ndjson">NDJSON</option>
          </select>
        </label>
        <label class="inline-field">
          <span>Kept unread for</span>
          <input type="number" min={1} max={1440} value={minutes} onInput={(event) => setMinutes(Number(event.currentTarget.value) || 1)} /> <span>minutes</span>
        </label>
        <button type="submit" class="button primary" disabled={opening}>
          Open
        </button>
      </form>
      <ErrorNote error={error} />
      <RequestPanel request={request} />
    </section>
  );
}
