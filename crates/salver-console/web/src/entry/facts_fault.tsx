import type { Entry } from "../catalog";
import { ErrorNote } from "../error_note";
import { PartFault } from "../part_fault";
import type { LoadedFacts } from "./facts";

/** Says what could not be read about an entry, whose rows are shown all the same. */
export function FactsFault({ entry, loaded }: { entry: Entry; loaded: LoadedFacts }) {
  return (
    <>
      {entry.kind === "table" && <PartFault parts={["columns"]} left="Rows can't be changed until it is there." />}
      {loaded.error !== null && (
        <div class="note warn" role="status">
          <p class="note-title">What belongs to the rows could not be read: their keys, or what may be changed</p>
          <ErrorNote error={loaded.error} onRetry={loaded.reload} />
        </div>
      )}
    </>
  );
}
