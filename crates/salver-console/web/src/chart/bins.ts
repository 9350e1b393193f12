/** One bar of a histogram. */
export interface Bin {
  from: number;
  to: number;
  count: number;
}

/** The place between two numbers that is this part of the way, also where their distance is beyond all numbers. */
export function between(from: number, to: number, part: number): number {
  return from * (1 - part) + to * part;
}

/** Bars of equal width between two bounds, from the numbers in them. */
export function binsBetween(from: number, to: number, counts: number[]): Bin[] {
  const edge = (index: number) => between(from, to, index / counts.length);
  return counts.map((count, index) => ({ from: edge(index), to: edge(index + 1), count }));
}

/** Numbers in bars of equal width. */
export function binsOf(values: number[]): Bin[] {
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!(least < most)) return values.length ? [{ from: least, to: least, count: values.length }] : [];
  const number = Math.min(40, Math.max(5, Math.ceil(Math.sqrt(values.length))));
  const counts = Array.from({ length: number }, () => 0);
  // Divided first where the distance of the largest numbers is beyond all numbers.
  const scale = Number.isFinite(most - least) ? 1 : 4;
  const width = most / scale - least / scale;
  for (const value of values) {
    const part = (value / scale - least / scale) / width;
    const bin = Math.min(number - 1, Math.floor(part * number));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return binsBetween(least, most, counts);
}
