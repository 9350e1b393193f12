import { useState } from "preact/hooks";
import { type ApiRequest, apiPath, fetchEvents, fetchJson } from "../api";
import { writeData } from "../data_json";
import { Editor } from "../editor/editor";
import { ErrorNote } from "../error_note";
import { RequestPanel } from "../request_panel";
import { number, object, optional, text } from "../shape";
import { useLoaded } from "../use_loaded";
import { useUnsaved } from "../unsaved";
import type { StreamState } from "./state";

/** What the server did with the events of a request. */
interface Receipt {
  taken: number;
  duplicates: number;
  quarantined: number;
  first_offset?: number;
  last_offset?: number;
  reason?: string;
}

const RECEIPT = object<Receipt>({
  taken: number,
  duplicates: number,
  quarantined: number,
  first_offset: optional(number),
  last_offset: optional(number),
  reason: optional(text),
});

/** What the form needs to know of a stream. */
type Sink = Pick<StreamState, "name" | "key" | "id" | "events" | "next">;

/** A stream of which its name alone is known, as by who may append to it and not read it. */
export const sinkOf = (name: string): Sink => ({ name, key: null, id: null, events: 0, next: 0 });

/** A form that appends events that are typed. */
export function SendForm({ stream, onChanged }: { stream: Sink; onChanged: () => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const [key, setKey] = useState("");
  const [id, setId] = useState("");
  const [ack, setAck] = useState("");
  const [sending, setSending] = useState(false);
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  /** What was typed and not sent. */
  const [unsent, setUnsent] = useState(false);
  useUnsaved(unsent);
  const [error, setError] = useState<unknown>(null);
  const example = useLoaded(`${stream.name}`, (signal) => exampleOf(stream, signal));
  const body = typed ?? example.data ?? "{}";
  const request = appendRequest(stream, body, { key, id, ack });

  const type = (text: string) => {
    setTyped(text);
    setUnsent(text !== (example.data ?? "{}"));
  };

  const submit = async () => {
    setSending(true);
    setError(null);
    setReceipt(null);
    try {
      setReceipt(await fetchJson(request, RECEIPT));
      setUnsent(false);
    } catch (failure) {
      setError(failure);
    } finally {
      setSending(false);
      onChanged();
    }
  };

  return (
    <div class="send-form">
      <Editor value={body} onChange={type} onRun={() => void submit()} language={{ name: "json" }} label="Events to send" lines={5} />
      <div class="row">
        <button type="button" class="button primary" onClick={() => void submit()} disabled={sending} title="Ctrl+Enter">
          {sending ? "Sending…" : "Send"}
        </button>
        <label class="inline-field">
          <span>Key</span>
          <input type="text" dir="auto" value={key} placeholder={stream.key ?? "none"} onInput={(event) => setKey(event.currentTarget.value)} />
        </label>
        <label class="inline-field">
          <span>Id</span>
          <input type="text" dir="auto" value={id} placeholder={stream.id ?? "made by the server"} onInput={(event) => setId(event.currentTarget.value)} />
        </label>
        <label class="inline-field">
          <span>Wait for</span>
          <select value={ack} onChange={(event) => setAck(event.currentTarget.value)}>
            <option value="">what the stream says</option>
            <option value="memory">memory</option>
            <option value="disk">the disk</option>
            <option value="broker">Kafka</option>
          </select>
        </label>
      </div>
      <p class="muted">An object, an array of objects, or objects one after the other.</p>
      {receipt && <ReceiptNote receipt={receipt} />}
      <ErrorNote error={error} />
      <RequestPanel request={request} />
    </div>
  );
}

function appendRequest(stream: Sink, body: string, { key, id, ack }: { key: string; id: string; ack: string }): ApiRequest {
  const query: [string, string][] = [];
  if (key) query.push(["key", key]);
  if (id) query.push(["id", id]);
  if (ack) query.push(["ack", ack]);
  return { method: "POST", path: apiPath("streams", stream.name), query, headers: { "Content-Type": "application/json" }, body };
}

const FIRST_EVENT = '{\n  "message": "hello"\n}';
/** A longer event is no good beginning. */
const EXAMPLE_MAX = 2000;

/** An event like the last one, to begin with. */
async function exampleOf(stream: Sink, signal: AbortSignal): Promise<string> {
  if (stream.events === 0) return FIRST_EVENT;
  const { events } = await fetchEvents(
    {
      path: apiPath("streams", stream.name, "events"),
      query: [
        ["from", String(stream.next - 1)],
        ["limit", "1"],
      ],
    },
    signal,
  );
  const [last] = events;
  if (!(last instanceof Map)) return FIRST_EVENT;
  const value = writeData(last.get("value") ?? null, 2);
  return value.length > EXAMPLE_MAX ? FIRST_EVENT : value;
}

function ReceiptNote({ receipt }: { receipt: Receipt }) {
  const { taken, duplicates, quarantined, first_offset: first, last_offset: last, reason } = receipt;
  const parts = [`${taken} ${taken === 1 ? "event" : "events"} taken`];
  if (first !== undefined) parts.push(first === last ? `at offset ${first}` : `at offsets ${first} to ${last}`);
  if (duplicates) parts.push(`${duplicates} known already`);
  if (quarantined) parts.push(`${quarantined} in the quarantine`);
  return (
    <div class={`note ${quarantined ? "warn" : "good"}`} role="status">
      <p>{parts.join(", ")}.</p>
      {reason && (
        <p>
          <bdi>{reason}</bdi>
        </p>
      )}
    </div>
  );
}
