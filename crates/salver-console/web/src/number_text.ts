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
  while (unit < UNITS.length - 1 && Math.round(count / size) >= 1000) {
    unit += 1;
    size *= 1000;
  }
  const short = unit > 0 && count < 10 * size ? Math.round(count / (size / 10)) / 10 : Math.round(count / size);
  return `${short}${UNITS[unit]}`;
}
