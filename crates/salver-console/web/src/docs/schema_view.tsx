import { useState } from "preact/hooks";
import { type Document, resolve, type Schema } from "./openapi";
import { constraints, membersOf, typeName } from "./schema";

const SHOWN = 100;

/** The members of a schema; those that have members of their own open. */
export function SchemaView({ document, schema: given }: { document: Document; schema: Schema }) {
  const schema = itemOf(document, resolve<Schema>(document, given));
  const members = membersOf(document, schema);
  const [all, setAll] = useState(false);
  const name = typeName(document, given);
  if (members.length === 0) return <p class="docs-type">{name}</p>;
  return (
    <>
      {name !== "object" && <p class="docs-type">{name}</p>}
      <ul class="docs-members">
        {(all ? members : members.slice(0, SHOWN)).map((member) => (
          <Member key={member.name} document={document} {...member} />
        ))}
      </ul>
      {members.length > SHOWN && !all && (
        <button type="button" class="button small" onClick={() => setAll(true)}>
          Show {members.length - SHOWN} more
        </button>
      )}
    </>
  );
}

function Member({ document, name, schema: given, required }: { document: Document; name: string; schema: Schema; required: boolean }) {
  const [open, setOpen] = useState(false);
  const schema = resolve<Schema>(document, given);
  const nested = membersOf(document, itemOf(document, schema)).length > 0;
  const line = (
    <>
      <code>{name}</code> <span class="docs-type">{typeName(document, given)}</span>
      {required && <span class="docs-required"> required</span>}
      <span class="muted"> {[schema.description, ...constraints(schema)].filter(Boolean).join(" · ")}</span>
    </>
  );
  if (!nested) return <li>{line}</li>;
  return (
    <li>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{line}</summary>
        {open && <SchemaView document={document} schema={schema} />}
      </details>
    </li>
  );
}

/** The schema of the items of a list, and any other schema as it is. */
function itemOf(document: Document, schema: Schema): Schema {
  return schema.items && [schema.type].flat().includes("array") ? itemOf(document, resolve<Schema>(document, schema.items)) : schema;
}
