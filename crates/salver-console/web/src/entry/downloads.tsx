import { useEffect, useRef, useState } from "preact/hooks";
import { apiPath } from "../api";
import type { Entry } from "../catalog";
import { parquetRefuses } from "../column_type";
import { ErrorNote } from "../error_note";
import { FileLink } from "../file_link";
import { Icon } from "../icon";
import { type ViewState, downloadQuery } from "./view_state";

const FORMATS = [
  ["csv", "CSV"],
  ["xlsx", "Excel"],
  ["json", "JSON"],
  ["ndjson", "NDJSON"],
  ["parquet", "Parquet"],
  ["arrow", "Arrow"],
  ["tsv", "TSV"],
] as const;

/** Files of what is shown: the same columns, conditions and order, with the rows of all pages. */
export function Downloads({ entry, state }: { entry: Entry; state: ViewState }) {
  const [error, setError] = useState<unknown>(null);
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: MouseEvent) => {
      if (menu.current?.open && !menu.current.contains(event.target as Node)) menu.current.open = false;
    };
    document.addEventListener("mousedown", close);
    return () => document.removeEventListener("mousedown", close);
  }, []);

  const noParquet = parquetRefuses(state.columns);
  return (
    <>
      <details class="menu" ref={menu} onKeyDown={(event) => event.key === "Escape" && menu.current && (menu.current.open = false)}>
        <summary class="button small">
          <Icon name="exports" size={14} /> Download
        </summary>
        <ul>
          {FORMATS.map(([format, label]) => (
            <li key={format}>
              {format === "parquet" && noParquet ? (
                <span class="menu-refused">Parquet has no type for {noParquet}</span>
              ) : (
                <FileLink
                  request={{ path: apiPath("tables", entry.name), query: [...downloadQuery(entry, state), ["format", format]] }}
                  name={`${entry.name}.${format}`}
                  onClick={() => menu.current && (menu.current.open = false)}
                  onError={setError}
                >
                  {label}
                </FileLink>
              )}
            </li>
          ))}
        </ul>
      </details>
      <ErrorNote error={error} />
    </>
  );
}
