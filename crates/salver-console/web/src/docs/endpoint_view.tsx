import { SchemaView } from "./schema_view";
import { exampleOf } from "./schema";
import type { Document, Endpoint, ResponseObject, Schema } from "./openapi";
import { Method } from "./method";
import { Inline, Prose } from "./prose";
import { TryIt } from "./try_it";

/** One operation: what it takes, what it answers, and a form to try it. */
export function EndpointView({ document, endpoint }: { document: Document; endpoint: Endpoint }) {
  const content = Object.entries(endpoint.body?.content ?? {});
  return (
    <article class="docs-endpoint" aria-labelledby="operation">
      <h2 id="operation" class="docs-title">
        <Method method={endpoint.method} /> <bdi>/{endpoint.path}</bdi>
        {endpoint.deprecated && <span class="badge warn">deprecated</span>}
      </h2>
      {endpoint.summary && (
        <p>
          <Inline text={endpoint.summary} />
        </p>
      )}
      {endpoint.description && <Prose text={endpoint.description} />}
      <TryIt document={document} endpoint={endpoint} />
      {content.length > 0 && (
        <section>
          <h3>Body</h3>
          {endpoint.body?.description && <Prose text={endpoint.body.description} />}
          {content.map(([mediaType, { schema }]) => (
            <BodyView key={mediaType} document={document} mediaType={mediaType} schema={schema} />
          ))}
        </section>
      )}
      <section>
        <h3>Responses</h3>
        {endpoint.responses.map(({ status, response }) => (
          <ResponseView key={status} document={document} status={status} response={response} />
        ))}
      </section>
    </article>
  );
}

function ResponseView({ document, status, response }: { document: Document; status: string; response: ResponseObject }) {
  const text = response.description ?? "";
  const end = text.search(/\n\s*\n|\n(?=- )/);
  return (
    <details class="docs-response">
      <summary>
        <span class={`badge ${status.startsWith("2") ? "good" : /^[45]/.test(status) ? "bad" : ""}`}>{status}</span> <Inline text={end < 0 ? text : text.slice(0, end)} />
      </summary>
      {end >= 0 && <Prose text={text.slice(end).trim()} />}
      {Object.entries(response.content ?? {}).map(([mediaType, { schema }]) => (
        <BodyView key={mediaType} document={document} mediaType={mediaType} schema={schema} />
      ))}
    </details>
  );
}

function BodyView({ document, mediaType, schema }: { document: Document; mediaType: string; schema: Schema | undefined }) {
  return (
    <div class="docs-body">
      <p class="muted">
        <code>{mediaType}</code>
      </p>
      {schema && <SchemaView document={document} schema={schema} />}
      {schema && /json/.test(mediaType) && (
        <details>
          <summary>Example</summary>
          <pre class="code" tabIndex={0}>
            {JSON.stringify(exampleOf(document, schema), null, 2)}
          </pre>
        </details>
      )}
    </div>
  );
}
