import { type ApiRequest, apiPath, fetchEvents } from "../api";
import type { Value } from "../data_json";
import { ErrorNote } from "../error_note";
import { Grid } from "../grid/grid";
import { RequestPanel } from "../request_panel";
import { place, setQuery } from "../router";
import { useLoaded } from "../use_loaded";
import type { StreamPageProps } from "./screen";

const PAGE = 100;
const COLUMNS = [
  { name: "offset", type: "Int64", key: true },
  { name: "time", type: 'Timestamp(ms, "UTC")' },
  { name: "key", type: "Utf8" },
  { name: "value", type: "Struct" },
  { name: "headers", type: "Struct" },
  { name: "id", type: "Utf8" },
];

/** Events as they lie in the log, a page at a time. */
export function EventsPage({ stream }: StreamPageProps) {
  const asked = Number(place.value.query.get("from"));
  const latest = Math.max(stream.first, stream.next - PAGE);
  const isFollowing = !place.value.query.get("from");
  const from = isFollowing || !Number.isSafeInteger(asked) ? latest : asked;
  const request: ApiRequest = {
    path: apiPath("streams", stream.name, "events"),
    query: [
      ["from", String(from)],
      ["limit", String(PAGE)],
    ],
  };
  // The newest page is asked for again when events have come.
  const key = isFollowing ? `${from} ${stream.next}` : String(from);
  const { data, error, reload } = useLoaded(key, (signal) => fetchEvents(request, signal));
  const rows = rowsOf(data?.events ?? []);
  // A page has fewer events where they are large.
  const last = rows.at(-1)?.[0];
  const newer = last === undefined ? from + (data?.cut ? 1 : PAGE) : Number(last) + 1;
  const goTo = (offset: number) => setQuery({ from: String(Math.max(stream.first, Math.min(offset, Math.max(stream.first, stream.next - 1)))) });
  return (
    <>
      <div class="row">
        <button type="button" class="button small" onClick={() => goTo(stream.first)} disabled={from <= stream.first}>
          First
        </button>
        <button type="button" class="button small" onClick={() => goTo(from - PAGE)} disabled={from <= stream.first}>
          Older
        </button>
        <button type="button" class="button small" onClick={() => goTo(newer)} disabled={newer >= stream.next}>
          Newer
        </button>
        <button type="button" class="button small" onClick={() => setQuery({ from: null })} disabled={isFollowing}>
          Newest
        </button>
        <form
          class="inline-field"
          onSubmit={(event) => {
            event.preventDefault();
            const offset = Number(new FormData(event.currentTarget).get("offset"));
            if (Number.isSafeInteger(offset)) goTo(offset);
          }}
        >
          <label class="inline-field">
            <span>From offset</span>
            <input name="offset" type="number" min={stream.first} key={from} defaultValue={String(from)} class="offset-input" />
          </label>
          <button type="submit" class="button small">
            Go
          </button>
        </form>
      </div>
      <ErrorNote error={error} onRetry={reload} />
      {data?.cut && <p class="note warn">All events of this page would be more than 1 MB: these are the first {rows.length}.</p>}
      <Grid label={`Events of ${stream.name}`} columns={COLUMNS} rows={rows} empty="There are no events here." height="calc(100vh - 20rem)" />
      <RequestPanel request={request} />
    </>
  );
}

function rowsOf(events: Value[]): Value[][] {
  return events.map((event) => COLUMNS.map(({ name }) => (event instanceof Map ? (event.get(name) ?? null) : null)));
}
