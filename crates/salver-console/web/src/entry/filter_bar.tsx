import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { kindOf, typeLabel } from "../column_type";
import type { Column, Entry } from "../catalog";
import { Icon } from "../icon";
import { pageUrl, setQuery } from "../router";
import { TextLines } from "../text_lines";
import { buildFilter, comparisonsOf, describeFilter, sqlName } from "./filters";
import { type ViewState, setFilters } from "./view_state";

/** The conditions that hold, the builder for more, and what else stands in the same line. */
export function FilterBar({ entry, state, children }: { entry: Entry; state: ViewState; children?: ComponentChildren }) {
  const [adding, setAdding] = useState(false);
  const { filters, groups } = state;
  return (
    <div class="filter-bar">
      <button type="button" class="button small" aria-expanded={adding} onClick={() => setAdding(!adding)}>
        <Icon name="filter" size={14} /> Filter
      </button>
      {filters.map((filter, index) => {
        const { label, text } = describeFilter(filter);
        return (
          <span class="chip" key={`${filter.column}${filter.operator}${filter.value}`}>
            <bdi>{filter.column}</bdi> <span class="muted">{label}</span> {text !== "" && <bdi class="chip-value">{text.length > 40 ? `${text.slice(0, 40)}…` : text}</bdi>}
            <button type="button" class="chip-remove" aria-label={`Remove the condition on ${filter.column}`} onClick={() => setFilters(filters, filters.filter((_, other) => other !== index))}>
              <Icon name="close" size={12} />
            </button>
          </span>
        );
      })}
      {groups.map(([name, value]) => (
        <span class="chip" key={name + value}>
          <code>
            {name}={value.slice(0, 60)}
          </code>
          <button type="button" class="chip-remove" aria-label={`Remove the group ${name}`} onClick={() => setQuery({ [name]: null, page: null })}>
            <Icon name="close" size={12} />
          </button>
        </span>
      ))}
      {filters.length > 1 && (
        <button type="button" class="button small quiet" onClick={() => setFilters(filters, [])}>
          Remove all
        </button>
      )}
      <span class="spring" />
      {children}
      {adding && <FilterBuilder entry={entry} state={state} onClose={() => setAdding(false)} />}
    </div>
  );
}

function FilterBuilder({ entry, state, onClose }: { entry: Entry; state: ViewState; onClose: () => void }) {
  const [name, setName] = useState(entry.columns[0]?.name ?? "");
  const [comparison, setComparison] = useState("");
  const [text, setText] = useState("");
  const column = entry.columns.find((one) => one.name === name) ?? entry.columns[0];
  if (!column) return null;
  const kind = kindOf(column.type);
  const choices = comparisonsOf(kind);
  const chosen = choices.find(({ id }) => id === comparison) ?? choices.find(({ id }) => id === "contains") ?? choices[0];
  if (!chosen) return null;
  const value = kind === "boolean" ? text || "true" : text;
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    setFilters(state.filters, [...state.filters, buildFilter(column, chosen.id, value)]);
    onClose();
  };
  return (
    <form class="filter-builder" onSubmit={add} onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <select aria-label="Column" value={column.name} onChange={(event) => setName(event.currentTarget.value)} ref={focusFirst}>
        {entry.columns.map((one) => (
          <option key={one.name} value={one.name}>
            {one.name}
          </option>
        ))}
      </select>
      <select aria-label="Comparison" value={chosen.id} onChange={(event) => setComparison(event.currentTarget.value)}>
        {choices.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </select>
      {chosen.needsValue &&
        (kind === "boolean" ? (
          <select aria-label="Value" value={value} onChange={(event) => setText(event.currentTarget.value)}>
            <option>true</option>
            <option>false</option>
          </select>
        ) : (
          <TextLines
            aria-label="Value"
            value={text}
            placeholder={chosen.id === "in" ? "a, b, c" : kind === "date" ? "2024-01-31" : kind === "timestamp" ? "2024-01-31T12:00:00Z" : "value"}
            onText={setText}
          />
        ))}
      {!choices.some(({ needsValue }) => needsValue) && <NoValues entry={entry} column={column} />}
      <button type="submit" class="button primary">
        Add
      </button>
      <button type="button" class="button" onClick={onClose}>
        Cancel
      </button>
    </form>
  );
}

/** Says why values of a column can't be compared here, and where they can. */
function NoValues({ entry, column }: { entry: Entry; column: Column }) {
  if (!/^(Duration|Interval)/.test(column.type)) return <small>Values of {typeLabel(column.type)} can't be compared.</small>;
  const second = column.type.startsWith("Duration") ? "'PT1S'" : "interval '1 second'";
  const sql = `select * from ${sqlName(entry.name)} where ${sqlName(column.name)} >= ${second}`;
  return (
    <small>
      Conditions take no {column.type.startsWith("Duration") ? "durations" : "intervals"}. SQL takes them as they are shown: <a href={`${pageUrl("sql")}?q=${encodeURIComponent(sql)}`}>the rows of a second or more</a>
    </small>
  );
}

const focusFirst = (element: HTMLElement | null) => {
  if (!element || element.dataset.focused) return;
  element.dataset.focused = "yes";
  element.focus();
};
