import { useState } from "preact/hooks";
import { ErrorNote } from "../error_note";
import { documentOf, namedType, type RootField, typeText } from "./root_fields";

interface SchemaPanelProps {
  fields: RootField[];
  error: unknown;
  /** Asks for the fields again. */
  onRetry: () => void;
  /** Puts a document into the editor. */
  onChoose: (document: string) => void;
}

/** What can be asked for: the root fields with their arguments and members. */
export function SchemaPanel({ fields, error, onRetry, onChoose }: SchemaPanelProps) {
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase();
  const found = fields.filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <aside class="card graphql-schema" aria-label="Schema">
      <input type="search" placeholder="Find a field" aria-label="Find a field" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      <ErrorNote error={error} onRetry={onRetry} />
      <ul>
        {found.map((field) => (
          <li key={field.name}>
            <details>
              <summary>
                <code>{field.name}</code>
              </summary>
              {field.description && <p class="muted">{field.description}</p>}
              <dl class="facts">
                {field.args.map(({ name, type }) => (
                  <Member key={name} name={`${name}:`} type={typeText(type)} />
                ))}
                {(namedType(field.type).fields ?? []).map(({ name, type }) => (
                  <Member key={name} name={name} type={typeText(type)} />
                ))}
              </dl>
              <button type="button" class="button small" onClick={() => onChoose(documentOf(field))}>
                Ask for it
              </button>
            </details>
          </li>
        ))}
      </ul>
    </aside>
  );
}

function Member({ name, type }: { name: string; type: string }) {
  return (
    <>
      <dt>
        <code>{name}</code>
      </dt>
      <dd>
        <code>{type}</code>
      </dd>
    </>
  );
}
