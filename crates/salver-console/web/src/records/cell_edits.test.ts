import { expect, test, vi } from "vitest";
import type { CellEdit } from "./cell_edits";
import type { RecordEdit } from "./record_edit";

vi.stubGlobal("document", { baseURI: "http://server/" });
vi.stubGlobal("location", new URL("http://server/"));
const { cellOf, failed, isKept, withNow } = await import("./cell_edits");
const { EditConflict } = await import("./record_edit");

const EDIT: CellEdit = { id: 1, key: ["7"], column: "name", type: "Utf8", record: null as unknown as RecordEdit, shown: "old", draft: "old", error: null, busy: false };

test("an editor shows what the row is now, and keeps what was typed", () => {
  expect(withNow(EDIT, new Map([["name", "old"]]))).toBe(EDIT);
  expect(withNow(EDIT, new Map([["name", "new"]]))).toMatchObject({ shown: "new", before: "old", draft: "new" });
  expect(withNow({ ...EDIT, draft: "mine" }, new Map([["name", "new"]]))).toMatchObject({ shown: "new", before: "old", draft: "mine" });
  expect(withNow(EDIT, new Map([["name", null]]))).toMatchObject({ shown: null, draft: null });
});

test("a conflict tells the value that is written over by another try", () => {
  const conflict = new EditConflict(new Map([["name", "new"]]), ["name"]);
  expect(failed({ ...EDIT, draft: "mine", busy: true }, conflict)).toMatchObject({ shown: "new", draft: "mine", busy: false, error: conflict });
});

test("an edit is where its row is", () => {
  const columns = [{ name: "id" }, { name: "name" }];
  const keys = [["5"], null, ["7"]];
  expect(cellOf(EDIT, columns, 3, (index) => keys[index] ?? null)).toEqual({ row: 2, column: 1 });
  expect(cellOf(EDIT, columns, 2, (index) => keys[index] ?? null)).toBe(null);
  expect(cellOf({ ...EDIT, column: "gone" }, columns, 3, (index) => keys[index] ?? null)).toBe(null);
});

test("only what is as it was may be closed", () => {
  expect(isKept(EDIT)).toBe(false);
  for (const kept of [{ draft: "mine" }, { draft: null }, { busy: true }, { error: new Error("no") }]) expect(isKept({ ...EDIT, ...kept })).toBe(true);
});

test("line ends that an input changed, and digits of bytes in capitals, are nothing that was typed", () => {
  expect(isKept({ ...EDIT, shown: "a\r\nb", draft: "a\nb" })).toBe(false);
  expect(isKept({ ...EDIT, type: "Binary", shown: "00ff", draft: "00FF" })).toBe(false);
  expect(isKept({ ...EDIT, shown: "00ff", draft: "00FF" })).toBe(true);
});
