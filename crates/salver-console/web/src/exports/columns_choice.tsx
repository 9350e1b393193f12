import type { Column } from "../catalog";
import { place, setQuery } from "../router";

/** The columns to export that the address names; none stands for all. */
export function chosenColumns(columns: Column[]): string[] {
  const named = place.value.query.getAll("columns");
  return columns.map(({ name }) => name).filter((name) => named.includes(name));
}

/** A choice of columns, folded in while all are taken. */
export function ColumnsChoice({ columns }: { columns: Column[] }) {
  const chosen = chosenColumns(columns);
  const toggle = (name: string) => {
    const all = chosen.length ? chosen : columns.map((column) => column.name);
    const next = all.includes(name) ? all.filter((other) => other !== name) : [...all, name];
    const ordered = columns.map((column) => column.name).filter((other) => next.includes(other));
    setQuery({ columns: ordered.length === columns.length || ordered.length === 0 ? null : ordered }, { replace: true });
  };
  return (
    <details class="columns-choice">
      <summary>{chosen.length ? `${chosen.length} of ${columns.length} columns` : `All ${columns.length} columns`}</summary>
      <ul>
        {columns.map(({ name }) => (
          <li key={name}>
            <label class="inline-field">
              <input type="checkbox" checked={chosen.length === 0 || chosen.includes(name)} onChange={() => toggle(name)} />
              <bdi>{name}</bdi>
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Names as the parameter `columns` takes them: those with a comma or a quote are quoted. */
export function columnsParameter(names: string[]): string {
  return names.map((name) => (/[,":()]/.test(name) ? `"${name.replace(/"/g, '""')}"` : name)).join(",");
}
