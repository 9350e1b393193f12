import { type ApiRequest, bodyOf, isAborted, requestUrl, send } from "../api";
import type { Value } from "../data_json";
import { filledRows } from "../special_number";
import { type Result, type Statement, fileRequest } from "./run";

/** Addresses that are longer are refused on many ways. */
const URL_MAX = 8000;
/** A statement that took longer, in milliseconds, is not run a second time. */
const SLOW_MS = 5000;
/** Characters that are read for each row, as of the rows themselves. */
const ROW_CHARACTERS = 1000;

/** The places of columns of floats with nulls, which in JSON may also be NaN or infinite. */
export function doubtfulPlaces({ columns, rows }: Pick<Result, "columns" | "rows">): number[] {
  return columns.flatMap(({ type }, at) => (/^Float/.test(type) && rows.some((row) => row[at] === null) ? [at] : []));
}

/**
 * The rows of a statement with NaN and infinities in place of the nulls that are none: it is run once more for CSV, which
 * tells them, and by GET, which calls no function that may change something. `null` where that is not known.
 */
export async function readSpecialValues(statement: Statement, result: Result, signal: AbortSignal): Promise<Value[][] | null> {
  const places = doubtfulPlaces(result);
  const request: ApiRequest = { ...fileRequest(statement, "csv"), headers: { Accept: "text/csv" } };
  if (places.length === 0 || result.ms > SLOW_MS || requestUrl(request).length > URL_MAX) return null;
  try {
    const response = await send(request, signal);
    const lines = await bodyOf(response, () => readLines(response, result.rows.length + 1));
    return filledRows(result.rows, places, lines.slice(1).map((line) => places.map((at) => line[at] ?? "")));
  } catch (error) {
    if (isAborted(error)) throw error;
    // They stay as JSON has them.
    return null;
  }
}

/** The first lines of a CSV; then the server is told to stop. */
async function readLines(response: Response, wanted: number): Promise<string[][]> {
  if (!response.body) return [];
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += value ?? "";
    // A row has at least one line, and what is not whole yet is read again with the next part.
    const isEnough = text.length > wanted * ROW_CHARACTERS || (text.match(/\n/g)?.length ?? 0) >= wanted;
    const lines = done || isEnough ? parseCsv(text, wanted) : [];
    if (done || lines.length >= wanted || text.length > wanted * ROW_CHARACTERS) {
      if (!done) await reader.cancel();
      return lines;
    }
  }
}

const FIELD = /(?:"((?:[^"]|"")*)"|([^",\n\r]*))(,|\r?\n)/y;

/** The whole lines of a CSV, at most so many. */
export function parseCsv(text: string, max = Infinity): string[][] {
  const lines: string[][] = [];
  let line: string[] = [];
  FIELD.lastIndex = 0;
  for (let found = FIELD.exec(text); found && lines.length < max; found = FIELD.exec(text)) {
    line.push(found[1]?.replace(/""/g, '"') ?? found[2] ?? "");
    if (found[3] === ",") continue;
    lines.push(line);
    line = [];
  }
  return lines;
}
