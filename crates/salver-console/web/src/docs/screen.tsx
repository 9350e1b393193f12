import { useMemo, useState } from "preact/hooks";
import { ApiError, fetchJson } from "../api";
import { ErrorNote } from "../error_note";
import { pageUrl, place } from "../router";
import { useLoaded } from "../use_loaded";
import { EndpointView } from "./endpoint_view";
import { Method } from "./method";
import { DOCUMENT, type Document, type Endpoint, endpointsOf } from "./openapi";
import "./docs.css";

/** Where the API is described, the whole of it first. */
const SOURCES = [
  { id: "all", label: "Everything", path: "openapi.json" },
  { id: "records", label: "Records", path: "api/openapi" },
  { id: "functions", label: "Functions", path: "api/functions.openapi.json" },
] as const;

/** The API reference: every operation, with its parameters, bodies and answers, and a way to try it. */
export default function DocsScreen() {
  const { query } = place.value;
  const source = SOURCES.find(({ id }) => id === query.get("of")) ?? SOURCES[0];
  const { data: document, error, loading, reload } = useLoaded(source.id, (signal) => fetchDocument(source.path, signal));
  const [search, setSearch] = useState("");
  const endpoints = useMemo(() => (document ? endpointsOf(document) : []), [document]);
  const groups = useMemo(() => groupsOf(endpoints, search), [endpoints, search]);
  const chosen = endpoints.find(({ id }) => id === query.get("op")) ?? endpoints[0];
  const linkTo = (endpoint: Endpoint) => `${pageUrl("docs")}?${new URLSearchParams({ ...(source.id === "all" ? {} : { of: source.id }), op: endpoint.id }).toString()}`;
  return (
    <section class="screen docs">
      <header class="screen-head">
        <h1>API reference</h1>
        {document && <span class="badge">{document.info.version}</span>}
        <span class="spring" />
        <nav class="tabs" aria-label="Part of the API">
          {SOURCES.map(({ id, label }) => (
            <a key={id} class="tab" href={id === "all" ? pageUrl("docs") : `${pageUrl("docs")}?of=${id}`} aria-current={id === source.id ? "page" : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <a class="button small" href={new URL(source.path, globalThis.document.baseURI).href} target="_blank" rel="noopener">
          OpenAPI document
        </a>
      </header>
      <ErrorNote error={error} onRetry={reload} />
      {loading && !document && <p class="loading">Loading…</p>}
      {document && (
        <div class="docs-columns">
          <nav class="card docs-list" aria-label="Operations">
            <input type="search" placeholder="Find an operation" aria-label="Find an operation" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
            {groups.map(({ tag, found }) => (
              <details key={tag} open={search !== "" || groups.length < 4 || found.includes(chosen as Endpoint)}>
                <summary>
                  <bdi>{tag}</bdi> <span class="muted">{found.length}</span>
                </summary>
                <ul>
                  {found.map((endpoint) => (
                    <li key={endpoint.id}>
                      <a href={linkTo(endpoint)} aria-current={endpoint === chosen ? "page" : undefined}>
                        <Method method={endpoint.method} /> <bdi class="docs-path">/{endpoint.path}</bdi>
                      </a>
                    </li>
                  ))}
                </ul>
              </details>
            ))}
            {groups.length === 0 && <p class="muted">No operation has this in its path or summary.</p>}
          </nav>
          {chosen && <EndpointView key={chosen.id} document={document} endpoint={chosen} />}
        </div>
      )}
    </section>
  );
}

/** A server without the whole document still describes its records. */
async function fetchDocument(path: string, signal: AbortSignal): Promise<Document> {
  try {
    return await fetchJson(path, DOCUMENT, signal);
  } catch (error) {
    if (path !== "openapi.json" || !(error instanceof ApiError) || error.status !== 404) throw error;
    return fetchJson("api/openapi", DOCUMENT, signal);
  }
}

function groupsOf(endpoints: Endpoint[], search: string): { tag: string; found: Endpoint[] }[] {
  const wanted = search.trim().toLowerCase();
  // Every group has its place, whatever is found: one that moved would be under another hand when it is clicked.
  const groups = new Map<string, Endpoint[]>(endpoints.map(({ tag }) => [tag, []]));
  for (const endpoint of endpoints) {
    if (wanted && !`${endpoint.method} /${endpoint.path} ${endpoint.summary}`.toLowerCase().includes(wanted)) continue;
    groups.get(endpoint.tag)?.push(endpoint);
  }
  return [...groups].flatMap(([tag, found]) => (found.length > 0 ? [{ tag, found }] : []));
}
