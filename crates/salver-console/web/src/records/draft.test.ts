import { expect, test } from "vitest";
import { ExactNumber, writeData } from "../data_json";
import { base64OfHex, hexOfBase64, isHex } from "./bytes_text";
import { draftFault, draftValue, draftWarning, isChanged, likeBefore } from "./draft";

test("bytes are typed as they are shown, and sent as base64", () => {
  expect(draftValue("deadbeef", "00", "binary")).toBe("3q2+7w==");
  expect(draftValue("DEADBEEF", "00", "binary")).toBe("3q2+7w==");
  expect(draftValue("", "00", "binary")).toBe("");
  expect(isChanged("DEADBEEF", "deadbeef", "binary")).toBe(false);
  for (const hex of ["", "00", "00ff", "ffffff", "41"]) expect(hexOfBase64(base64OfHex(hex))).toBe(hex);
});

test("what is no hexadecimal of whole bytes is refused", () => {
  for (const typed of ["f", "0x00", "QQ==", "zz", "00 ff", "é0"]) {
    expect(isHex(typed)).toBe(false);
    expect(draftFault(typed, "binary")).toMatch(/hexadecimal/);
  }
  expect(draftFault("00ff", "binary")).toBeNull();
  expect(draftFault(null, "binary")).toBeNull();
  expect(draftFault("zz", "text")).toBeNull();
  expect(hexOfBase64("no base64")).toBeNull();
});

test("a text keeps its line ends", () => {
  expect(draftValue("a\nb\nc", "a\r\nb", "text")).toBe("a\r\nb\r\nc");
  expect(draftValue("a\nb\nc", "a\rb", "text")).toBe("a\rb\rc");
  expect(draftValue("a\nb\nc", "a\nb", "text")).toBe("a\nb\nc");
  expect(draftValue("a\nb", "", "text")).toBe("a\nb");
  expect(draftValue("a\nb", null, "text")).toBe("a\nb");
});

test("line ends alone are no change", () => {
  expect(isChanged("a\nb\n", "a\r\nb\r\n", "text")).toBe(false);
  expect(isChanged("a\nb", "a\r\nb\r\n", "text")).toBe(true);
  expect(isChanged("a\nb\nc", "a\r\nb\nc", "text")).toBe(false);
  expect(isChanged(undefined, "a", "text")).toBe(false);
  expect(isChanged("", null, "text")).toBe(true);
  expect(isChanged(null, null, "text")).toBe(false);
});

test("mixed line ends become plain ones, and that is said", () => {
  expect(draftValue("a\nb\nc!", "a\r\nb\nc", "text")).toBe("a\nb\nc!");
  expect(draftWarning("a\nb\nc!", "a\r\nb\nc", "text")).toMatch(/LF/);
  expect(draftWarning("a\nb\nc", "a\r\nb\nc", "text")).toBeNull();
  expect(draftWarning("a\nb!", "a\r\nb", "text")).toBeNull();
});

test("numbers keep their digits", () => {
  expect(writeData(draftValue("9007199254740993", "1", "integer"))).toBe("9007199254740993");
  expect(draftValue("NaN", "1", "number")).toBe("NaN");
  expect(draftValue("true", null, "boolean")).toBe(true);
});

test("what was a number stays one where it can", () => {
  const written = (typed: string, before: Parameters<typeof likeBefore>[1]) => writeData(likeBefore(typed, before));
  expect(written("13", 12)).toBe("13");
  expect(written(" 9007199254740993 ", new ExactNumber("1.0"))).toBe("9007199254740993");
  expect(written("007", 12)).toBe('"007"');
  expect(written("twelve", 12)).toBe('"twelve"');
  expect(written("13", "12")).toBe('"13"');
  expect(written("13", null)).toBe('"13"');
});
