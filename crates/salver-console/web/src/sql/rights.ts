import { ApiError } from "../api";
import { catalog } from "../catalog";

/** An error of a statement. A table that is not there for SQL, though the caller may read it elsewhere, is told as what it is. */
export function withRights(error: unknown): unknown {
  const name = error instanceof ApiError && error.status < 500 ? /^no table `(.+?)`/.exec(error.message)?.[1] : undefined;
  if (!(error instanceof ApiError) || name === undefined || !catalog.value?.entries.has(name)) return error;
  const hint = "You may read it, but not in SQL: an [[access]] of the server's configuration would have to permit `sql`.";
  return new ApiError(error.status, error.word, `You may not ask ${name} in SQL.`, hint, error.body, error.asked);
}

/** The error of a statement of the page's own, where it says that the caller lacks the right to ask; `null` for others. */
export function rightLacking(error: unknown): unknown {
  const told = withRights(error);
  return told !== error || (error instanceof ApiError && error.status === 403) ? told : null;
}
