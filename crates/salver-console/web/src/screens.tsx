import type { ComponentType } from "preact";

/** What a screen gets: the parts of its path behind its name, decoded. */
export interface ScreenProps {
  parts: string[];
}

type Load = () => Promise<{ default: ComponentType<ScreenProps> }>;

/** The screens by the first part of their path. All but the catalog are loaded when they are first shown. */
export const SCREENS: Record<string, Load> = {
  entry: () => import("./entry/screen"),
  row: () => import("./row/screen"),
  sql: () => import("./sql/screen"),
  graphql: () => import("./graphql/screen"),
  stream: () => import("./stream/screen"),
  function: () => import("./function/screen"),
  exports: () => import("./exports/screen"),
  operations: () => import("./operations/screen"),
  docs: () => import("./docs/screen"),
};
