import { bucketsBetween, growth, type Measurement, quantile } from "./exposition";
import { formatCount, formatRate, formatSeconds } from "./figures";

interface Route {
  route: string;
  method: string;
  requests: number;
  perSecond: number | undefined;
  clientErrors: number;
  serverErrors: number;
  p50: number | undefined;
  p99: number | undefined;
  seconds: number;
}

function routesOf(metrics: Measurement, earlier: Measurement | null): Route[] {
  const routes = new Map<string, Route>();
  for (const { labels, value } of metrics.samples("salver_http_requests_total")) {
    const { route = "", method = "", status = "" } = labels;
    const key = `${method} ${route}`;
    let known = routes.get(key);
    if (!known) {
      const same = { route, method };
      const buckets = bucketsBetween(undefined, metrics, "salver_http_request_duration_seconds", same);
      const grown = earlier ? growth(earlier.sum("salver_http_requests_total", same), metrics.sum("salver_http_requests_total", same)) : 0;
      known = {
        ...same,
        requests: 0,
        perSecond: earlier ? (grown * 1000) / (metrics.at - earlier.at) : undefined,
        clientErrors: 0,
        serverErrors: 0,
        p50: quantile(0.5, buckets),
        p99: quantile(0.99, buckets),
        seconds: metrics.sum("salver_http_request_duration_seconds_sum", same) ?? 0,
      };
      routes.set(key, known);
    }
    known.requests += value;
    if (status.startsWith("4")) known.clientErrors += value;
    if (status.startsWith("5")) known.serverErrors += value;
  }
  return [...routes.values()].sort((a, b) => b.requests - a.requests);
}

/** Requests by route since the start, with their latency; the rate is that of the last minute. */
export function RoutesTable({ metrics, earlier }: { metrics: Measurement; earlier: Measurement | null }) {
  const routes = routesOf(metrics, earlier);
  const most = Math.max(...routes.map(({ requests }) => requests), 1);
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Routes">
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">Route</th>
            <th scope="col" class="numeric">
              Requests
            </th>
            <th scope="col" class="numeric">
              /s, last minute
            </th>
            <th scope="col" class="numeric">
              Half within
            </th>
            <th scope="col" class="numeric">
              99 % within
            </th>
            <th scope="col" class="numeric">
              4xx
            </th>
            <th scope="col" class="numeric">
              5xx
            </th>
            <th scope="col" class="numeric">
              Time in all
            </th>
          </tr>
        </thead>
        <tbody>
          {routes.map((route) => (
            <tr key={`${route.method} ${route.route}`}>
              <th scope="row">
                <span class="method">{route.method}</span> <bdi>{route.route}</bdi>
              </th>
              <td class="numeric bar" style={{ "--share": route.requests / most }}>
                {formatCount(route.requests)}
              </td>
              <td class="numeric">{formatRate(route.perSecond)}</td>
              <td class="numeric">{formatSeconds(route.p50)}</td>
              <td class="numeric">{formatSeconds(route.p99)}</td>
              <td class="numeric">{route.clientErrors ? formatCount(route.clientErrors) : "–"}</td>
              <td class={`numeric${route.serverErrors ? " is-bad" : ""}`}>{route.serverErrors ? formatCount(route.serverErrors) : "–"}</td>
              <td class="numeric">{formatSeconds(route.seconds)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
