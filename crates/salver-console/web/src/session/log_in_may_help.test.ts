import { expect, test } from "vitest";
import { ApiError } from "../api";
import { logInMayHelp } from "./log_in_may_help";

test("a log-in is offered where it may help", () => {
  const error = (status: number, word: string, hint: string | null = null) => new ApiError(status, word, "no", hint, null);
  expect(logInMayHelp(error(401, "authentication_required"), false)).toBe(true);
  expect(logInMayHelp(error(403, "forbidden"), true)).toBe(true);
  expect(logInMayHelp(error(403, "forbidden"), false)).toBe(false);
  expect(logInMayHelp(error(403, "forbidden", "an [[access]] of the server's configuration would have to permit it"), false)).toBe(true);
  for (const hasUsers of [true, false]) expect(logInMayHelp(error(403, "read_only_mode"), hasUsers)).toBe(false);
  expect(logInMayHelp(error(404, "not_found"), true)).toBe(false);
});
