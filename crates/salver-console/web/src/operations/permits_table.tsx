import type { Measurement } from "./exposition";
import { formatCount } from "./figures";
import type { Held } from "./observation";

/** Shared resources: how much of each is taken and, where the caller may know it, by whom. */
export function PermitsTable({ held, metrics }: { held: Held[] | null; metrics: Measurement | null }) {
  const all = held ?? fromMetrics(metrics);
  const refusals = metrics?.samples("salver_limit_refusals_total").filter(({ value }) => value > 0) ?? [];
  const sorted = [...all].sort((a, b) => b.taken / b.total - a.taken / a.total);
  return (
    <>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Resources">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Resource</th>
              <th scope="col">Taken</th>
              <th scope="col" class="numeric">
                Of
              </th>
              <th scope="col">By</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map(({ kind, total, taken, holders }) => (
              <tr key={kind}>
                <th scope="row">{kind}</th>
                <td class="meter-cell">
                  <meter min={0} max={total || 1} high={total * 0.8} value={taken} aria-label={`${kind} taken`} /> {formatCount(taken)}
                </td>
                <td class="numeric">{formatCount(total)}</td>
                <td class="wide">
                  <bdi>{holders.map(({ holder, taken: count }) => `${holder} (${count})`).join(", ") || "–"}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {refusals.length > 0 && (
        <p>Refused by limits of callers: {refusals.map(({ labels, value }) => `${labels["limit"]} ${formatCount(value)}`).join(", ")}</p>
      )}
    </>
  );
}

function fromMetrics(metrics: Measurement | null): Held[] {
  return (metrics?.samples("salver_permits") ?? []).map(({ labels, value }) => {
    const kind = labels["kind"] ?? "";
    return { kind, total: value, taken: metrics?.sum("salver_permits_taken", { kind }) ?? 0, holders: [] };
  });
}
