import { useState } from "preact/hooks";
import { type ApiRequest, apiPath, send } from "../api";
import { ErrorNote } from "../error_note";
import { RequestPanel } from "../request_panel";
import type { StreamPageProps } from "./screen";
import type { StreamState } from "./state";

const WHOLE = new Intl.NumberFormat("en");

/** Consumer groups: where each is, how far it is behind, and a way to move it. */
export function GroupsPage({ stream, onChanged }: StreamPageProps) {
  const [group, setGroup] = useState("");
  const [offset, setOffset] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [done, setDone] = useState("");
  const request = commitRequest(stream, group || "mailer", offset || String(stream.first));

  const commit = async (event: SubmitEvent) => {
    event.preventDefault();
    setError(null);
    setDone("");
    try {
      await send(request);
      setDone(`${group} goes on at offset ${offset}.`);
      onChanged();
    } catch (failure) {
      setError(failure);
    }
  };

  return (
    <>
      {stream.groups.length === 0 ? (
        <p class="note muted">No group has committed an offset yet. A group is there when it commits its first one.</p>
      ) : (
        <div class="table-scroll" tabIndex={0} role="region" aria-label="Consumer groups">
          <table class="plain-table">
            <thead>
              <tr>
                <th scope="col">Group</th>
                <th scope="col" class="numeric">
                  Next offset
                </th>
                <th scope="col" class="numeric">
                  Behind by
                </th>
                <th scope="col">Read</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {stream.groups.map((known) => (
                <tr key={known.group}>
                  <th scope="row">
                    <bdi>{known.group}</bdi>
                  </th>
                  <td class="numeric">{WHOLE.format(known.offset)}</td>
                  <td class="numeric">{WHOLE.format(known.lag)}</td>
                  <td>
                    <meter min={stream.first} max={Math.max(stream.next, stream.first + 1)} value={known.offset} aria-label={`how far ${known.group} has read`} />
                  </td>
                  <td>
                    <button
                      type="button"
                      class="button small"
                      onClick={() => {
                        setGroup(known.group);
                        setOffset(String(known.offset));
                      }}
                    >
                      Move…
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <form class="row" onSubmit={(event) => void commit(event)}>
        <label class="inline-field">
          <span>Group</span>
          <input type="text" dir="auto" required value={group} onInput={(event) => setGroup(event.currentTarget.value)} />
        </label>
        <label class="inline-field">
          <span>goes on at offset</span>
          <input type="number" required class="offset-input" min={stream.first} max={stream.next} value={offset} onInput={(event) => setOffset(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button">
          Commit
        </button>
        <span role="status">{done}</span>
      </form>
      <ErrorNote error={error} />
      <RequestPanel request={request} />
    </>
  );
}

function commitRequest(stream: StreamState, group: string, offset: string): ApiRequest {
  return {
    method: "POST",
    path: apiPath("streams", stream.name, "groups", group, "commit"),
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ offset: Number(offset) }),
  };
}
