/** A figure in bytes, in the unit that fits: `12.4 MB`. */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return "–";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value >= 100 || unit === 0 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`;
}

/** A time that something took, given in seconds: `0.3 ms`, `1.2 s`. */
export function formatSeconds(seconds: number | undefined): string {
  if (seconds === undefined) return "–";
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
}

/** How long something has been: `3 d 4 h`, `12 min`. */
export function formatAge(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

const WHOLE = new Intl.NumberFormat("en");

/** A count with its thousands apart. */
export function formatCount(count: number | null | undefined): string {
  return count === null || count === undefined ? "–" : WHOLE.format(count);
}

/** A number of things a second. */
export function formatRate(rate: number | undefined): string {
  if (rate === undefined) return "–";
  return rate >= 100 ? WHOLE.format(Math.round(rate)) : rate.toFixed(rate >= 10 ? 1 : 2);
}
