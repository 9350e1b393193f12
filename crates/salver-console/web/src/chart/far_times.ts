const DAY = 86_400;
const YEAR = 365 * DAY;
const STEPS = [1, 2, 5];
const LARGEST_YEARS = 1_000_000;

/** Whether times lie where the plot's own marks, which count from 1900 and by a century at most, are none or wrong. */
export function areFar(first: number, last: number): boolean {
  return last - first > 300 * YEAR || first < -870 * YEAR || last > 8000 * YEAR;
}

/** The distances that marks of far times may have, in seconds. */
export const FAR_STEPS: number[] = [
  ...[1, 5, 15, 30, 60, 300, 900, 1800],
  ...[1, 3, 6, 12].map((hours) => hours * 3600),
  ...[1, 2, 5, 10, 20, 50, 100].map((days) => days * DAY),
  ...powers(LARGEST_YEARS).map((years) => years * YEAR),
];

function powers(most: number): number[] {
  const all: number[] = [];
  for (let power = 1; power <= most; power *= 10) all.push(...STEPS.map((step) => step * power));
  return all;
}

/** The marks between two times: at the beginnings of years, or of what a step is of a day. */
export function farMarks(from: number, to: number, step: number): number[] {
  const marks: number[] = [];
  if (step < YEAR) {
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) marks.push(at);
    return marks;
  }
  const years = Math.round(step / YEAR);
  const first = Math.ceil(new Date(from * 1000).getUTCFullYear() / years) * years;
  for (let year = first; ; year += years) {
    const at = beginningOf(year);
    // Beyond the last year there is no time.
    if (!(at <= to)) return marks;
    if (at >= from) marks.push(at);
  }
}

function beginningOf(year: number): number {
  const date = new Date(0);
  // Not by the constructor, which takes the years up to 99 for those of the last century.
  date.setUTCFullYear(year, 0, 1);
  return date.getTime() / 1000;
}
