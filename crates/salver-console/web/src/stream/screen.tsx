import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api";
import { catalog, noteRows } from "../catalog";
import { ErrorNote } from "../error_note";
import { pageUrl, place } from "../router";
import type { ScreenProps } from "../screens";
import { useLoaded } from "../use_loaded";
import { EventsPage } from "./events_page";
import { GroupsPage } from "./groups_page";
import { LivePage } from "./live_page";
import { QuarantinePage } from "./quarantine_page";
import { SendForm, sinkOf } from "./send_form";
import { fetchStream, type StreamState } from "./state";
import "./stream.css";

const PAGES = [
  { id: "live", label: "Live" },
  { id: "events", label: "Events" },
  { id: "quarantine", label: "Quarantine" },
  { id: "groups", label: "Consumers" },
] as const;

/** What every page of a stream gets. */
export interface StreamPageProps {
  stream: StreamState;
  /** Asks for the state of the stream again. */
  onChanged: () => void;
  /** An event of this offset has come, of which the state may not know yet. */
  onLatest: (offset: number) => void;
}

const REFRESH_MS = 3000;

/** A stream: its events as they come and as they lie, and ways to append and consume them. */
export default function StreamScreen({ parts }: ScreenProps) {
  const name = parts[0] ?? "";
  const { data: stream, error, reload } = useLoaded(name, (signal) => fetchStream(name, signal));
  // Who may append and not consume has the stream in its list, and not its events.
  const isRefused = error instanceof ApiError && error.status === 403;
  useEffect(() => {
    if (isRefused) return;
    const timer = setInterval(() => !document.hidden && reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [reload, isRefused]);
  useEffect(() => {
    if (stream) noteRows(name, stream.events);
  }, [stream]);
  const [latest, setLatest] = useState(-1);
  useEffect(() => setLatest(-1), [name]);
  const props = stream && { stream, onChanged: reload, onLatest: setLatest };
  const page = PAGES.find(({ id }) => id === place.value.query.get("page")) ?? PAGES[0];
  return (
    <section class="screen stream">
      <header class="screen-head">
        <h1>
          <bdi>{name}</bdi>
        </h1>
        <span class="badge">stream</span>
        <span class="spring" />
        {(stream || catalog.value?.entries.has(name)) && (
          <a class="button" href={pageUrl("entry", name)}>
            As a table
          </a>
        )}
      </header>
      {isRefused && catalog.value?.streams.has(name) && <AppendOnly name={name} />}
      <ErrorNote error={error} onRetry={reload} />
      {stream && props && !isRefused && (
        <>
          <Facts stream={upTo(stream, latest)} />
          <nav class="tabs page-tabs" aria-label="Pages of the stream">
            {PAGES.map(({ id, label }) => (
              <a key={id} class="tab" href={id === "live" ? pageUrl("stream", name) : `${pageUrl("stream", name)}?page=${id}`} aria-current={id === page.id ? "page" : undefined}>
                {label}
                {id === "groups" && stream.groups.length > 0 && <span class="badge">{stream.groups.length}</span>}
              </a>
            ))}
          </nav>
          {page.id === "live" && <LivePage {...props} />}
          {page.id === "events" && <EventsPage {...props} />}
          {page.id === "quarantine" && <QuarantinePage {...props} />}
          {page.id === "groups" && <GroupsPage {...props} />}
        </>
      )}
    </section>
  );
}

/** The form alone, for who may not see what others have sent. */
function AppendOnly({ name }: { name: string }) {
  return (
    <section class="card send-panel" aria-label="Send an event">
      <h2>Send an event</h2>
      <p class="muted">You may not consume this stream, so its events are not shown, but you may append to it if the rules permit that.</p>
      <SendForm stream={sinkOf(name)} onChanged={() => undefined} />
    </section>
  );
}

/** The state with the events that have come since it was asked for. */
function upTo(stream: StreamState, latest: number): StreamState {
  const next = Math.max(stream.next, latest + 1);
  return { ...stream, next, events: stream.events + next - stream.next };
}

const WHOLE = new Intl.NumberFormat("en");

function Facts({ stream }: { stream: StreamState }) {
  const facts: [string, string][] = [
    ["Events", WHOLE.format(stream.events)],
    ["Offsets", stream.events ? `${stream.first} to ${stream.next - 1}` : `next is ${stream.next}`],
    ["Acknowledged", stream.ack === "memory" ? "in memory" : stream.ack === "broker" ? "by Kafka" : "on disk"],
  ];
  if (stream.key) facts.push(["Key", stream.key]);
  if (stream.id) facts.push(["Id", stream.id]);
  if (stream.time) facts.push(["Time", stream.time]);
  if (stream.kafka) facts.push(["Waiting for Kafka", WHOLE.format(stream.backlog)]);
  if (stream.has_schema) facts.push(["Schema", "checked"]);
  if (stream.route) facts.push(["Route", stream.route]);
  return (
    <dl class="stream-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}
