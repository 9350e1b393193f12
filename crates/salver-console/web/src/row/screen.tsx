import "../entry/entry.css";
import "./row.css";
import { useState } from "preact/hooks";
import { kindOf, typeLabel } from "../column_type";
import { type Column, type Entry, catalog, catalogError, loadCatalog, recordsName } from "../catalog";
import { ExactNumber, type Value } from "../data_json";
import { type LoadedFacts, useFacts } from "../entry/facts";
import { FactsFault } from "../entry/facts_fault";
import { referringTables } from "../entry/metadata";
import { rowKeyOf, rowUrl } from "../entry/row_address";
import { fetchShownRow } from "../entry/as_stored";
import { readRow, rowRequest } from "../entry/row_request";
import { useSpecialNumbers } from "../entry/special_numbers";
import { UnreadableNote } from "../entry/unreadable_note";
import { ErrorNote, ErrorScreen } from "../error_note";
import { CellContent } from "../grid/cell";
import { JsonTree } from "../grid/json_tree";
import { valueText } from "../grid/value";
import { DeleteDialog } from "../records/delete_dialog";
import { Deletion } from "../records/deletion";
import { type Changes, changeCount } from "../records/record";
import { keyText } from "../records/record_request";
import { RecordDialog } from "../records/record_dialog";
import { EditConflict, RecordEdit, type Values } from "../records/record_edit";
import { RecordForm } from "../records/record_form";
import { UndoBar } from "../records/undo_bar";
import { RequestPanel } from "../request_panel";
import { navigate, pageUrl, place } from "../router";
import type { ScreenProps } from "../screens";
import { LogInHint } from "../session/log_in_hint";
import { useLoaded } from "../use_loaded";
import { Relations } from "./relations";

/** The screen of one row: every value in full, and the rows it belongs with. */
export default function RowScreen({ parts }: ScreenProps) {
  const name = parts[0] ?? "";
  const key = rowKeyOf(parts.slice(2), place.value.query);
  const all = catalog.value;
  const entry = all?.entries.get(name);
  const loaded = useFacts(all, entry);
  if (catalogError.value && !all) return <ErrorScreen error={catalogError.value} onRetry={() => void loadCatalog()} />;
  if (!all) return <p class="loading">Loading…</p>;
  if (!entry) {
    return (
      <section class="screen">
        <h1>
          There is no <bdi>{name}</bdi>
        </h1>
        <LogInHint />
      </section>
    );
  }
  if (!loaded.hasKey) return <p class="loading">Loading…</p>;
  const { key: keyColumns } = loaded.facts;
  if (keyColumns.length === 0 && loaded.error) return <ErrorScreen error={loaded.error} onRetry={loaded.reload} />;
  if (keyColumns.length !== key.length) return <ErrorScreen error={new Error(`A row of ${name} is named by ${keyColumns.join(", ") || "nothing: it has no key"}.`)} />;
  return <Row key={JSON.stringify(key)} entry={entry} loaded={loaded} rowKey={key} />;
}

interface RowProps {
  entry: Entry;
  loaded: LoadedFacts;
  rowKey: string[];
}

function Row({ entry, loaded, rowKey }: RowProps) {
  const { key: keyColumns, described, records } = loaded.facts;
  const table = records?.table;
  const request = rowRequest(entry, keyColumns, rowKey);
  const [edit, setEdit] = useState<{ record: RecordEdit; shown: Values } | null>(null);
  const [deletion, setDeletion] = useState<Deletion | null>(null);
  const [error, setError] = useState<unknown>(null);
  const name = records?.name ?? recordsName(entry, catalog.value?.tables ?? new Map());
  const row = useLoaded(`${JSON.stringify(request)}#${changeCount.value}`, (signal) => fetchShownRow(request, name === null ? null : { table: name, entry, keyColumns, key: rowKey }, signal));
  const unreadable = row.data?.unreadable ?? null;
  const special = useSpecialNumbers(unreadable ? null : row.data, entry.columns, request);
  const data = unreadable ? row.data : special;
  const value = (column: string): Value => data?.rows[0]?.[data.columns.indexOf(column)] ?? null;
  const found = (row.data?.rows.length ?? 0) > 0;
  const title = titleOf(entry, value, keyColumns);

  const record = records ? { table: records.name, entry, keyColumns, key: rowKey } : null;
  // The form begins with the row as it is now, to which the tag belongs that is sent with what is saved.
  const begin = async () => {
    if (!record) return;
    setError(null);
    try {
      const opened = new RecordEdit(record, () => readRow(entry, request));
      setEdit({ record: opened, shown: await opened.now() });
    } catch (failed) {
      setError(failed);
    }
  };
  const save = async (changes: Changes) => {
    if (!edit) return;
    try {
      await edit.record.save(changes, edit.shown);
      setEdit(null);
    } catch (failed) {
      if (failed instanceof EditConflict) setEdit({ ...edit, shown: failed.now });
      throw failed;
    }
  };
  const remove = () => {
    setError(null);
    if (record && table) setDeletion(new Deletion(record, referringTables(table, catalog.value?.tables.keys() ?? [])));
  };
  return (
    <section class="screen">
      <header class="screen-head">
        <p class="crumbs">
          <a href={pageUrl("entry", entry.name)}>
            <bdi>{entry.name}</bdi>
          </a>
          <span aria-hidden="true"> / </span>
          <bdi>{keyText(rowKey)}</bdi>
        </p>
        <h1>
          <bdi>{title ?? keyText(rowKey)}</bdi>
        </h1>
        <span class="spring" />
        {found && table?.writes.update && (
          <button type="button" class="button" onClick={() => void begin()}>
            Edit
          </button>
        )}
        {found && table?.writes.remove && (
          <button type="button" class="button danger" onClick={remove}>
            Delete
          </button>
        )}
      </header>
      <FactsFault entry={entry} loaded={loaded} />
      <UndoBar />
      <ErrorNote error={error ?? row.error} onRetry={error === null ? row.reload : undefined} />
      {unreadable && <UnreadableNote error={unreadable} />}
      {row.data && !found && (
        <div class="note">
          <p>There is no such row, or you may not see it.</p>
          <LogInHint />
        </div>
      )}
      {found && (
        <div class="row-page">
          <dl class="card values">
            {entry.columns.map((column) => (
              <RowValue key={column.name} column={column} value={value(column.name)} isKey={keyColumns.includes(column.name)} refers={described.find(({ name }) => name === column.name)?.fk} />
            ))}
          </dl>
          <Relations entry={entry} keyColumns={keyColumns} rowKey={rowKey} />
        </div>
      )}
      {!(row.loading && !row.data) && <RequestPanel request={row.data?.request ?? request} />}
      {deletion && <DeleteDialog deletion={deletion} onDeleted={() => navigate(pageUrl("entry", entry.name))} onClose={() => setDeletion(null)} />}
      {edit && table && (
        <RecordDialog title={`Edit ${entry.name} ${keyText(rowKey)}`} onClose={() => setEdit(null)}>
          <RecordForm
            columns={entry.columns.filter(({ name }) => !keyColumns.includes(name))}
            table={table}
            described={described}
            row={edit.shown}
            saveLabel="Save"
            onSave={save}
            onCancel={() => setEdit(null)}
          />
        </RecordDialog>
      )}
    </section>
  );
}

function RowValue({ column, value, isKey, refers }: { column: Column; value: Value; isKey: boolean; refers?: string | undefined }) {
  const nested = typeof value === "object" && value !== null && !(value instanceof ExactNumber);
  const text = valueText(value);
  return (
    <>
      <dt>
        <bdi>{column.name}</bdi>
        <small>
          {typeLabel(column.type)}
          {isKey && " · key"}
        </small>
      </dt>
      <dd>
        {nested ? (
          <JsonTree value={value} />
        ) : text.length > 150 || text.includes("\n") ? (
          <pre class="long-text" dir="auto" tabIndex={0}>
            {text}
          </pre>
        ) : (
          <CellContent value={value} link={refers && value !== null ? rowUrl(refers, [text]) : undefined} />
        )}
      </dd>
    </>
  );
}

/** What a person would call the row: the first text column that is not its key and not long. */
function titleOf(entry: Entry, value: (column: string) => Value, keyColumns: string[]): string | null {
  const named = entry.columns.find(({ name }) => /^(name|title|label|subject)$/i.test(name)) ?? entry.columns.find(({ name, type }) => kindOf(type) === "text" && !keyColumns.includes(name));
  const text = named ? value(named.name) : null;
  return typeof text === "string" && text !== "" && text.length <= 80 ? text : null;
}
