import { groupedNumber } from "../number_text";
import { place } from "../router";
import { type ViewState, lastPage } from "./view_state";

/** What stands where a page has no rows: there are none, or not so many that there is such a page. */
export function NoRows({ state, total }: { state: ViewState; total: number | null }) {
  if (state.page === 1 || total === 0) return <>{state.filters.length || state.groups.length ? "No row fits these conditions." : "No rows yet."}</>;
  const last = total === null ? 1 : lastPage(total, state.limit);
  return (
    <>
      There is no page {groupedNumber(state.page)}.{" "}
      <a href={pageLink(last)}>{total === null ? "The first page" : last === 1 ? "The only page" : `The last page, ${groupedNumber(last)}`}</a>
    </>
  );
}

/** The address of another page of the same view. */
function pageLink(page: number): string {
  const query = new URLSearchParams(place.value.query);
  if (page === 1) query.delete("page");
  else query.set("page", String(page));
  const text = query.toString();
  return location.pathname + (text && `?${text}`);
}
