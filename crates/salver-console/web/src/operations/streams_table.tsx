import { pageUrl } from "../router";
import { growth, type Measurement } from "./exposition";
import { formatCount, formatRate } from "./figures";

/** Streams with their rate, and how far their consumer groups are behind. */
export function StreamsTable({ metrics, earlier }: { metrics: Measurement; earlier: Measurement | null }) {
  const streams = metrics.samples("salver_stream_up").map(({ labels, value }) => ({ name: labels["stream"] ?? "", up: value === 1 }));
  if (!streams.length) return null;
  return (
    <>
      <h2>Streams</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Streams">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Stream</th>
              <th scope="col">State</th>
              <th scope="col" class="numeric">
                Events
              </th>
              <th scope="col" class="numeric">
                Events /s
              </th>
              <th scope="col" class="numeric">
                Waiting for Kafka
              </th>
              <th scope="col">Groups and their lag</th>
            </tr>
          </thead>
          <tbody>
            {streams.map(({ name, up }) => {
              const labels = { stream: name };
              const next = metrics.sum("salver_stream_next_offset", labels);
              const first = metrics.sum("salver_stream_first_offset", labels);
              const grown = earlier ? growth(earlier.sum("salver_stream_next_offset", labels), next) : undefined;
              const groups = metrics.samples("salver_stream_group_lag_events").filter((sample) => sample.labels["stream"] === name);
              return (
                <tr key={name}>
                  <th scope="row">
                    <a href={pageUrl("stream", name)}>
                      <bdi>{name}</bdi>
                    </a>
                  </th>
                  <td>{up ? <span class="badge good">open</span> : <span class="badge bad">not open</span>}</td>
                  <td class="numeric">{next === undefined ? "–" : formatCount(next - (first ?? 0))}</td>
                  <td class="numeric">{grown === undefined || !earlier ? "–" : formatRate((grown * 1000) / (metrics.at - earlier.at))}</td>
                  <td class="numeric">{formatCount(metrics.sum("salver_stream_backlog_events", labels))}</td>
                  <td class="wide">{groups.map(({ labels: { group }, value }) => `${group}: ${formatCount(value)}`).join(", ") || "–"}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
