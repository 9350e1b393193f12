import { useEffect, useRef, useState } from "preact/hooks";
import { apiKey, apiPath, requestUrl, send } from "../api";
import type { Entry } from "../catalog";
import { ErrorNote } from "../error_note";
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

  const download = async (event: MouseEvent, format: string) => {
    if (menu.current) menu.current.open = false;
    // A link can't bring a key, so the file goes through the page then.
    if (apiKey.get() === null) return;
    event.preventDefault();
    try {
      const response = await send({ path: apiPath("tables", entry.name), query: [...downloadQuery(entry, state), ["format", format]] });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await response.blob());
      link.download = `${entry.name}.${format}`;
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (failed) {
      setError(failed);
    }
  };
  return (
    <>
      <details class="menu" ref={menu} onKeyDown={(event) => event.key === "Escape" && menu.current && (menu.current.open = false)}>
        <summary class="button small">
          <Icon name="exports" size={14} /> Download
        </summary>
        <ul>
          {FORMATS.map(([format, label]) => (
            <li key={format}>
              <a
                href={requestUrl({ path: apiPath("tables", entry.name), query: [...downloadQuery(entry, state), ["format", format]] })}
                download={`${entry.name}.${format}`}
                onClick={(event) => void download(event, format)}
              >
                {label}
              </a>
            </li>
          ))}
        </ul>
      </details>
      <ErrorNote error={error} />
    </>
  );
}
