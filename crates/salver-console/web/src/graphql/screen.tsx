import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type ApiRequest, requestUrl, send } from "../api";
import { Editor } from "../editor/editor";
import { placeAt } from "../editor/position";
import { ErrorNote } from "../error_note";
import { AnswerView } from "../function/answer_view";
import { type Answer, readAnswer } from "../function/call";
import { RequestPanel } from "../request_panel";
import { RunButton } from "../run_button";
import { place, setQuery } from "../router";
import { keepTyped, readTyped } from "../session/drafts";
import { LogInHint } from "../session/log_in_hint";
import { sessionKnown } from "../session/session";
import { object, text as anyText } from "../shape";
import { useLoaded } from "../use_loaded";
import { errorsOf, GraphqlErrors } from "./errors";
import { SchemaPanel } from "./schema_panel";
import { graphqlAnswer } from "../graphql_answer";
import { firstDocument, ROOTS, type RootField, ROOT_FIELDS } from "./root_fields";
import "./graphql.css";

/** GraphQL over everything that is served. */
export default function GraphqlScreen() {
  // Whose text is shown must be known.
  return sessionKnown.value ? <Documents /> : <p class="loading">Loading…</p>;
}

function Documents() {
  const { query } = place.value;
  const fields = useLoaded("fields", (signal) => rootFields(signal));
  const [typed] = useState(typedDocument);
  const [text, setText] = useState<string | null>(typed?.text ?? query.get("q"));
  const [variables, setVariables] = useState(typed?.variables ?? query.get("variables") ?? "");
  const [running, setRunning] = useState(false);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<unknown>(null);
  const controller = useRef<AbortController | null>(null);
  // The document that the answer and the errors are about.
  const ran = useRef("");
  const document = text ?? firstDocument(fields.data ?? []);

  const type = (next: { text: string; variables: string }) => {
    setText(next.text);
    setVariables(next.variables);
    const isSent = next.text === query.get("q") && next.variables === (query.get("variables") ?? "");
    keepTyped(isSent ? null : JSON.stringify(next));
  };
  const run = async (asked: string, method: "GET" | "POST", variables: string) => {
    const sent = graphqlRequest(asked, variables, method);
    ran.current = asked;
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    setRunning(true);
    setError(null);
    const began = performance.now();
    try {
      setAnswer(await readAnswer(await send(sent, own.signal), began));
    } catch (failure) {
      if (own.signal.aborted) return;
      setAnswer(null);
      setError(failure);
    } finally {
      if (controller.current === own) setRunning(false);
    }
  };
  const start = () => {
    setText(document);
    ran.current = document;
    keepTyped(null);
    setQuery({ q: document, variables: variables || null }, { replace: query.get("q") === document });
    void run(document, "POST", variables);
  };

  // What a link or the history of the browser brings is asked by GET, by which nothing can be changed.
  const linked = query.get("q");
  useEffect(() => {
    if (linked === null || ran.current === linked) return;
    // What was typed over it and not sent is still there.
    const over = typedDocument();
    const own = query.get("variables") ?? "";
    setText(over?.text ?? linked);
    setVariables(over?.variables ?? own);
    void run(linked, "GET", own);
  }, [linked]);
  useEffect(() => () => controller.current?.abort(), []);

  // Errors come with an answer, or in place of one.
  const errors = errorsOf(error instanceof ApiError ? error.body : plainJson(answer?.text));
  const [first] = errors;
  const at = first && ran.current === document ? placeAt(first.line, first.column, document) : undefined;
  return (
    <section class="screen graphql">
      <header class="screen-head">
        <h1>GraphQL</h1>
        <span class="spring" />
        <a class="button small" href={requestUrl({ path: "api/graphql" })} target="_blank" rel="noopener">
          Open GraphiQL
        </a>
      </header>
      <div class="graphql-columns">
        <div class="graphql-write">
          <Editor value={document} onChange={(next) => type({ text: next, variables })} onRun={start} language={{ name: "graphql" }} label="GraphQL document" lines={12} mark={at && first ? { ...at, message: first.message } : null} />
          <details open={variables !== ""}>
            <summary>Variables</summary>
            <Editor value={variables} onChange={(next) => type({ text: document, variables: next })} onRun={start} language={{ name: "json" }} label="Variables, as JSON" lines={3} />
          </details>
          <div class="row">
            <RunButton running={running} label="Run" title="Ctrl+Enter" onRun={start} onCancel={() => controller.current?.abort()} />
          </div>
          {errors.length > 0 ? <GraphqlErrors errors={errors} /> : <ErrorNote error={error} />}
          {(errors.length > 0 || fields.data?.every(({ name }) => name.startsWith("_"))) && <LogInHint />}
          {answer && <AnswerView answer={answer} name="graphql" />}
          <RequestPanel request={graphqlRequest(document, variables, "POST")} />
        </div>
        <SchemaPanel fields={fields.data ?? []} error={fields.error} onRetry={fields.reload} onChoose={(next) => type({ text: next, variables })} />
      </div>
    </section>
  );
}

const TYPED = object<{ text: string; variables: string }>({ text: anyText, variables: anyText });

/** What was typed on this step of the history and not sent. */
function typedDocument(): { text: string; variables: string } | null {
  try {
    return TYPED(JSON.parse(readTyped() ?? "null"), "", []) ?? null;
  } catch {
    return null;
  }
}

function graphqlRequest(document: string, variables: string, method: "GET" | "POST"): ApiRequest {
  if (method === "GET") {
    return { path: "api/graphql", query: [["query", document], ...(variables.trim() ? [["variables", variables] as [string, string]] : [])] };
  }
  const body = `{"query":${JSON.stringify(document)}${variables.trim() ? `,"variables":${variables.trim()}` : ""}}`;
  return { method, path: "api/graphql", headers: { "Content-Type": "application/json" }, body };
}

async function rootFields(signal: AbortSignal): Promise<RootField[]> {
  return (await graphqlAnswer(ROOT_FIELDS, ROOTS, signal)).__schema.queryType.fields;
}

function plainJson(text: string | null | undefined): unknown {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}
