import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiRequest, apiPath, PAGE_BYTES } from "../api";
import { noteRows } from "../catalog";
import { ErrorNote } from "../error_note";
import { RequestPanel } from "../request_panel";
import { place, setQuery } from "../router";
import { Sparkline } from "../sparkline";
import { EventList } from "./event_list";
import { type Condition, parameterOf, readConditions } from "./filter";
import { FilterForm } from "./filter_form";
import type { StreamPageProps } from "./screen";
import { SendForm } from "./send_form";
import type { StreamState } from "./state";
import { Rate, Tail, type TailEvent, type TailState } from "./tail";

const KEPT_MAX = 1000;
const RATE_SECONDS = 120;
/** How many events before now are shown at the start, so that a quiet stream is no empty page. */
const BEFORE = 20;

const WORDS: Record<TailState, string> = { connecting: "connecting…", open: "live", failed: "ended" };

/** Events as they arrive. */
export function LivePage({ stream, onChanged, onLatest }: StreamPageProps) {
  const query = place.value.query;
  const conditions = readConditions(query);
  const from = query.get("from") ?? "recent";
  const [paused, setPaused] = useState(false);
  const tail = useTail(stream, from, conditions, paused, onLatest);
  const now = useNow();
  const rates = tail.rate.values(now);
  const recent = rates.slice(-10).reduce((sum, count) => sum + count, 0) / 10;

  const setConditions = (next: Condition[]) => {
    const changes: Record<string, string | string[] | null> = {};
    for (const condition of conditions) changes[parameterOf(condition)[0]] = null;
    for (const condition of next) {
      const [name, value] = parameterOf(condition);
      const before = changes[name];
      changes[name] = Array.isArray(before) ? [...before, value] : [value];
    }
    setQuery(changes, { replace: true });
  };

  return (
    <>
      <details class="card send-panel" open={query.get("send") === "1"} onToggle={(event) => setQuery({ send: event.currentTarget.open ? "1" : null }, { replace: true })}>
        <summary>Send an event</summary>
        <SendForm stream={stream} onChanged={onChanged} />
      </details>
      <div class="row">
        <span class={`badge ${tail.state === "open" && !paused ? "good" : tail.state === "failed" ? "bad" : "warn"}`} role="status">
          {paused ? "paused" : WORDS[tail.state]}
        </span>
        <button type="button" class="button small" onClick={() => setPaused(!paused)}>
          {paused ? "Go on" : "Pause"}
        </button>
        <label class="inline-field">
          <span>From</span>
          <select value={from} onChange={(event) => setQuery({ from: event.currentTarget.value === "recent" ? null : event.currentTarget.value }, { replace: true })}>
            <option value="recent">the last {BEFORE}</option>
            <option value="latest">now</option>
            <option value="earliest">the beginning</option>
          </select>
        </label>
        <FilterForm members={membersOf(tail.events)} conditions={conditions} onChange={setConditions} />
        <span class="spring" />
        <button type="button" class="button small" onClick={tail.clear} disabled={tail.events.length === 0}>
          Clear
        </button>
      </div>
      <ErrorNote error={tail.error} />
      <figure class="card stream-rate">
        <figcaption>
          <b>{recent.toFixed(recent < 10 ? 1 : 0)}</b> events a second
          <span class="muted"> over the last ten, {Math.max(...rates)} at most in two minutes</span>
        </figcaption>
        <Sparkline values={rates} height={48} label="Events a second, over the last two minutes" />
      </figure>
      <EventList
        events={tail.events}
        empty={conditions.length ? "No event has met the conditions yet." : "No event has come yet. Send one to see it here."}
        note={tail.dropped ? `The ${tail.events.length} newest; ${tail.dropped} older ones are no longer shown.` : null}
      />
      <RequestPanel request={tailRequest(stream, from, conditions)} />
    </>
  );
}

function tailRequest(stream: StreamState, from: string, conditions: Condition[]): ApiRequest {
  const start = from === "recent" ? String(Math.max(stream.first, stream.next - BEFORE)) : from;
  return { path: apiPath("streams", stream.name, "tail"), query: [["from", start], ...conditions.map(parameterOf)] };
}

/** The names of the members that have been seen, for suggestions. */
function membersOf(events: TailEvent[]): string[] {
  const names = new Set<string>();
  for (const { text } of events.slice(0, 50)) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null) for (const name of Object.keys(value)) names.add(name);
    } catch {
      // Only objects have members to suggest.
    }
  }
  return [...names];
}

function useTail(stream: StreamState, from: string, conditions: Condition[], paused: boolean, onLatest: (offset: number) => void) {
  const [events, setEvents] = useState<TailEvent[]>([]);
  const [dropped, setDropped] = useState(0);
  const [state, setState] = useState<TailState>("connecting");
  const [error, setError] = useState<unknown>(null);
  const rate = useRef(new Rate(RATE_SECONDS));
  // A tail that goes on after a pause continues where it stopped.
  const last = useRef<string | null>(null);
  const key = JSON.stringify([from, conditions]);

  useEffect(() => {
    last.current = null;
    setEvents([]);
    setDropped(0);
  }, [key]);

  useEffect(() => {
    if (paused) return;
    setError(null);
    const { name, next, events: count } = stream;
    const request = tailRequest(stream, last.current === null ? from : String(BigInt(last.current) + 1n), conditions);
    const tail = new Tail(request, {
      onState: (state, failure) => {
        setState(state);
        setError(failure ?? null);
      },
      onEvents: (arrived) => {
        last.current = arrived.findLast(({ offset }) => offset !== "")?.offset ?? last.current;
        // The number of events is known before the server is asked for it again.
        const latest = Number(last.current ?? -1);
        onLatest(latest);
        if (latest >= next) noteRows(name, count + latest + 1 - next);
        // What lay there before says nothing about the rate, nor when it came.
        for (const event of arrived) event.replayed = event.offset !== "" && Number(event.offset) < next;
        rate.current.add(arrived.filter(({ replayed }) => !replayed));
        setEvents((before) => {
          const all = [...arrived.reverse(), ...before];
          const kept = newest(all);
          if (all.length > kept.length) setDropped((count) => count + all.length - kept.length);
          return kept;
        });
      },
    });
    return () => tail.close();
  }, [key, paused]);

  return { events, dropped, state, error, rate: rate.current, clear: () => setEvents([]) };
}

/** The newest events, as many as a page keeps: of large ones fewer, and always one. */
function newest(events: TailEvent[]): TailEvent[] {
  let length = 0;
  const end = events.findIndex(({ text }, index) => {
    length += text.length;
    return index >= KEPT_MAX || (length > PAGE_BYTES && index > 0);
  });
  return end < 0 ? events : events.slice(0, end);
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
