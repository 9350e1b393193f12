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
  // Intl would make a million of a little less.
  const isOfNext = (count: number) => count < 999.5e12 && String(count).length % 3 === 0 && compact.format(count).length === 2;
  const compared = counts.filter((count) => !isOfNext(count));
  expect(compared.length).toBeGreaterThan(counts.length / 2);
  expect(compared.map(compactNumber)).toEqual(compared.map((count) => compact.format(count)));
});

test("a count is not rounded into the next unit", () => {
  expect([999, 999_499, 999_500, 999_999, 1_000_000, 999_999_999].map(compactNumber)).toEqual(["999", "999K", "999K", "999K", "1M", "999M"]);
});
