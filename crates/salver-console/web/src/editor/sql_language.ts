import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { PostgreSQL, type SQLNamespace, sql } from "@codemirror/lang-sql";
import type { Extension } from "@codemirror/state";
import { fetchJson } from "../api";
import { list, nullable, object, text } from "../shape";
import { typeLabel } from "../column_type";
import { askableEntries } from "../sql/askable";

interface Routine {
  routine_name: string;
  data_type: string | null;
  description: string | null;
  syntax_example: string | null;
}

const ROUTINES = list(object<Routine>({ routine_name: text, data_type: nullable(text), description: nullable(text), syntax_example: nullable(text) }));

let routines: Promise<Completion[]> | undefined;

/** The functions of SQL, those of R and Python files included; read once. */
function functionCompletions(): Promise<Completion[]> {
  const query = "SELECT routine_name, data_type, description, syntax_example FROM information_schema.routines";
  routines ??= fetchJson({ path: "api/sql", query: [["q", query]] }, ROUTINES).then(
    (rows) => {
      const byName = new Map<string, Completion>();
      for (const row of rows) {
        if (byName.has(row.routine_name)) continue;
        byName.set(row.routine_name, {
          label: row.routine_name,
          type: "function",
          detail: row.syntax_example?.split("\n")[0] ?? "",
          ...(row.description ? { info: row.description } : {}),
          apply: `${row.routine_name}(`,
          boost: -1,
        });
      }
      return [...byName.values()];
    },
    // A caller may have no right to SQL's own tables; the rest of the completion does not need them.
    () => [],
  );
  return routines;
}

/** A name as it must stand in a statement: quoted unless it is a plain word in lower case. */
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replace(/"/g, '""')}"`;
}

/** The columns of the tables that the statement names, or else of all tables. */
function columnCompletions(statement: string): Completion[] {
  const entries = askableEntries();
  const named = entries.filter((entry) => statement.includes(entry.name));
  const byName = new Map<string, Completion>();
  for (const entry of named.length ? named : entries) {
    for (const column of entry.columns) {
      const before = byName.get(column.name);
      byName.set(column.name, {
        label: column.name,
        type: "property",
        detail: before ? `${before.detail}, ${entry.name}` : `${typeLabel(column.type)} · ${entry.name}`,
        apply: quoted(column.name),
        boost: named.length ? 2 : 0,
      });
    }
  }
  return [...byName.values()];
}

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[\w$]+/);
  if (!word && !context.explicit) return null;
  const before = context.state.sliceDoc(Math.max(0, (word?.from ?? context.pos) - 1), word?.from ?? context.pos);
  // Behind a dot stand the columns of one table, which the language knows itself; in quotes stands no word of SQL.
  if (before === "." || before === "'" || before === '"') return null;
  const columns = columnCompletions(context.state.doc.toString());
  return { from: word?.from ?? context.pos, options: [...columns, ...(await functionCompletions())], validFor: /^[\w$]*$/ };
}

/** SQL, with completion of the catalog's tables and columns and of all functions. */
export function sqlLanguage(): Extension {
  const schema: SQLNamespace = {};
  for (const entry of askableEntries()) {
    schema[entry.name.replace(/\./g, "\\.")] = {
      self: { label: entry.name, type: "class", detail: entry.kind, apply: quoted(entry.name), boost: 3 },
      children: entry.columns.map((column) => ({
        label: column.name,
        type: "property",
        detail: typeLabel(column.type),
        apply: quoted(column.name),
      })),
    };
  }
  return [sql({ dialect: PostgreSQL, schema, upperCaseKeywords: true }), PostgreSQL.language.data.of({ autocomplete: complete })];
}
