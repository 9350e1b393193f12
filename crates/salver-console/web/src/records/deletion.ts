import { ApiError } from "../api";
import { whyInexact } from "./exactness";
import { type TaggedRecord, changeCount, deleteRecord, readRecord } from "./record";
import type { RecordName } from "./record_request";

/** What is known of a row before it is deleted. */
export interface Prepared {
  before: TaggedRecord;
  /** Why it could not be brought back as it was; `null` where it could. */
  whyFinal: string | null;
}

/** The deletion of a row about which a person is asked: only the row is deleted of which they were told. */
export class Deletion {
  prepared: Promise<Prepared>;

  /** `referring` are the tables whose rows may refer to this one. */
  constructor(
    readonly record: RecordName,
    readonly referring: string[],
  ) {
    this.prepared = this.prepare();
  }

  async run(): Promise<void> {
    const { before, whyFinal } = await this.prepared;
    try {
      await deleteRecord(this.record, before, whyFinal, this.referring);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error;
      this.prepared = this.prepare();
      changeCount.value++;
      throw new ApiError(412, error.word, "Somebody else changed the row meanwhile", "Delete it again, or cancel to see what it is now.", error.body);
    }
  }

  private prepare(): Promise<Prepared> {
    const preparing = readRecord(this.record).then(async (before) => ({ before, whyFinal: await whyInexact(this.record, before.values) }));
    // Whoever shows it tells; until then nobody waits for it.
    preparing.catch(() => undefined);
    return preparing;
  }
}
