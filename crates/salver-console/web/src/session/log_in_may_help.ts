import type { ApiError } from "../api";

/** Who asks: whether the server has users, whether the caller is known, and whether it is not and may be. */
interface Caller {
  hasUsers: boolean;
  isKnown: boolean;
  mayLogIn: boolean;
}

/** Whether a caller who is known lacks a right. A function may refuse something for another reason. */
export function isRightMissing({ status, word, hint }: ApiError, { isKnown }: Pick<Caller, "isKnown">): boolean {
  return status === 403 && isKnown && (word === "forbidden" || /\[\[access\]\]/.test(hint ?? ""));
}

/** Whether another caller may be let do what was refused: not what nobody may do, and not where there is no way to log in. */
export function logInMayHelp(error: ApiError, { hasUsers, isKnown, mayLogIn }: Caller): boolean {
  const { status, word, hint, message } = error;
  // Who has logged in, and may not do this, need not do it again.
  if (status === 403 && isKnown) return false;
  if (status === 401) return true;
  // What a caller may not see is not there for them.
  if (status === 404 || (word === "plan_sql" && /^no (table|function) /.test(message))) return mayLogIn;
  // Rules let somebody do it, who may come with a key where there are no users.
  return status === 403 && word !== "read_only_mode" && (hasUsers || mayLogIn || /\[\[access\]\]/.test(hint ?? ""));
}
