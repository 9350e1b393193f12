import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isNumeric, kindOf } from "../column_type";
import { copyText } from "../copy_button";
import type { Value } from "../data_json";
import { CellContent } from "./cell";
import { CellSpacer, HeadCell, LeadCell, ROW_HEIGHT, RowSpacer } from "./parts";
import { valueText } from "./value";
import { ValueDialog } from "./value_dialog";
import { columnWidths, columnsInSight } from "./widths";

/** A column of a grid. */
export interface GridColumn {
  name: string;
  type?: string | undefined;
  /** Whether it belongs to the key of the row. */
  key?: boolean;
  /** What it refers to, for its head. */
  refers?: string;
}

/** A column of an order. */
export interface SortKey {
  column: string;
  descending: boolean;
}

/** The editing of cells: what the grid asks and tells. */
export interface GridEditing {
  /** Whether a cell can be changed. */
  can: (row: number, column: number) => boolean;
  /** The cell that is being changed. */
  at: { row: number; column: number } | null;
  begin: (row: number, column: number) => void;
  /** The editor in place of the cell. */
  editor: () => ComponentChildren;
}

/** What a grid shows. */
export interface GridProps {
  /** The name for readers of screens. */
  label: string;
  columns: GridColumn[];
  rows: Value[][];
  /** The number of the first row, from 1, where rows are numbered. */
  firstNumber?: number;
  sort?: SortKey[];
  /** A head was pressed; `add` keeps the order before as well. */
  onSort?: (column: string, add: boolean) => void;
  /** The page of a row. */
  rowLink?: (row: Value[], index: number) => string | undefined;
  /** Where a value leads, as for the key of another table. */
  cellLink?: (column: GridColumn, value: Value, row: Value[], index: number) => string | undefined;
  editing?: GridEditing;
  /** Something in front of each row, such as buttons. */
  rowLead?: (row: Value[], index: number) => ComponentChildren;
  /** What stands where there are no rows. */
  empty?: ComponentChildren;
  /** The greatest height; the grid scrolls inside. */
  height?: string;
}

/** How many rows beyond the sight are in the page as well. */
const OVERSCAN = 12;

/** A table of any number of rows, of which only those in sight are in the page. */
export function Grid(props: GridProps) {
  const { columns, rows, label } = props;
  const scroller = useRef<HTMLDivElement>(null);
  // At first as large as it usually becomes, so that its rows are not drawn a second time once it has its size.
  const [view, setView] = useState({ top: 0, left: 0, height: Math.max(300, innerHeight - 330), width: innerWidth });
  const [focus, setFocus] = useState({ row: 0, column: 0 });
  // Several keys may come before the grid is drawn again: each goes on from where the one before it led.
  const active = useRef(focus);
  const activate = (row: number, column: number) => {
    if (row !== active.current.row || column !== active.current.column) setFocus((active.current = { row, column }));
  };
  const [opened, setOpened] = useState<{ name: string; value: Value } | null>(null);
  const moved = useRef(false);
  // The first rows are there sooner without those that nobody sees yet.
  const [beyond, setBeyond] = useState(0);
  useLayoutEffect(() => {
    if (rows.length === 0 || beyond > 0) return;
    // Once the browser has painted, which an effect alone does not wait for if that takes long.
    const frame = requestAnimationFrame(() => setTimeout(() => setBeyond(OVERSCAN)));
    return () => cancelAnimationFrame(frame);
  }, [rows.length > 0]);

  const shape = columns.map(({ name, type }) => `${name}\u0000${type}`).join("\u0001");
  const widths = useMemo(() => columnWidths(columns, rows), [shape, rows.length > 0]);
  const leadWidth = 34 + String((props.firstNumber ?? 1) + rows.length).length * 9 + (props.rowLead ? 22 : 0);
  const lead = Boolean(props.rowLink || props.rowLead || props.firstNumber !== undefined);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() =>
      setView((before) => {
        const { clientHeight: height, clientWidth: width } = element;
        return height > before.height || width > before.width ? { ...before, height, width } : before;
      }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const { row, column } = active.current;
    activate(Math.min(row, Math.max(0, rows.length - 1)), Math.min(column, Math.max(0, columns.length - 1)));
  }, [rows, columns.length]);
  const followFocus = () => {
    const { row, column } = active.current;
    const cell = moved.current && scroller.current?.querySelector<HTMLElement>(`[data-cell="${row}:${column}"]`);
    // A row that is still out of sight comes with the next drawing, after the scroll.
    if (!cell) return;
    moved.current = false;
    cell.focus({ preventScroll: true });
    cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  // Not `useEffect`, which comes after the paint: the next key would find the focus where it was.
  useLayoutEffect(followFocus);
  // The focus comes back to a cell whose editor is closed.
  const edited = Boolean(props.editing?.at);
  const wasEdited = useRef(edited);
  useEffect(() => {
    if (wasEdited.current && !edited) {
      move(active.current.row, active.current.column);
      // A move to where the focus is draws nothing, and the next drawing may be that of another editor.
      followFocus();
    }
    wasEdited.current = edited;
  }, [edited]);
  // Another page, or another order, begins at its first row.
  const start = `${props.firstNumber}/${props.sort?.map(({ column, descending }) => `${column}${descending}`).join()}`;
  useEffect(() => {
    // Not for a grid that has not been scrolled: the browser would have to lay out the page first.
    if (view.top > 0) scroller.current?.scrollTo({ top: 0 });
  }, [start]);

  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - beyond);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW_HEIGHT) + beyond);

  const sight = columnsInSight(widths, view.left, view.width);
  const shown = columns.slice(sight.first, sight.last);

  // The cell that Tab comes to: that of the focus, or the first if that is not drawn.
  const entrance = {
    row: focus.row >= first && focus.row < last ? focus.row : first,
    column: focus.column >= sight.first && focus.column < sight.last ? focus.column : sight.first,
  };

  const look = ({ scrollTop: top, scrollLeft: left, clientHeight: height, clientWidth: width }: HTMLElement) =>
    setView((before) => (top === before.top && left === before.left && height === before.height && width === before.width ? before : { top, left, height, width }));

  const move = (row: number, column: number) => {
    const next = { row: Math.max(0, Math.min(rows.length - 1, row)), column: Math.max(0, Math.min(columns.length - 1, column)) };
    moved.current = true;
    const element = scroller.current;
    // A cell out of sight is not in the page yet: the scroll brings it there.
    if (element) {
      const top = next.row * ROW_HEIGHT;
      const room = element.clientHeight - 2 * ROW_HEIGHT;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top > element.scrollTop + room) element.scrollTop = top - room;
      const start = widths.slice(0, next.column).reduce((sum, width) => sum + width, 0);
      const end = start + (widths[next.column] ?? 0) + (lead ? leadWidth : 0);
      if (start < element.scrollLeft) element.scrollLeft = start;
      else if (end > element.scrollLeft + element.clientWidth) element.scrollLeft = end - element.clientWidth;
      // The browser tells of the scroll with the next frame, for which no key waits.
      look(element);
    }
    activate(next.row, next.column);
  };

  const onKey = (event: KeyboardEvent) => {
    if (!(event.target as HTMLElement).dataset.cell) return;
    const { row, column } = active.current;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? view.height) / ROW_HEIGHT) - 2);
    const steps: Record<string, [number, number]> = {
      ArrowDown: [row + 1, column],
      ArrowUp: [row - 1, column],
      ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1],
      PageDown: [row + page, column],
      PageUp: [row - page, column],
      Home: [event.ctrlKey ? 0 : row, 0],
      End: [event.ctrlKey ? rows.length - 1 : row, columns.length - 1],
    };
    const step = steps[event.key];
    const value = rows[row]?.[column] ?? null;
    if (step) move(...step);
    else if (event.key === "c" && (event.ctrlKey || event.metaKey) && !getSelection()?.toString()) void copyText(valueText(value));
    else if (event.key === "Enter" || event.key === "F2") {
      const link = (event.target as HTMLElement).querySelector("a");
      if (event.key === "Enter" && link) link.click();
      else if (props.editing?.can(row, column)) props.editing.begin(row, column);
      else setOpened({ name: columns[column]?.name ?? "", value });
    } else return;
    event.preventDefault();
  };

  const spanned = shown.length + Number(lead) + Number(sight.before > 0) + Number(sight.after > 0);
  const total = widths.reduce((sum, width) => sum + width, lead ? leadWidth : 0);
  return (
    <>
      <div class="grid-scroll" ref={scroller} style={{ maxHeight: props.height ?? "max(300px, calc(100vh - 330px))" }} onScroll={(event) => look(event.currentTarget)}>
        <table class="grid" role="grid" aria-label={label} aria-rowcount={rows.length + 1} aria-colcount={columns.length} style={{ width: `${total}px` }} onKeyDown={onKey}>
          <colgroup>
            {lead && <col style={{ width: `${leadWidth}px` }} />}
            {sight.before > 0 && <col style={{ width: `${sight.before}px` }} />}
            {shown.map((column, index) => (
              <col key={column.name} style={{ width: `${widths[sight.first + index]}px` }} />
            ))}
            {sight.after > 0 && <col style={{ width: `${sight.after}px` }} />}
          </colgroup>
          <thead>
            <tr aria-rowindex={1}>
              {lead && (
                <th scope="col" class="lead">
                  <span class="visually-hidden">Row</span>
                </th>
              )}
              <CellSpacer width={sight.before} />
              {shown.map((column, index) => (
                <HeadCell key={column.name} column={column} number={sight.first + index + 1} sort={props.sort ?? []} onSort={props.onSort} />
              ))}
              <CellSpacer width={sight.after} />
            </tr>
          </thead>
          <tbody>
            {first > 0 && <RowSpacer rows={first} columns={spanned} />}
            {rows.slice(first, last).map((row, offset) => {
              const index = first + offset;
              return (
                <tr key={index} aria-rowindex={index + 2}>
                  {lead && <LeadCell {...props} row={row} index={index} />}
                  <CellSpacer width={sight.before} />
                  {shown.map((column, offsetOfColumn) => {
                    const at = sight.first + offsetOfColumn;
                    const value = row[at] ?? null;
                    const edited = props.editing?.at?.row === index && props.editing.at.column === at;
                    const numeric = isNumeric(kindOf(column.type)) || typeof value === "number";
                    return (
                      <td
                        key={column.name}
                        role="gridcell"
                        aria-colindex={at + 1}
                        class={`${numeric ? "numeric" : ""}${edited ? " edited" : ""}${props.editing?.can(index, at) ? " editable" : ""}`}
                        data-cell={`${index}:${at}`}
                        tabIndex={index === entrance.row && at === entrance.column ? 0 : -1}
                        onFocus={() => activate(index, at)}
                        onDblClick={() => (props.editing?.can(index, at) ? props.editing.begin(index, at) : setOpened({ name: column.name, value }))}
                      >
                        {edited ? props.editing?.editor() : <CellContent value={value} link={props.cellLink?.(column, value, row, index)} onOpen={() => setOpened({ name: column.name, value })} />}
                      </td>
                    );
                  })}
                  <CellSpacer width={sight.after} />
                </tr>
              );
            })}
            {last < rows.length && <RowSpacer rows={rows.length - last} columns={spanned} />}
          </tbody>
        </table>
        {rows.length === 0 && <div class="grid-empty">{props.empty ?? "No rows."}</div>}
      </div>
      {opened && <ValueDialog {...opened} onClose={() => setOpened(null)} />}
    </>
  );
}
