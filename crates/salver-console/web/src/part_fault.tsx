import { type Part, catalog, loadCatalog } from "./catalog";
import { ErrorNote } from "./error_note";

const NAMES: Record<Part, string> = { functions: "functions", queries: "queries", columns: "columns of databases", streams: "streams" };

/** Says which of some parts of the catalog could not be read, why, and what that means; nothing where all could. */
export function PartFault({ parts, left }: { parts: Part[]; left: string }) {
  const faults = catalog.value?.faults;
  const [first] = parts.filter((part) => faults?.has(part));
  if (!faults || !first) return null;
  const names = parts.filter((part) => faults.has(part)).map((part) => NAMES[part]);
  return (
    <div class="note warn" role="status">
      <p class="note-title">
        The list of {names.join(", of ")} could not be read. {left}
      </p>
      <ErrorNote error={faults.get(first)} onRetry={() => void loadCatalog()} />
    </div>
  );
}
