import { useEffect, useRef, useState } from "preact/hooks";
import { kindOf, shortKind } from "../column_type";
import type { Entry } from "../catalog";
import { Icon } from "../icon";
import { type ViewState, setColumns } from "./view_state";

/** The choice of the columns that are shown. */
export function ColumnPicker({ entry, state }: { entry: Entry; state: ViewState }) {
  const [open, setOpen] = useState(false);
  const [search, setSearch] = useState("");
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const close = (event: MouseEvent) => box.current?.contains(event.target as Node) || setOpen(false);
    document.addEventListener("mousedown", close);
    return () => document.removeEventListener("mousedown", close);
  }, [open]);

  const shown = new Set(state.columns.map(({ name }) => name));
  const found = entry.columns.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const toggle = (name: string) => {
    const names = state.columns.map((column) => column.name);
    // A column comes back to its place among the others.
    const next = shown.has(name) ? names.filter((one) => one !== name) : entry.columns.map((column) => column.name).filter((one) => one === name || shown.has(one));
    if (next.length) setColumns(entry, next);
  };
  return (
    <div class="popover-host" ref={box} onKeyDown={(event) => event.key === "Escape" && setOpen(false)}>
      <button type="button" class="button small" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="columns" size={14} /> Columns
        <span class="muted">
          {state.columns.length}
          {state.columns.length < entry.columns.length && ` of ${entry.columns.length}`}
        </span>
      </button>
      {open && (
        <div class="popover" role="dialog" aria-label="Columns">
          <input type="search" aria-label="Find a column" placeholder="Find a column" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          <div class="row">
            <button type="button" class="button small quiet" onClick={() => setColumns(entry, entry.columns.map(({ name }) => name))} disabled={entry.columns.length > 200}>
              All
            </button>
            <button type="button" class="button small quiet" onClick={() => setColumns(entry, [])}>
              As at first
            </button>
          </div>
          <ul class="check-list">
            {found.map(({ name, type }) => (
              <li key={name}>
                <label>
                  <input type="checkbox" checked={shown.has(name)} onChange={() => toggle(name)} />
                  <bdi>{name}</bdi>
                  <small>{shortKind(kindOf(type))}</small>
                </label>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
