import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Bin } from "../chart/bins";
import { specialText } from "../chart/left_out";
import { shortNumber, shortTime } from "../chart/number_format";
import { isTemporal, kindOf, typeLabel } from "../column_type";
import type { Column, Entry } from "../catalog";
import type { Value } from "../data_json";
import { ErrorNote } from "../error_note";
import { CellContent } from "../grid/cell";
import { RequestPanel } from "../request_panel";
import { rightLacking, withRights } from "../sql/rights";
import { type Loaded, useLoaded } from "../use_loaded";
import { equalFilter } from "./filters";
import { EXACT_ROWS, type Profile, fetchProfile, fetchSmallHistogram, fetchTop, hasHistogram, profileRequest, topIsPartial, topRequest } from "./profile_queries";
import { type ViewState, setFilters } from "./view_state";

/** How many columns are not waited for until they come into sight. */
const FIRST = 8;

/** What the columns are and what is in them, drawn column by column as they come into sight. */
export function ProfileTab({ entry, state, keyColumns }: { entry: Entry; state: ViewState; keyColumns: string[] }) {
  const columns = state.chosen ? state.columns : entry.columns;
  const first = columns[0];
  const request = first ? profileRequest(entry, state, [first]) : null;
  // Who may not ask one column in SQL may ask none: that is said once.
  const [lacking, setLacking] = useState<unknown>(null);
  if (lacking !== null) return <ErrorNote error={lacking} />;
  if (!request) return <p class="note">These conditions have no counterpart in SQL, which profiles are computed with.</p>;
  return (
    <>
      <div class="table-scroll" tabIndex={0} role="region" aria-label={`Columns of ${entry.name}`}>
        <table class="plain-table profile">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Filled</th>
              <th scope="col" class="numeric">
                Distinct
              </th>
              <th scope="col">Range</th>
              <th scope="col">Distribution, most frequent</th>
            </tr>
          </thead>
          <tbody>
            {columns.map((column, index) => (
              <ProfileRow key={column.name} entry={entry} state={state} column={column} isKey={keyColumns.includes(column.name)} isFirst={index < FIRST} onLacking={setLacking} />
            ))}
          </tbody>
        </table>
      </div>
      <RequestPanel request={request} />
    </>
  );
}

interface RowProps {
  entry: Entry;
  state: ViewState;
  column: Column;
  isKey: boolean;
  /** Whether it is among those that are in sight at once. */
  isFirst: boolean;
  /** Told of an error that all columns have: the caller lacks the right to ask in SQL. */
  onLacking: (error: unknown) => void;
}

function ProfileRow({ entry, state, column, isKey, isFirst, onLacking }: RowProps) {
  const row = useRef<HTMLTableRowElement>(null);
  const inSight = useInSight(row) || isFirst;
  const request = profileRequest(entry, state, [column]);
  const profile = useLoaded(inSight && request ? JSON.stringify(request) : null, (signal) => fetchProfile(entry, state, column, signal));
  useLayoutEffect(() => {
    const lacking = rightLacking(profile.error);
    if (lacking !== null) onLacking(lacking);
  }, [profile.error]);
  return (
    <tr ref={row}>
      <th scope="row">
        <bdi class="profile-name">{column.name}</bdi>
        <small>
          {typeLabel(column.type)}
          {isKey && " · key"}
        </small>
      </th>
      <td>{profile.data && <Filled profile={profile.data} />}</td>
      <td class="numeric">
        {profile.data?.distinct != null && (
          <>
            {profile.data.estimated && "≈ "}
            {profile.data.distinct.toLocaleString("en")}
          </>
        )}
      </td>
      <td class="profile-range">{profile.data && <Range profile={profile.data} />}</td>
      <td>
        {profile.error !== null && <ErrorNote error={withRights(profile.error)} onRetry={profile.reload} />}
        {profile.data && profile.data.filled > 0 && <Distribution entry={entry} state={state} column={column} profile={profile} />}
      </td>
    </tr>
  );
}

function useInSight(row: { current: HTMLElement | null }): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!row.current) return;
    const observer = new IntersectionObserver((entries) => entries.some((one) => one.isIntersecting) && setSeen(true), { rootMargin: "200px" });
    observer.observe(row.current);
    return () => observer.disconnect();
  }, []);
  return seen;
}

function Filled({ profile }: { profile: Profile }) {
  const part = profile.rows ? profile.filled / profile.rows : 0;
  const missing = profile.rows - profile.filled;
  return (
    <div class="filled" title={`${missing.toLocaleString("en")} of ${profile.rows.toLocaleString("en")} are NULL`}>
      <span class="meter" aria-hidden="true">
        <span style={{ width: `${part * 100}%` }} />
      </span>
      <small>{missing === 0 ? "all" : `${missing.toLocaleString("en")} NULL`}</small>
    </div>
  );
}

function Range({ profile }: { profile: Profile }) {
  if (profile.least === null && profile.most === null) return null;
  return (
    <dl class="range">
      <dt>min</dt>
      <dd>
        <CellContent value={profile.least} />
      </dd>
      <dt>max</dt>
      <dd>
        <CellContent value={profile.most} />
      </dd>
      {profile.mean !== null && (
        <>
          <dt>mean</dt>
          <dd>{shortNumber(Number(profile.mean))}</dd>
        </>
      )}
    </dl>
  );
}

function Distribution({ entry, state, column, profile }: { entry: Entry; state: ViewState; column: Column; profile: Loaded<Profile> }) {
  const drawn = hasHistogram(column) && (profile.data?.distinct ?? 99) > 8;
  const kind = kindOf(column.type);
  const counted = !drawn && !["nested", "other"].includes(kind) && profile.data?.distinct !== profile.data?.filled;
  const known = profile.data ?? undefined;
  const top = counted ? topRequest(entry, state, column, known) : null;
  const histogram = useLoaded(drawn && known ? JSON.stringify([known, state.filters]) : null, (signal) => (known ? fetchSmallHistogram(entry, state, column, known, signal) : Promise.resolve(null)));
  const values = useLoaded(top && JSON.stringify(top), async (signal) => (top ? fetchTop(top, signal) : []));
  if (histogram.error || values.error) return <ErrorNote error={withRights(histogram.error ?? values.error)} onRetry={histogram.error ? histogram.reload : values.reload} />;
  if (histogram.data?.bins.length) {
    const { bins, special } = histogram.data;
    return (
      <>
        <SmallHistogram bins={bins} temporal={isTemporal(kind)} name={column.name} />
        {special > 0 && <small>without {specialText(special)}</small>}
      </>
    );
  }
  if (values.data?.length) {
    const isPartial = topIsPartial(column, known);
    return (
      <>
        <TopValues rows={values.data} of={isPartial ? EXACT_ROWS : (known?.rows ?? 1)} onChoose={(value) => setFilters(state.filters, [...state.filters, equalFilter(column, value)])} />
        {isPartial && <small>among the first {EXACT_ROWS.toLocaleString("en")} rows</small>}
      </>
    );
  }
  if (!drawn && profile.data?.distinct === profile.data?.filled && profile.data?.distinct !== null) return <small>Every value is different.</small>;
  return null;
}

function SmallHistogram({ bins, temporal, name }: { bins: Bin[]; temporal: boolean; name: string }) {
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const from = bins[0]?.from ?? 0;
  const to = bins[bins.length - 1]?.to ?? 0;
  const text = (value: number) => (temporal ? shortTime(value, to - from) : shortNumber(value));
  return (
    <div class="small-histogram" role="img" aria-label={`Distribution of ${name} from ${text(from)} to ${text(to)}`}>
      {bins.map((bin) => (
        <span key={bin.from} title={`${text(bin.from)} to ${text(bin.to)}: ${bin.count.toLocaleString("en")}`}>
          <i style={{ height: `${bin.count === 0 ? 0 : Math.max(4, (bin.count / most) * 100)}%` }} />
        </span>
      ))}
    </div>
  );
}

function TopValues({ rows, of, onChoose }: { rows: Value[][]; of: number; onChoose: (value: Value) => void }) {
  return (
    <ul class="top-values">
      {rows.map(([value = null, count]) => (
        <li key={String(value)}>
          <button type="button" class="facet-value" title="Show the rows with this value" onClick={() => onChoose(value)}>
            <span class="facet-bar" style={{ width: `${(Number(count) / of) * 100}%` }} />
            <span class="facet-label">
              <CellContent value={value} />
            </span>
            <span class="facet-count">{Number(count).toLocaleString("en")}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
