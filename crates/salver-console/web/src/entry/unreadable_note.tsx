import type { ApiError } from "../api";

/** Says why rows are shown as their database has them. */
export function UnreadableNote({ error }: { error: ApiError }) {
  return (
    <div class="note warn" role="status">
      <p class="note-title">A value here is none of its column's type, so this is shown as the database has it</p>
      <p>
        <bdi>{error.message}</bdi>
      </p>
      <p>It can be changed here. Until then charts, SQL and downloads of these rows fail.</p>
    </div>
  );
}
