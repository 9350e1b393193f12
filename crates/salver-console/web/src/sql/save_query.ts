import type { ApiRequest } from "../api";
import { apiPath } from "../api";
import type { NamedQuery } from "../catalog";

/** The name in the form, and what the query is for. */
export interface QueryDraft {
  name: string;
  description: string;
}

const DESCRIPTION = /^--\s*description:.*\n?/gm;

/** The text of the file: the statement, with a line that says what it is for before it. */
export function fileText(sql: string, description: string): string {
  const line = description.replace(/\s+/g, " ").trim();
  const bare = sql.replace(DESCRIPTION, "");
  return `${line ? `-- description: ${line}\n` : ""}${bare.trim()}\n`;
}

/** The request that saves a statement: a new query, or one in the place of what is known of it. */
export function saveRequest(sql: string, draft: QueryDraft, known: NamedQuery | undefined): ApiRequest {
  const condition: Record<string, string> = known?.etag ? { "If-Match": known.etag } : { "If-None-Match": "*" };
  return {
    method: "PUT",
    path: apiPath("queries", draft.name.trim()),
    headers: { "Content-Type": "application/sql", ...condition },
    body: fileText(sql, draft.description),
  };
}
