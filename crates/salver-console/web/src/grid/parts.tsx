import { isNumeric, kindOf, shortKind, typeLabel } from "../column_type";
import type { Value } from "../data_json";
import type { GridColumn, GridProps, SortKey } from "./grid";

/** The height of a row in pixels. The styles have it, too. */
export const ROW_HEIGHT = 30;

/** The head of a column, which changes the order. */
export function HeadCell({ column, number, sort, onSort }: { column: GridColumn; number: number; sort: SortKey[]; onSort: GridProps["onSort"] }) {
  const kind = kindOf(column.type);
  const position = sort.findIndex((key) => key.column === column.name);
  const key = sort[position];
  const name = (
    <>
      <bdi class="head-name">{column.name}</bdi>
      {key && (
        <span class="head-sort" aria-hidden="true">
          {key.descending ? "↓" : "↑"}
          {sort.length > 1 && position + 1}
        </span>
      )}
    </>
  );
  const title = [column.name, column.type && typeLabel(column.type), column.key && "key", column.refers && `refers to ${column.refers}`].filter(Boolean).join(" · ");
  return (
    <th scope="col" aria-colindex={number} class={isNumeric(kind) ? "numeric" : ""} aria-sort={key ? (key.descending ? "descending" : "ascending") : undefined} title={title}>
      <span class="head">
        {onSort ? (
          <button type="button" class="head-button" onClick={(event) => onSort(column.name, event.shiftKey)}>
            {name}
          </button>
        ) : (
          name
        )}
        {column.key && <span class="head-key">key</span>}
        {column.type && <span class="head-type">{shortKind(kind)}</span>}
      </span>
    </th>
  );
}

/** The number of a row, which leads to its page. */
export function LeadCell({ rowLink, rowLead, firstNumber, row, index }: GridProps & { row: Value[]; index: number }) {
  const link = rowLink?.(row, index);
  const number = (firstNumber ?? 1) + index;
  return (
    <th scope="row" class="lead">
      {rowLead?.(row, index)}
      {link ? (
        <a href={link} aria-label={`Row ${number}`}>
          {number}
        </a>
      ) : (
        <span>{number}</span>
      )}
    </th>
  );
}

/** Room for rows that are out of sight. */
export function RowSpacer({ rows, columns }: { rows: number; columns: number }) {
  return (
    <tr aria-hidden="true" class="spacer">
      <td colSpan={columns} style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}

/** Room for columns that are out of sight. */
export function CellSpacer({ width }: { width: number }) {
  return width > 0 ? <td aria-hidden="true" class="cell-spacer" /> : null;
}
