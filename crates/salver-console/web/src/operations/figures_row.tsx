import { Sparkline } from "../sparkline";
import { formatAge, formatBytes, formatCount, formatRate, formatSeconds } from "./figures";
import { PERIOD_MS, POINTS, type Observation, type Point } from "./observation";

interface Figure {
  name: string;
  value: string;
  note: string;
  values?: (number | undefined)[];
}

/** The figures of the whole server, with their last minutes. */
export function Figures({ observation }: { observation: Observation }) {
  const figures = figuresOf(observation);
  return (
    <dl class="figures">
      {figures.map(({ name, value, note, values }) => (
        <div key={name} class="figure">
          <dt>{name}</dt>
          <dd>
            <span class="figure-value">{value}</span>
            <span class="figure-note">{note}</span>
            {values && <Sparkline values={values} label={`${name} over the last ${(POINTS * PERIOD_MS) / 60_000} minutes`} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function figuresOf({ metrics, points }: Observation): Figure[] {
  if (!metrics) return [];
  const last = points.at(-1);
  // Empty places in front keep the time axis of a line that has just begun.
  const line = (pick: (point: Point) => number | undefined) => [
    ...Array.from({ length: POINTS - points.length }, () => undefined),
    ...points.map(pick),
  ];
  const started = metrics.sum("process_start_time_seconds");
  const requests = metrics.sum("salver_http_requests_total");
  const errors = metrics.samples("salver_http_requests_total").reduce((sum, sample) => sum + (sample.labels["status"]?.startsWith("5") ? sample.value : 0), 0);
  const hits = metrics.sum("salver_cache_hits_total");
  const latest = (pick: (point: Point) => number | undefined) => points.map(pick).findLast((value) => value !== undefined);
  const version = metrics.samples("salver_build_info")[0]?.labels["version"];
  return [
    {
      name: "Requests",
      value: `${formatRate(last?.requests)} /s`,
      note: `${formatCount(requests)} in all, ${formatCount(errors)} failed`,
      values: line((point) => point.requests),
    },
    {
      name: "Latency, 99 %",
      value: formatSeconds(latest((point) => point.p99)),
      note: `half within ${formatSeconds(latest((point) => point.p50))}`,
      values: line((point) => point.p99),
    },
    {
      name: "Memory",
      value: formatBytes(last?.memory),
      note: `${formatCount(metrics.sum("process_open_fds"))} open files`,
      values: line((point) => point.memory),
    },
    {
      name: "Processor",
      value: last?.cpu === undefined ? "–" : `${(last.cpu * 100).toFixed(0)} %`,
      note: "of one core",
      values: line((point) => point.cpu),
    },
    { name: "Cache", value: formatCount(hits), note: requests ? `hits, ${(((hits ?? 0) / requests) * 100).toFixed(0)} % of requests` : "hits" },
    {
      name: "Up for",
      value: started === undefined ? "–" : formatAge(metrics.at / 1000 - started),
      note: version ? `version ${version}` : "",
    },
  ];
}
