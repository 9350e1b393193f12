import { ApiError, type ApiRequest, dataOf, send, textOf } from "../api";
import { kindOf } from "../column_type";
import { type Value, writeData } from "../data_json";
import { valueText } from "../grid/value";
import { type RecordName, recordRequest } from "./record_request";

/** How long a value may be that stands in the address of a change, and all of them together. */
const VALUE_MAX = 200;
const VALUES_MAX = 4000;

/**
 * Conditions that a row is what was seen of it, for rows that have no tag because their key can't stand in a path. They
 * leave out what a database may not find again by what is shown: floats of 32 bits, a null that may be NaN, a value of
 * another type than its column, long texts. Those are compared by who reads the row before.
 */
export function seenConditions({ entry, keyColumns }: RecordName, values: Map<string, Value>): [string, string][] {
  const conditions: [string, string][] = [];
  let length = 0;
  for (const { name, type } of entry.columns) {
    // A name with one of these means something else in a condition.
    if (!values.has(name) || keyColumns.includes(name) || /[,."]/.test(name)) continue;
    const condition = conditionOf(name, type, values.get(name) ?? null);
    if (condition === null || length + condition.length > VALUES_MAX) continue;
    length += condition.length;
    conditions.push(["filter", condition]);
  }
  return conditions;
}

function conditionOf(name: string, type: string, value: Value): string | null {
  const kind = kindOf(type);
  if (kind === "nested" || kind === "other" || /^Float(16|32)/.test(type)) return null;
  if (value === null) return kind === "number" ? null : `${name},is`;
  if (typeof value === "object" && !("text" in value)) return null;
  const text = valueText(value);
  if (text.length > VALUE_MAX || /[\u0000\ud800-\udfff]/u.test(text) || (kind === "boolean" && typeof value !== "boolean")) return null;
  return `${name},eq,${text}`;
}

/** Whether two readings of a row have the same values. */
export function isSameRow(one: Map<string, Value>, other: Map<string, Value>): boolean {
  return one.size === other.size && [...one].every(([name, value]) => other.has(name) && writeData(value) === writeData(other.get(name) ?? null));
}

/** What a change of a row is refused with that is another now. */
export const isAnother = () => new ApiError(412, "precondition_failed", "Somebody else changed the row meanwhile", null, null);

/**
 * Changes or deletes a row without a tag, if it is still what was seen of it: it is read once more and compared, and the
 * change itself names what can be compared, so that nothing is written over what comes in between.
 */
export async function writeUntagged(record: RecordName, seen: Map<string, Value>, read: () => Promise<Map<string, Value>>, change: Pick<ApiRequest, "body" | "headers"> & { method: string }): Promise<void> {
  const isStill = async () => {
    if (!isSameRow(await read(), seen)) throw isAnother();
  };
  await isStill();
  const request = { ...recordRequest(record, change.method), ...change };
  const conditions = seenConditions(record, seen);
  try {
    if ((await affected({ ...request, query: [...(request.query ?? []), ...conditions] })) > 0) return;
  } catch (error) {
    // Nothing is done then. A column may be one that can't be compared; anything else is told again below.
    if (!(error instanceof ApiError) || ![400, 403, 404, 422, 501].includes(error.status) || conditions.length === 0) throw error;
  }
  // Either the row is another by now, or its database does not find a value by what it shows of it.
  await isStill();
  if ((await affected(request)) === 0) await isStill();
}

async function affected(request: ApiRequest): Promise<number> {
  const response = await send(request);
  return Number(dataOf(response, await textOf(response)));
}
