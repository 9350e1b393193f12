import { ApiError, isAborted } from "../api";
import type { Value } from "../data_json";
import { valueText } from "../grid/value";
import { type Changes, type TaggedRecord, changeCount, isGone, readRecord, shownValue, updateRecord } from "./record";
import type { RecordName } from "./record_request";

/** Values of a row, by column. */
export type Values = Map<string, Value>;

/** The row was changed by somebody else, so that nothing was written. */
export class EditConflict extends ApiError {
  constructor(
    /** What the row is now. */
    readonly now: Values,
    columns: string[],
  ) {
    const told = columns.map((name) => `${name} is now ${toldOf(now.get(name) ?? null)}`).join(", ");
    super(412, "precondition_failed", `Somebody else changed the row meanwhile${told && `: ${told}`}`, "Save again to write over it, or cancel to leave it so.", null);
  }
}

/** The row was deleted by somebody else. */
const deleted = () => new ApiError(404, "record_not_found", "Somebody else deleted the row meanwhile", "What you typed is still here: copy it, should a new row have it.", null);

/** How much of a value a message has. */
const TOLD_LENGTH = 80;

function toldOf(value: Value): string {
  if (value === null) return "NULL";
  const text = valueText(value);
  return `“${text.length > TOLD_LENGTH ? `${text.slice(0, TOLD_LENGTH)}…` : text}”`;
}

/** Whether two values are shown alike. */
export function isSame(one: Value, other: Value): boolean {
  return (one === null) === (other === null) && valueText(one) === valueText(other);
}

/** How often a change is written again that another column of the row was in the way of. */
const TRIES = 3;

/**
 * The change of one row by a person, who may take long over it. The row is read when the editor opens, and what is
 * written says what the person was shown of it: if that is no longer so, nothing is written. Edits of one row wait for
 * each other, so that nobody is in the way of their own change.
 */
export class RecordEdit {
  private reading: Promise<{ record: TaggedRecord; values: Values }>;
  private readonly row: string;

  /** `readShown` reads the row as the page shows it, whose values may be written otherwise than those of the record. */
  constructor(
    private readonly record: RecordName,
    private readonly readShown: () => Promise<Values | null>,
  ) {
    this.row = JSON.stringify([record.table, record.key]);
    this.reading = inLine(this.row, () => this.read());
    // Whoever saves is told; until then nobody waits for it.
    this.reading.catch(() => undefined);
  }

  /** What the row was when it was last read, as the page shows it. */
  async now(): Promise<Values> {
    return (await this.reading).values;
  }

  /** Writes changes of a row of which the person was shown these values. Rejects with `EditConflict` if it is another now. */
  save(changes: Changes, shown: Values): Promise<void> {
    return inLine(this.row, () => this.write(changes, shown));
  }

  private async write(changes: Changes, shown: Values): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      let now;
      try {
        now = await this.reading;
      } catch (error) {
        // The next one who saves may have more luck.
        this.reading = this.read();
        this.reading.catch(() => undefined);
        throw this.told(error);
      }
      const changed = [...shown].filter(([name, value]) => !isSame(value, now.values.get(name) ?? null)).map(([name]) => name);
      if (changed.length) throw this.conflict(now.values, changed);
      try {
        return await updateRecord(this.record, now.record, changes);
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 412) throw this.told(error);
        this.reading = this.read();
        if (attempt === TRIES) throw this.conflict(await this.now(), []);
      }
    }
  }

  /** An error as it is told: of a row that is gone, what shows rows leaves it out then. */
  private told(error: unknown): unknown {
    if (!isGone(error)) return error;
    changeCount.value++;
    return deleted();
  }

  private conflict(now: Values, columns: string[]): EditConflict {
    // What shows rows shows the other change then.
    changeCount.value++;
    return new EditConflict(now, columns);
  }

  /** The tag comes first: what is changed between the two requests is refused, and not written over. */
  private async read(): Promise<{ record: TaggedRecord; values: Values }> {
    const record = await readRecord(this.record);
    const shown = await this.readShown().catch((error: unknown) => {
      if (isAborted(error)) throw error;
      return null;
    });
    const { entry } = this.record;
    return { record, values: shown ?? new Map([...record.values].map(([name, value]) => [name, shownValue(entry, name, value)])) };
  }
}

/** The last of what is done with a row, by the row. */
const lines = new Map<string, Promise<unknown>>();

/** Does something with a row when everything before it is done. */
function inLine<T>(row: string, work: () => Promise<T>): Promise<T> {
  const own = (lines.get(row) ?? Promise.resolve()).then(work);
  const end = own.then(
    () => undefined,
    () => undefined,
  );
  lines.set(row, end);
  void end.then(() => lines.get(row) === end && lines.delete(row));
  return own;
}
