import { useMemo, useState } from "preact/hooks";
import { parseData, writeData } from "../data_json";
import { JsonTree } from "../grid/json_tree";
import { visibleText } from "../grid/value";
import type { TailEvent } from "./tail";

const SHOWN_MAX = 200;
const CUT = 400;
const READ_MAX = 4000;
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

/** Events, newest first; one opens to show its value as a tree. */
export function EventList({ events, empty, note }: { events: TailEvent[]; empty: string; note: string | null }) {
  const [all, setAll] = useState(false);
  const shown = all ? events : events.slice(0, SHOWN_MAX);
  if (events.length === 0) return <p class="note muted">{empty}</p>;
  return (
    <div class="card event-list">
      <ol reversed aria-label="Events, newest first">
        {shown.map((event) => (
          <EventLine key={event.offset || event.text} event={event} />
        ))}
      </ol>
      {events.length > shown.length && (
        <button type="button" class="button small" onClick={() => setAll(true)}>
          Show {events.length - shown.length} more
        </button>
      )}
      {note && <p class="muted">{note}</p>}
    </div>
  );
}

function EventLine({ event }: { event: TailEvent }) {
  const [open, setOpen] = useState(false);
  const text = useMemo(() => readText(event.text), [event.text]);
  if (event.missing) {
    return (
      <li class="event-missing">
        Events are missing here: <code>{event.text}</code>
      </li>
    );
  }
  return (
    <li>
      <details open={open} onToggle={(toggle) => setOpen(toggle.currentTarget.open)}>
        <summary>
          <span class="event-offset">{event.offset}</span>
          {event.replayed ? (
            <span class="event-time">earlier</span>
          ) : (
            <time class="event-time" dateTime={new Date(event.at).toISOString()} title="when this page got it">
              {TIME.format(event.at)}
            </time>
          )}
          <bdi class="event-text">{beginningOf(text)}</bdi>
        </summary>
        {open && <EventValue text={event.text} />}
      </details>
    </li>
  );
}

/** An event as its value is read everywhere: of a member that comes twice, the last. A long one stays as it is. */
function readText(text: string): string {
  if (text.length > READ_MAX) return text;
  try {
    return writeData(parseData(text));
  } catch {
    return text;
  }
}

/** The beginning of an event in one line; line ends can stand only between the parts of JSON, and not in a text. */
function beginningOf(text: string): string {
  const line = visibleText(text.slice(0, CUT).replace(/\s*\n\s*/g, " "));
  return text.length > CUT ? `${line} …` : line;
}

/** The value of an event as a tree, or as it is if it is no JSON. */
function EventValue({ text }: { text: string }) {
  try {
    return (
      <div class="event-value">
        <JsonTree value={parseData(text)} open={3} />
      </div>
    );
  } catch {
    return <pre class="code" tabIndex={0}>{visibleText(text)}</pre>;
  }
}
