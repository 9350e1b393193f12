import { expect, test } from "vitest";
import { compactNumber, groupedNumber } from "./number_text";

/** Numbers of every length, and those at which the text changes its form. */
const NUMBERS = [0, 7, 50, 999];
for (let size = 1000; size <= 1e15; size *= 10) NUMBERS.push(size - 1, size, size + 1, size * 0.9995 - 1, size * 0.9995, size * 1.25, size * 1.45, size * 1.45 - 1, size * 9.95, size * 9.4999);

test("numbers read as those of Intl do", () => {
  const grouped = new Intl.NumberFormat("en");
  const compact = new Intl.NumberFormat("en", { notation: "compact" });
  const whole = NUMBERS.map(Math.round);
  expect(whole.map(groupedNumber)).toEqual(whole.map((number) => grouped.format(number)));
  const counts = whole.filter((count) => count < 1e15);
  expect(counts.map(compactNumber)).toEqual(counts.map((count) => compact.format(count)));
});
