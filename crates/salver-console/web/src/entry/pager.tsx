import { setQuery } from "../router";
import { Icon } from "../icon";
import { groupedNumber } from "../number_text";
import { PAGE_SIZES, lastPage } from "./view_state";

interface Props {
  page: number;
  limit: number;
  shown: number;
  /** How many rows there are, `null` until it is known. */
  total: number | null;
  /** Why they could not be counted. */
  error: unknown;
  /** Counts again. */
  onCount: () => void;
}

/** Where in the rows the page is, and the way to the others. */
export function Pager({ page, limit, shown, total, error, onCount }: Props) {
  const first = (page - 1) * limit;
  const last = total === null ? null : lastPage(total, limit);
  const go = (to: number) => setQuery({ page: to <= 1 ? null : String(to) });
  return (
    <nav class="pager" aria-label="Pages">
      <span role="status">
        {shown > 0 && `${groupedNumber(first + 1)}–${groupedNumber(first + shown)}`}
        {total !== null && (shown > 0 ? ` of ${groupedNumber(total)}` : `${groupedNumber(total)} rows`)}
      </span>
      {error !== null && (
        <span class="pager-fault" role="alert" title={error instanceof Error ? error.message : String(error)}>
          They could not be counted.{" "}
          <button type="button" class="button small" onClick={onCount}>
            Count again
          </button>
        </span>
      )}
      <span class="spring" />
      <label class="inline-field">
        <span>Rows</span>
        <select value={limit} onChange={(event) => setQuery({ limit: event.currentTarget.value, page: null })}>
          {[...new Set([...PAGE_SIZES, limit])]
            .sort((a, b) => a - b)
            .map((size) => (
              <option key={size} value={size}>
                {size}
              </option>
            ))}
        </select>
      </label>
      <button type="button" class="button small icon-only" aria-label="Page before" disabled={page <= 1} onClick={() => go(last === null ? page - 1 : Math.min(page - 1, last))}>
        <Icon name="back" size={14} />
      </button>
      <label class="inline-field">
        <span>Page</span>
        <input
          class="page-number"
          inputMode="numeric"
          key={page}
          defaultValue={String(page)}
          onChange={(event) => {
            const to = Math.floor(Number(event.currentTarget.value));
            if (to >= 1) go(last === null ? to : Math.min(to, last));
          }}
        />
        <span class="pager-last">{last !== null && `of ${groupedNumber(last)}`}</span>
      </label>
      <button type="button" class="button small icon-only" aria-label="Next page" disabled={last === null ? shown < limit : page >= last} onClick={() => go(page + 1)}>
        <Icon name="next" size={14} />
      </button>
    </nav>
  );
}
