import { pageUrl } from "../router";
import { formatAge, formatBytes, formatCount } from "./figures";
import type { EntryState } from "./observation";

const ORDER: Record<EntryState["state"], number> = { failed: 0, stale: 1, loading: 2, ready: 3 };
const TONES: Record<EntryState["state"], string> = { failed: "bad", stale: "warn", loading: "warn", ready: "good" };

/** The state of something that is loaded, in a word. */
export function StateBadge({ entry }: { entry: EntryState }) {
  const percent = entry.state === "loading" && entry.percent !== undefined ? ` ${entry.percent} %` : "";
  return (
    <span class={`badge ${TONES[entry.state]}`}>
      {entry.state}
      {percent}
    </span>
  );
}

/** Why something is not served in its newest version, and since when. */
export function Fault({ entry }: { entry: EntryState }) {
  if (!entry.message) return null;
  const since = entry.failed_at_unix_s ? `, for ${formatAge(Date.now() / 1000 - entry.failed_at_unix_s)}` : "";
  return (
    <p class="fault">
      <bdi>{entry.message}</bdi>
      {since}
      {entry.hint && (
        <span class="fault-hint">
          <bdi>{entry.hint}</bdi>
        </span>
      )}
    </p>
  );
}

/** What is not served in its newest version, each with the reason. */
function Faults({ entries }: { entries: Record<string, EntryState> }) {
  const faulty = Object.entries(entries).filter(([, entry]) => entry.message);
  if (faulty.length === 0) return null;
  return (
    <div class="note error">
      {faulty.map(([name, entry]) => (
        <div key={name}>
          <b>
            <bdi>{name}</bdi>
          </b>
          <Fault entry={entry} />
        </div>
      ))}
    </div>
  );
}

/** The entries, those first that need somebody to look at them. */
export function EntriesTable({ entries }: { entries: Record<string, EntryState> }) {
  const sorted = Object.entries(entries).sort(([a, one], [b, other]) => ORDER[one.state] - ORDER[other.state] || a.localeCompare(b));
  return (
    <>
      <Faults entries={entries} />
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Entries">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Entry</th>
              <th scope="col">State</th>
              <th scope="col">Kind</th>
              <th scope="col" class="numeric">
                Rows
              </th>
              <th scope="col" class="numeric">
                Memory
              </th>
              <th scope="col">Version</th>
              <th scope="col">Source</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map(([name, entry]) => (
              <tr key={name}>
                <th scope="row">
                  <a href={pageUrl("entry", name)}>
                    <bdi>{name}</bdi>
                  </a>
                </th>
                <td>
                  <StateBadge entry={entry} />
                </td>
                <td>{entry.kind ?? "–"}</td>
                <td class="numeric">{formatCount(entry.rows)}</td>
                <td class="numeric">{formatBytes(entry.memory_bytes)}</td>
                <td>
                  <code>{entry.version?.slice(0, 8) ?? "–"}</code>
                </td>
                <td class="wide">
                  <bdi>{entry.source ?? "–"}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
