import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiRequest, apiPath, fetchJson, isAbsent } from "../api";
import type { FunctionEndpoint, FunctionFile } from "../catalog";
import { FUNCTION_FILE } from "../catalog_shapes";
import { DOCUMENT, type Document } from "../docs/openapi";
import { ErrorNote } from "../error_note";
import { RequestPanel } from "../request_panel";
import { RunButton } from "../run_button";
import { pageUrl, place, setQuery } from "../router";
import type { ScreenProps } from "../screens";
import { keepTyped, readTyped } from "../session/drafts";
import { LogInHint } from "../session/log_in_hint";
import { sessionKnown } from "../session/session";
import { record, text } from "../shape";
import { useLoaded } from "../use_loaded";
import { AnswerView } from "./answer_view";
import { ArgumentForm } from "./argument_form";
import { type Answer, call, startJob } from "./call";
import { argumentsJson, type Field, fieldsOf, missingFields, namedArguments } from "./fields";
import { JobPanel } from "./job_panel";
import "./function.css";

/** A function of an R or Python file: its arguments as a form, and what it answers. */
export default function FunctionScreen({ parts }: ScreenProps) {
  const [file = "", name = ""] = parts;
  const described = useLoaded(file, (signal) => fetchJson(apiPath("functions", file), FUNCTION_FILE, signal));
  const schemas = useLoaded("schemas", (signal) => fetchJson("api/functions.openapi.json", DOCUMENT, signal));
  const endpoint = described.data?.endpoints.find((known) => known.function === name);
  return (
    <section class="screen function">
      <header class="screen-head">
        <h1>
          <bdi>{name || file}</bdi>
        </h1>
        {described.data && <span class="badge">{described.data.language}</span>}
        {endpoint?.pure && <span class="badge accent">pure</span>}
        {endpoint?.path && (
          <code class="muted">
            {endpoint.method} <bdi>{endpoint.path}</bdi>
          </code>
        )}
      </header>
      <ErrorNote error={described.error} onRetry={described.reload} />
      {described.data && <Siblings file={described.data} current={name} />}
      {endpoint?.summary && <p>{endpoint.summary}</p>}
      {described.data?.failure && <FailedFile failure={described.data.failure} />}
      {described.data && !described.data.failure && !endpoint && (
        <div class="note">
          <p>The file has no function of that name.</p>
          <LogInHint />
        </div>
      )}
      {schemas.error !== null && !isAbsent(schemas.error) && (
        <div class="note warn" role="status">
          <p class="note-title">What the arguments may be could not be read: the form asks for them by their types alone.</p>
          <ErrorNote error={schemas.error} onRetry={schemas.reload} />
        </div>
      )}
      {endpoint && endpoint.call === undefined && <p class="note">This belongs to an application, and is called at its own path only: see the API reference.</p>}
      {endpoint?.call !== undefined && !schemas.loading && sessionKnown.value && <Call key={`${file}/${name}`} endpoint={endpoint} call={endpoint.call} document={schemas.data} />}
    </section>
  );
}

function FailedFile({ failure }: { failure: { message: string; hint: string | null } }) {
  return (
    <div class="note error" role="status">
      <p class="note-title">The file could not be loaded</p>
      <p>
        <bdi>{failure.message}</bdi>
      </p>
      {failure.hint && <p>{failure.hint}</p>}
    </div>
  );
}

function Siblings({ file, current }: { file: FunctionFile; current: string }) {
  const named = file.endpoints.filter(({ function: name }) => name !== "");
  if (named.length < 2) return null;
  return (
    <nav class="tabs" aria-label={`Functions of ${file.name}`}>
      {named.map(({ function: name }) => (
        <a key={name} class="tab" href={pageUrl("function", file.name, name)} aria-current={name === current ? "page" : undefined}>
          <bdi>{name}</bdi>
        </a>
      ))}
    </nav>
  );
}

const ARGUMENT = "a.";

/** The arguments of the address; a link fills the form in, and never calls the function. */
function argumentsOf(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...query].filter(([key]) => key.startsWith(ARGUMENT)).map(([key, value]) => [key.slice(ARGUMENT.length), value]));
}

const TYPED = record(text);

/** What was typed on this step of the history and not called with. */
function typedArguments(): Record<string, string> | null {
  try {
    return TYPED(JSON.parse(readTyped() ?? "null"), "", []) ?? null;
  } catch {
    return null;
  }
}

function Call({ endpoint, call: target, document }: { endpoint: FunctionEndpoint; call: string; document: Document | null }) {
  const path = target.replace(/^\//, "");
  const body = document?.paths[target]?.post?.requestBody;
  const schema = body && "content" in body ? (body.content?.["application/json"]?.schema ?? body.content?.["multipart/form-data"]?.schema) : undefined;
  const fields = fieldsOf(endpoint.parameters, schema, document);

  const [values, setValues] = useState(() => typedArguments() ?? argumentsOf(place.value.query));
  const type = (next: Record<string, string>) => {
    setValues(next);
    keepTyped(JSON.stringify(next));
  };
  const [files, setFiles] = useState<Record<string, File>>({});
  const [asJob, setAsJob] = useState(false);
  const [running, setRunning] = useState(false);
  const [streamed, setStreamed] = useState("");
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<unknown>(null);
  const controller = useRef<AbortController | null>(null);
  const jobId = place.value.query.get("job");
  const [cancelled, setCancelled] = useState<string | null>(null);
  useEffect(() => () => controller.current?.abort(), []);

  const request: ApiRequest = { method: "POST", path, headers: { "Content-Type": "application/json" }, body: argumentsJson(fields, values) };
  const missing = missingFields(fields, values);
  const submit = async () => {
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    setAnswer(null);
    setError(null);
    setStreamed("");
    setCancelled(null);
    setRunning(true);
    keepTyped(null);
    setQuery({ job: null, ...addressOf(fields, values) }, { replace: true });
    try {
      const sent = withFiles(request, fields, values, files);
      if (asJob) {
        const started = await startJob(sent, own.signal);
        if ("state" in started) setQuery({ job: started.id }, { replace: true });
        else setAnswer(started);
      } else {
        setAnswer(await call(sent, own.signal, setStreamed));
      }
    } catch (failure) {
      if (!own.signal.aborted) setError(failure);
    } finally {
      if (controller.current === own) setRunning(false);
    }
  };

  return (
    <>
      <ArgumentForm fields={fields} values={values} error={error} onChange={type} onFile={(name, file) => setFiles({ ...files, [name]: file })} onSubmit={() => void submit()}>
        <div class="row">
          <RunButton
            running={running}
            label="Call"
            disabled={missing.length > 0}
            title="Ctrl+Enter"
            onCancel={() => {
              controller.current?.abort();
              setRunning(false);
            }}
          />
          <label class="inline-field">
            <input type="checkbox" checked={asJob} onChange={(event) => setAsJob(event.currentTarget.checked)} /> In the background, as a job
          </label>
          {missing.length > 0 && <span class="muted">Missing: {missing.join(", ")}</span>}
        </div>
      </ArgumentForm>
      <ErrorNote error={error} />
      {jobId && (
        <JobPanel
          id={jobId}
          onAnswer={setAnswer}
          onGone={(end) => {
            setQuery({ job: null }, { replace: true });
            if (end === "cancelled") setCancelled(jobId);
          }}
        />
      )}
      <p class={cancelled === null ? "visually-hidden" : "note"} role="status">
        {cancelled !== null && (
          <>
            Job <code>{cancelled}</code> is cancelled.
          </>
        )}
      </p>
      {running && streamed && (
        <pre class="code" tabIndex={0} aria-label="The answer so far">
          {streamed.slice(-20_000)}
        </pre>
      )}
      {answer && <AnswerView answer={answer} name={endpoint.function} />}
      <RequestPanel request={asJob ? { ...request, headers: { ...request.headers, Prefer: "respond-async" } } : request} />
    </>
  );
}

function addressOf(fields: Field[], values: Record<string, string>): Record<string, string | null> {
  return Object.fromEntries(fields.filter(({ kind }) => kind !== "file").map(({ name }) => [ARGUMENT + name, values[name] || null]));
}

/** With files, the arguments go as a form, which the browser writes. */
function withFiles(request: ApiRequest, fields: Field[], values: Record<string, string>, files: Record<string, File>): ApiRequest {
  if (!fields.some(({ kind }) => kind === "file")) return request;
  const form = new FormData();
  for (const { field, name, typed } of namedArguments(fields, values)) {
    const file = files[name];
    if (field.kind === "file" && file) form.append(name, file);
    else if (field.kind !== "file" && typed) form.append(name, typed);
  }
  return { ...request, headers: {}, form };
}
