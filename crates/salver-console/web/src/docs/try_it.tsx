import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type ApiRequest, send } from "../api";
import { Editor } from "../editor/editor";
import { ErrorNote } from "../error_note";
import { AnswerView } from "../function/answer_view";
import { type Answer, readAnswer } from "../function/call";
import { RequestPanel } from "../request_panel";
import { RunButton } from "../run_button";
import type { Document, Endpoint, Parameter } from "./openapi";
import { keyOf, ParameterField } from "./parameter_field";
import { exampleOf } from "./schema";

/** A form that sends the operation, and what was answered. */
export function TryIt({ document, endpoint }: { document: Document; endpoint: Endpoint }) {
  const mediaTypes = Object.keys(endpoint.body?.content ?? {});
  const [mediaType, setMediaType] = useState(mediaTypes.find((type) => /json/.test(type)) ?? mediaTypes[0] ?? "");
  const [values, setValues] = useState<Record<string, string>>({});
  const [body, setBody] = useState(() => exampleBody(document, endpoint, mediaType));
  const [running, setRunning] = useState(false);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<unknown>(null);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);

  const missing = endpoint.parameters.filter((parameter) => parameter.required && !values[keyOf(parameter)]).map(({ name }) => name);
  const request = requestOf(endpoint, values, mediaType, body);
  const submit = async (event?: SubmitEvent) => {
    event?.preventDefault();
    if (missing.length) return;
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    setRunning(true);
    setAnswer(null);
    setError(null);
    const began = performance.now();
    try {
      setAnswer(await readAnswer(await send(request, own.signal), began));
    } catch (failure) {
      if (!own.signal.aborted) setError(failure);
    } finally {
      if (controller.current === own) setRunning(false);
    }
  };

  return (
    <section class="card docs-try">
      <form onSubmit={(event) => void submit(event)}>
        <div class="docs-fields">
          {sorted(endpoint.parameters).map((parameter) => (
            <ParameterField key={keyOf(parameter)} document={document} parameter={parameter} value={values[keyOf(parameter)] ?? ""} onChange={(value) => setValues({ ...values, [keyOf(parameter)]: value })} />
          ))}
        </div>
        {mediaType && (
          <>
            {mediaTypes.length > 1 && (
              <label class="inline-field">
                <span>Body as</span>
                <select
                  value={mediaType}
                  onChange={(event) => {
                    setMediaType(event.currentTarget.value);
                    setBody(exampleBody(document, endpoint, event.currentTarget.value));
                  }}
                >
                  {mediaTypes.map((type) => (
                    <option key={type} value={type}>
                      {type}
                    </option>
                  ))}
                </select>
              </label>
            )}
            <Editor value={body} onChange={setBody} onRun={() => void submit()} language={{ name: /json/.test(mediaType) ? "json" : "text" }} label="Body" lines={5} />
          </>
        )}
        <div class="row">
          <RunButton
            running={running}
            label="Send"
            disabled={missing.length > 0}
            onCancel={() => {
              controller.current?.abort();
              setRunning(false);
            }}
          />
          {missing.length > 0 && <span class="muted">Missing: {missing.join(", ")}</span>}
        </div>
      </form>
      <ErrorNote error={error} />
      {error instanceof ApiError && error.body !== null && (
        <pre class="code" tabIndex={0}>
          {JSON.stringify(error.body, null, 2)}
        </pre>
      )}
      {answer && <AnswerView answer={answer} name={endpoint.id.replace(/\W+/g, "_")} />}
      <RequestPanel request={request} />
    </section>
  );
}

/** The parameters of the form: those first that must be given. A browser sends its cookies itself. */
function sorted(parameters: Parameter[]): Parameter[] {
  return parameters.filter((parameter) => parameter.in !== "cookie").sort((a, b) => Number(b.required ?? false) - Number(a.required ?? false));
}

function exampleBody(document: Document, endpoint: Endpoint, mediaType: string): string {
  const content = endpoint.body?.content?.[mediaType];
  if (!content) return "";
  const given = content.example ?? Object.values(content.examples ?? {})[0]?.value;
  const example = given ?? exampleOf(document, content.schema);
  if (typeof example === "string" && !/json/.test(mediaType)) return example;
  return JSON.stringify(example, null, 2);
}

/** The request of the form. */
function requestOf(endpoint: Endpoint, values: Record<string, string>, mediaType: string, body: string): ApiRequest {
  const query: [string, string][] = [];
  const headers: Record<string, string> = {};
  let path = endpoint.path;
  for (const parameter of endpoint.parameters) {
    const value = values[keyOf(parameter)] ?? "";
    if (parameter.in === "path") path = fillPath(path, parameter.name, value);
    else if (value === "") continue;
    else if (parameter.in === "query") query.push([parameter.name, value]);
    else if (parameter.in === "header") headers[parameter.name] = value;
  }
  if (mediaType) headers["Content-Type"] = mediaType;
  return { method: endpoint.method.toUpperCase(), path, query, headers, ...(mediaType ? { body } : {}) };
}

function fillPath(path: string, name: string, value: string): string {
  // Until it is typed, the place of a value shows its name.
  return value === "" ? path : path.replace(`{${name}}`, encodeURIComponent(value));
}
