import { useEffect, useState } from "preact/hooks";
import { type ApiRequest, type Rows, send, textOf } from "../api";
import type { Column } from "../catalog";
import type { Value } from "../data_json";
import { filledRows } from "../special_number";
import { quoteName } from "./view_state";

/** The columns of floats that have nulls in some rows, which in JSON may also be NaN or infinite. */
export function doubtfulColumns(columns: Column[], data: Rows): string[] {
  return data.columns.filter((name, at) => {
    const type = columns.find((column) => column.name === name)?.type ?? "";
    return /^Float/.test(type) && data.rows.some((row) => row[at] === null);
  });
}

/** The request for the same rows in CSV, which tells NaN and the infinities from NULL, with some columns only. */
export function csvRequest({ path, query }: ApiRequest, names: string[]): ApiRequest {
  const others = (query ?? []).filter(([name]) => name !== "columns");
  return { path, query: [["columns", names.map(quoteName).join(",")], ...others, ["format", "csv"]] };
}

/**
 * The rows with NaN and infinities in place of the nulls that are none; `null` where the CSV does not have the same
 * rows, as when they have changed meanwhile. Its columns are floats, whose texts need no quotes.
 */
export function withSpecialNumbers(data: Rows, names: string[], csv: string): Value[][] | null {
  // The head may have line ends in its names.
  const head = 1 + (names.join().match(/\n/g)?.length ?? 0);
  const lines = csv.split("\n").slice(head, -1).map((line) => line.split(","));
  return filledRows(data.rows, names.map((name) => data.columns.indexOf(name)), lines);
}

/**
 * Reads the rows of a request once more, where there are nulls of floats, for the NaN and infinities among them; `null`
 * where the rows stay as JSON has them.
 */
export async function readSpecialNumbers(data: Rows, columns: Column[], request: ApiRequest, signal?: AbortSignal): Promise<Value[][] | null> {
  const names = doubtfulColumns(columns, data);
  if (names.length === 0) return null;
  return withSpecialNumbers(data, names, await textOf(await send(csvRequest(request, names), signal)));
}

/** Rows with NaN and infinities among them, once these are known: they are asked for where there are nulls of floats. */
export function useSpecialNumbers<T extends Rows>(data: T | null, columns: Column[], request: ApiRequest): T | null {
  const [known, setKnown] = useState<{ of: T; rows: Value[][] } | null>(null);
  useEffect(() => {
    if (!data) return;
    const controller = new AbortController();
    readSpecialNumbers(data, columns, request, controller.signal)
      .then((rows) => {
        if (rows && !controller.signal.aborted) setKnown({ of: data, rows });
      })
      // Then they stay as JSON has them.
      .catch(() => undefined);
    return () => controller.abort();
  }, [data]);
  return data && known?.of === data ? { ...data, rows: known.rows } : data;
}
