import { Fault, StateBadge } from "./entries_table";
import type { Measurement } from "./exposition";
import { formatCount } from "./figures";
import type { EntryState } from "./observation";

/** Files of functions with their processes. */
export function FunctionsTable({ files, metrics }: { files: Record<string, EntryState>; metrics: Measurement | null }) {
  const names = Object.keys(files).sort();
  if (!names.length) return null;
  const figure = (name: string, labels: Record<string, string>) => formatCount(metrics?.sum(name, labels));
  return (
    <>
      <h2>Files of functions</h2>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Files of functions">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col">State</th>
              <th scope="col" class="numeric">
                Busy
              </th>
              <th scope="col" class="numeric">
                Idle
              </th>
              <th scope="col" class="numeric">
                Waiting calls
              </th>
              <th scope="col" class="numeric">
                Processes lost
              </th>
              <th scope="col" class="numeric">
                Loads
              </th>
            </tr>
          </thead>
          <tbody>
            {names.map((file) => {
              const entry = files[file];
              return (
                entry && (
                  <tr key={file}>
                    <th scope="row">
                      <bdi>{file}</bdi>
                      <Fault entry={entry} />
                    </th>
                    <td>
                      <StateBadge entry={entry} />
                    </td>
                    <td class="numeric">{figure("salver_function_workers", { file, state: "busy" })}</td>
                    <td class="numeric">{figure("salver_function_workers", { file, state: "idle" })}</td>
                    <td class="numeric">{figure("salver_function_waiting_calls", { file })}</td>
                    <td class="numeric">{figure("salver_function_workers_lost_total", { file })}</td>
                    <td class="numeric">{figure("salver_function_loads_total", { file })}</td>
                  </tr>
                )
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
