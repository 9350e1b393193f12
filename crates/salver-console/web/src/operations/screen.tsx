import { useState } from "preact/hooks";
import { ErrorNote } from "../error_note";
import { RequestPanel } from "../request_panel";
import { place, setQuery } from "../router";
import { EntriesTable } from "./entries_table";
import { Figures } from "./figures_row";
import { FunctionsTable } from "./functions_table";
import { PermitsTable } from "./permits_table";
import { RoutesTable } from "./routes_table";
import { StreamsTable } from "./streams_table";
import { useObservation } from "./observation";
import "./operations.css";

const PARTS = ["entries", "routes", "resources"] as const;
type Part = (typeof PARTS)[number];
const LABELS: Record<Part, string> = { entries: "What is served", routes: "Routes", resources: "Resources" };

/** What the server is doing, measured every two seconds. */
export default function OperationsScreen() {
  const [paused, setPaused] = useState(false);
  const observation = useObservation(paused);
  const part = PARTS.find((name) => name === place.value.query.get("part")) ?? "entries";
  const { readiness, metrics } = observation;
  // Not before what stands above is there, which would move them.
  const isThere = metrics !== null || observation.metricsError !== null;
  return (
    <section class="screen operations">
      <header class="screen-head">
        <h1>Operations</h1>
        {readiness && <ReadyBadge ready={readiness.ready} failed={countOf(readiness.entries, "failed")} stale={countOf(readiness.entries, "stale")} />}
        <span class="spring" />
        <button type="button" class="button small" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? "Go on" : "Pause"}
        </button>
      </header>
      <ErrorNote error={observation.metricsError} />
      {metrics && <Figures observation={observation} />}
      {!isThere && <p class="loading">Loading…</p>}
      {isThere && (
        <div class="tabs" role="group" aria-label="Part">
          {PARTS.map((name) => (
            <button key={name} type="button" class="tab" aria-pressed={name === part} onClick={() => setQuery({ part: name === "entries" ? null : name })}>
              {LABELS[name]}
            </button>
          ))}
        </div>
      )}
      {isThere && part === "entries" && (
        <>
          <ErrorNote error={observation.readinessError} />
          {readiness && <EntriesTable entries={readiness.entries} />}
          {readiness?.functions && <FunctionsTable files={readiness.functions} metrics={metrics} />}
          {metrics && <StreamsTable metrics={metrics} earlier={observation.earlier} />}
        </>
      )}
      {part === "routes" && metrics && <RoutesTable metrics={metrics} earlier={observation.earlier} />}
      {part === "resources" && <PermitsTable held={readiness?.held ?? null} metrics={metrics} />}
      {isThere && <RequestPanel request={{ path: part === "entries" ? "ready" : "metrics" }} />}
    </section>
  );
}

function countOf(entries: Record<string, { state: string }>, state: string): number {
  return Object.values(entries).filter((entry) => entry.state === state).length;
}

function ReadyBadge({ ready, failed, stale }: { ready: boolean; failed: number; stale: number }) {
  if (failed) return <span class="badge bad">{failed} failed</span>;
  if (!ready) return <span class="badge warn">loading</span>;
  if (stale) return <span class="badge warn">{stale} stale</span>;
  return <span class="badge good">ready</span>;
}
