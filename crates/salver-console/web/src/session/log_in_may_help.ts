import type { ApiError } from "../api";

/** Who asks: whether the server has users, and whether the caller is not known and may be. */
interface Caller {
  hasUsers: boolean;
  mayLogIn: boolean;
}

/** Whether another caller may be let do what was refused: not what nobody may do, and not where there is no way to log in. */
export function logInMayHelp({ status, word, hint, message }: ApiError, { hasUsers, mayLogIn }: Caller): boolean {
  if (status === 401) return true;
  // What a caller may not see is not there for them.
  if (status === 404 || (word === "plan_sql" && /^no (table|function) /.test(message))) return mayLogIn;
  // Rules let somebody do it, who may come with a key where there are no users.
  return status === 403 && word !== "read_only_mode" && (hasUsers || mayLogIn || /\[\[access\]\]/.test(hint ?? ""));
}
