// Without `Intl`: its first format takes a browser about as long as the drawing of a page of rows, beside which these
// numbers stand.

const UNITS = ["", "K", "M", "B", "T"];

/** A whole number as it is read: 1,234,567. */
export function groupedNumber(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A count in short, with two digits where one alone would say little: 999, 1.2K, 35M. */
export function compactNumber(count: number): string {
  let unit = 0;
  let size = 1;
  while (unit < UNITS.length - 1 && count >= 1000 * size) {
    unit += 1;
    size *= 1000;
  }
  // What is a little less than a million is no million: a text never claims more than the unit has.
  const short = unit > 0 && count < 10 * size ? Math.round(count / (size / 10)) / 10 : Math.min(Math.round(count / size), unit < UNITS.length - 1 ? 999 : Infinity);
  return `${short}${UNITS[unit]}`;
}
