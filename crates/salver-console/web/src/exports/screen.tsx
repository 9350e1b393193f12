import { useState } from "preact/hooks";
import { catalog, entryNames } from "../catalog";
import { place, setQuery } from "../router";
import { ErrorNote } from "../error_note";
import { LogInHint } from "../session/log_in_hint";
import { mayLogIn, sessionKnown } from "../session/session";
import { useLoaded } from "../use_loaded";
import { checkExport } from "./check";
import { ExportCard } from "./export_card";
import { forget, keep, loadKept } from "./kept";
import { OneBody } from "./one_body";
import { OpenForm } from "./open_form";
import "./exports.css";

/** All rows of an entry: as one file, or in streams of one snapshot that can be paused and resumed. */
export default function ExportsScreen() {
  // Whose exports are open must be known.
  return sessionKnown.value ? <Exports /> : <p class="loading">Loading…</p>;
}

function Exports() {
  const [kept, setKept] = useState(loadKept);
  const names = entryNames.value;
  const chosen = place.value.query.get("entry");
  const entry = catalog.value?.entries.get(chosen ?? "") ?? catalog.value?.entries.get(names[0] ?? "");
  // A link to a file has no place for an error, so it is asked for before.
  const refused = useLoaded(entry ? entry.name : null, (signal) => (entry ? checkExport(entry.name, signal) : Promise.resolve()));
  return (
    <section class="screen exports">
      <h1>Exports</h1>
      {catalog.value && !entry && (
        <div class="note">
          <p class="muted">{mayLogIn.value ? "There is nothing here for callers who have not logged in." : "Nothing is served yet."}</p>
          <LogInHint />
        </div>
      )}
      {entry && (
        <>
          <label class="inline-field">
            <span>Entry</span>
            <select value={entry.name} onChange={(event) => setQuery({ entry: event.currentTarget.value, columns: null }, { replace: true })}>
              {names.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <ErrorNote error={refused.error} onRetry={refused.reload} />
          {refused.error === null && (
            <div class="exports-ways">
              <OneBody entry={entry} />
              <OpenForm key={entry.name} entry={entry} onOpened={(opened, format) => setKept(keep({ token: opened.export, entry: opened.entry, format, at: Date.now() }))} />
            </div>
          )}
        </>
      )}
      {kept.length > 0 && (
        <section class="exports-open" aria-label="Open exports">
          <h2>Open exports</h2>
          {kept.map((one) => (
            <ExportCard key={one.token} kept={one} onEnded={() => setKept(forget(one.token))} />
          ))}
        </section>
      )}
    </section>
  );
}
