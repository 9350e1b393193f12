import { useState } from "preact/hooks";
import type { ApiRequest } from "./api";
import { CopyButton } from "./copy_button";
import { isKeyHeld } from "./credentials";
import { CODE_FORMS, proofOfTab } from "./request_code";
import { session } from "./session/session";

const KEPT = "salver.request_form";

interface RequestPanelProps {
  request: ApiRequest;
  open?: boolean;
  /** What stands in the request for values that are not given yet. */
  places?: string[];
}

/** The request behind what is shown, in several languages, each ready to copy. */
export function RequestPanel({ request, open = false, places = [] }: RequestPanelProps) {
  const [form, setForm] = useState(() => localStorage.getItem(KEPT) ?? "curl");
  const proof = isKeyHeld.value ? proofOfTab() : null;
  const forms = CODE_FORMS.flatMap(({ id, label, code }) => {
    const text = code(request, proof);
    return text === null ? [] : [{ id, label, text }];
  });
  const shown = forms.find(({ id }) => id === form) ?? forms[0];
  const choose = (id: string) => {
    localStorage.setItem(KEPT, id);
    setForm(id);
  };
  if (!shown) return null;
  return (
    <details class="request-panel" open={open}>
      <summary>
        Request
        <span class="request-line">
          <b>{request.method ?? "GET"}</b> <bdi>/{request.path}</bdi>
        </span>
      </summary>
      <div class="request-body">
        <div class="tabs" role="group" aria-label="Language of the request">
          {forms.map(({ id, label }) => (
            <button key={id} type="button" class="tab" aria-pressed={id === shown.id} onClick={() => choose(id)}>
              {label}
            </button>
          ))}
          <span class="spring" />
          <CopyButton text={shown.text} />
        </div>
        <pre class="code" tabIndex={0} aria-label={`The request as ${shown.label}`}>
          {shown.text}
        </pre>
        {places.length > 0 && shown.id !== "sql" && <p class="muted">Put in a value for {places.join(", ")}.</p>}
        {!["url", "sql"].includes(shown.id) && <ProofNote isSession={proof === null && session.value.user !== null} isKey={proof !== null} />}
      </div>
    </details>
  );
}

/** Says what the code lacks of the caller: it is for others to see, too. */
function ProofNote({ isSession, isKey }: { isSession: boolean; isKey: boolean }) {
  if (isKey) return <p class="muted">Put in your own {proofOfTab() === "key" ? "key" : "password"}, which is not shown here.</p>;
  if (!isSession) return null;
  return <p class="muted">You are known by a session of this browser, which the code has not: a program brings a key, or what else the server takes.</p>;
}
