/** One sample of Prometheus' text format: `name{label="value"} number`. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (_, sign: string) => (sign === "n" ? "\n" : sign));
}

function parseNumber(text: string): number {
  if (text === "+Inf") return Infinity;
  if (text === "-Inf") return -Infinity;
  return Number(text);
}

/** What was measured at one moment, by the name of the metric. */
export class Measurement {
  private readonly byName = new Map<string, Sample[]>();

  constructor(
    text: string,
    /** When it was measured, in milliseconds since 1970. */
    readonly at: number,
  ) {
    for (const line of text.split("\n")) {
      if (line.startsWith("#")) continue;
      const match = LINE.exec(line);
      if (!match) continue;
      const labels: Record<string, string> = {};
      for (const [, key = "", value = ""] of (match[2] ?? "").matchAll(LABEL)) labels[key] = unescape(value);
      const name = match[1] ?? "";
      const sample = { name, labels, value: parseNumber(match[3] ?? "") };
      const samples = this.byName.get(name);
      if (samples) samples.push(sample);
      else this.byName.set(name, [sample]);
    }
  }

  /** Every sample of a metric; none if it is not measured. */
  samples(name: string): Sample[] {
    return this.byName.get(name) ?? [];
  }

  /** The sum of a metric over its samples with these labels, or undefined if there is none. */
  sum(name: string, labels: Record<string, string> = {}): number | undefined {
    const found = this.samples(name).filter((sample) => matches(sample, labels));
    return found.length ? found.reduce((sum, sample) => sum + sample.value, 0) : undefined;
  }
}

function matches(sample: Sample, labels: Record<string, string>): boolean {
  return Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
}

/** How much a counter grew from one measurement to the next; a counter that shrank was restarted and counts from 0. */
export function growth(before: number | undefined, after: number | undefined): number {
  if (after === undefined) return 0;
  const from = before ?? 0;
  return after < from ? after : after - from;
}

/** The upper bounds of a histogram, ascending, with how many observations fell under each between two measurements. */
export interface Buckets {
  bounds: number[];
  counts: number[];
}

/** What a histogram observed between two measurements (since the start, without a first one), over all of its series. */
export function bucketsBetween(
  before: Measurement | undefined,
  after: Measurement,
  name: string,
  labels: Record<string, string> = {},
): Buckets {
  const earlier = new Map<string, number>();
  for (const sample of before?.samples(`${name}_bucket`) ?? []) earlier.set(JSON.stringify(sample.labels), sample.value);
  const counts = new Map<number, number>();
  for (const sample of after.samples(`${name}_bucket`)) {
    if (!matches(sample, labels)) continue;
    const bound = parseNumber(sample.labels["le"] ?? "+Inf");
    const grown = growth(earlier.get(JSON.stringify(sample.labels)), sample.value);
    counts.set(bound, (counts.get(bound) ?? 0) + grown);
  }
  const bounds = [...counts.keys()].sort((a, b) => a - b);
  return { bounds, counts: bounds.map((bound) => counts.get(bound) ?? 0) };
}

/** The quantile `q` of a histogram, interpolated within its bucket as Prometheus does; undefined without observations. */
export function quantile(q: number, { bounds, counts }: Buckets): number | undefined {
  const total = counts.at(-1) ?? 0;
  if (total === 0) return undefined;
  const rank = q * total;
  const index = counts.findIndex((count) => count >= rank);
  const below = index > 0 ? (bounds[index - 1] ?? 0) : 0;
  const bound = bounds[index] ?? Infinity;
  // The last bucket has no end: its lower bound is the most that is known.
  if (bound === Infinity) return below;
  const inBucket = (counts[index] ?? 0) - (index > 0 ? (counts[index - 1] ?? 0) : 0);
  if (inBucket === 0) return bound;
  return below + ((rank - (index > 0 ? (counts[index - 1] ?? 0) : 0)) / inBucket) * (bound - below);
}
