import { useRef, useState } from "preact/hooks";
import type { NamedQuery } from "../catalog";
import { remember, type Run } from "./history";
import { namedCall, valuesForSql } from "./named";
import { paramsAsJson, findPlaceholders } from "./placeholders";
import { type Result, runStatement, type Statement } from "./run";
import { doubtfulPlaces, readSpecialValues } from "./special_values";
import { parsePlan, type Step } from "./plan";

/** A statement on its way or done, with what came of it. */
export interface Outcome {
  statement: Statement;
  method: "GET" | "POST";
  running: boolean;
  /** Rows that have arrived while it runs. */
  arrived: number;
  result: Result | null;
  plan: Step[] | null;
  error: unknown;
  /** Whether somebody ended it. */
  cancelled: boolean;
}

/** What to run, and how. */
export interface Order {
  sql: string;
  values: Record<string, string>;
  limit: number;
  method: "GET" | "POST";
  /** The query whose text the statement is: without `explain` it is run by its name. */
  query?: NamedQuery | null;
  /** Set for what an address brought, and nobody asked for here. */
  isLinked?: boolean;
  /** In front of the statement: its plan instead of its rows. */
  explain?: "EXPLAIN" | "EXPLAIN ANALYZE";
}

/** The statement of an order with its parameters. */
export function statementOf(order: Pick<Order, "sql" | "values" | "query" | "explain">): Statement {
  const { query } = order;
  if (query && !order.explain) return { sql: order.sql, params: undefined, named: namedCall(query, order.values) };
  const params = paramsAsJson(findPlaceholders(order.sql), query ? valuesForSql(query, order.values) : order.values);
  return { sql: order.explain ? `${order.explain} ${order.sql}` : order.sql, params };
}

/** Runs one statement at a time; a new one ends the one before. */
export function useRun(onRemembered: (runs: Run[]) => void): {
  outcome: Outcome | null;
  run: (order: Order) => void;
  cancel: () => void;
  /** Shows nothing any more. */
  forget: () => void;
} {
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const controller = useRef<AbortController | null>(null);

  const cancel = () => {
    controller.current?.abort();
    controller.current = null;
    setOutcome((before) => (before?.running ? { ...before, running: false, cancelled: true } : before));
  };

  const forget = () => {
    controller.current?.abort();
    controller.current = null;
    setOutcome(null);
  };

  const run = (order: Order) => {
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    const statement = statementOf(order);
    const { method } = order;
    setOutcome({ statement, method, running: true, arrived: 0, result: null, plan: null, error: null, cancelled: false });
    const update = (changes: Partial<Outcome>) => {
      if (controller.current === own) setOutcome((before) => before && { ...before, ...changes });
    };
    const note = (ms: number, rows: number, error?: unknown) => {
      if (order.explain || order.isLinked) return;
      const message = error instanceof Error ? { error: error.message } : {};
      const name = order.query ? { query: order.query.name } : {};
      onRemembered(remember({ sql: order.sql, ...name, values: order.values, at: Date.now(), ms, rows, ...message }));
    };
    const began = performance.now();
    runStatement(statement, { method, limit: order.limit, signal: own.signal, onRows: (arrived) => update({ arrived }) }).then(
      (result) => {
        update(order.explain ? { running: false, plan: planOf(result) } : { running: false, result });
        note(result.ms, result.rows.length);
        if (order.explain || doubtfulPlaces(result).length === 0) return;
        // The rows are there meanwhile.
        readSpecialValues(statement, result, own.signal).then(
          (rows) => update({ result: { ...result, ...(rows ? { rows } : { unsure: true }) } }),
          () => undefined,
        );
      },
      (error: unknown) => {
        if (own.signal.aborted) return;
        update({ running: false, error });
        note(performance.now() - began, 0, error);
      },
    );
  };
  return { outcome, run, cancel, forget };
}

/** The last plan of the answer, which is the physical one. */
function planOf(result: Result): Step[] {
  const text = result.rows.at(-1)?.[1];
  return typeof text === "string" ? parsePlan(text) : [];
}
