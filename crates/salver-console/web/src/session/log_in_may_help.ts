import type { ApiError } from "../api";

/** Whether another caller may be let do what was refused: not what nobody may do, and not where there is no way to log in. */
export function logInMayHelp({ status, word, hint }: ApiError, hasUsers: boolean): boolean {
  if (status === 401) return true;
  // Rules let somebody do it, who may come with a key where there are no users.
  return status === 403 && word !== "read_only_mode" && (hasUsers || /\[\[access\]\]/.test(hint ?? ""));
}
