import type { ApiRequest } from "../api";
import { apiPath } from "../api";
import type { NamedQuery } from "../catalog";

/** The name in the form, and what the query is for. */
export interface QueryDraft {
  name: string;
  description: string;
}

/** The formats whose suffix at the end of a name would choose them. */
const SUFFIXES = ["json", "ndjson", "jsonl", "csv", "tsv", "xlsx", "parquet", "arrow", "arrows", "feather", "html"];
/** Windows has these for devices, whatever follows a point. */
const DEVICES = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)/i;
const NAME_BYTES = 128;

/** What is wrong with a name, which must be that of a file on every system; `null` for nothing. */
export function nameFault(typed: string, others: string[]): string | null {
  const name = typed.trim();
  if (name === "") return "A query needs a name.";
  if (/^\.+$/.test(name)) return "A name has something else than points.";
  if (name.startsWith(".") || name.endsWith(".")) return "A name neither begins nor ends with a point.";
  const wrong = /[\u0000-\u001f\u007f<>:"/\\|?*]/.exec(name)?.[0];
  if (wrong !== undefined) return wrong < " " || wrong === "\u007f" ? "A name has no control characters." : `A name of a file has no ${wrong}`;
  if (DEVICES.test(name)) return `${name} is the name of a device on Windows.`;
  const bytes = new TextEncoder().encode(name).length;
  if (bytes > NAME_BYTES) return `A name has ${NAME_BYTES} bytes at most, and this one ${bytes}.`;
  const suffix = SUFFIXES.find((one) => name.toLowerCase().endsWith(`.${one}`));
  if (suffix) return `.${suffix} at the end would choose a format.`;
  const folded = (one: string) => one.normalize("NFC").toLowerCase();
  const alike = others.find((other) => other !== name && folded(other) === folded(name));
  return alike === undefined ? null : `There is ${alike}, which is the same name on some systems.`;
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
