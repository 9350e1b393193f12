import { expect, test } from "vitest";
import { ApiError } from "../api";
import { isRightMissing, logInMayHelp as mayHelp } from "./log_in_may_help";

const logInMayHelp = (error: ApiError, hasUsers: boolean, mayLogIn = false) => mayHelp(error, { hasUsers, mayLogIn, isKnown: false });

test("a log-in is offered where it may help", () => {
  const error = (status: number, word: string, hint: string | null = null) => new ApiError(status, word, "no", hint, null);
  expect(logInMayHelp(error(401, "authentication_required"), false)).toBe(true);
  expect(logInMayHelp(error(403, "forbidden"), true)).toBe(true);
  expect(logInMayHelp(error(403, "forbidden"), false)).toBe(false);
  expect(logInMayHelp(error(403, "forbidden", "an [[access]] of the server's configuration would have to permit it"), false)).toBe(true);
  for (const hasUsers of [true, false]) expect(logInMayHelp(error(403, "read_only_mode"), hasUsers)).toBe(false);
  expect(logInMayHelp(error(404, "not_found"), true)).toBe(false);
});

test("what is not there may be there for who has logged in", () => {
  const error = (status: number, word: string, message: string) => new ApiError(status, word, message, null, null);
  for (const mayLogIn of [true, false]) {
    expect(logInMayHelp(error(404, "invalid_table", "no table `people`"), false, mayLogIn)).toBe(mayLogIn);
    expect(logInMayHelp(error(400, "plan_sql", "no table `people` at line 1, column 15"), false, mayLogIn)).toBe(mayLogIn);
    expect(logInMayHelp(error(403, "forbidden", "no"), false, mayLogIn)).toBe(mayLogIn);
  }
  expect(logInMayHelp(error(400, "plan_sql", "no column `x`"), false, true)).toBe(false);
});

test("who is known and lacks a right is told so, and not to log in", () => {
  const error = (status: number, word: string) => new ApiError(status, word, "no", null, null);
  for (const hasUsers of [true, false]) {
    expect(mayHelp(error(403, "forbidden"), { hasUsers, mayLogIn: false, isKnown: true })).toBe(false);
    // A session may have ended.
    expect(mayHelp(error(401, "authentication_required"), { hasUsers, mayLogIn: false, isKnown: true })).toBe(true);
  }
  expect(isRightMissing(error(403, "forbidden"), { isKnown: true })).toBe(true);
  expect(isRightMissing(error(403, "forbidden"), { isKnown: false })).toBe(false);
  expect(isRightMissing(error(403, "of_a_function"), { isKnown: true })).toBe(false);
  expect(isRightMissing(error(403, "read_only_mode"), { isKnown: true })).toBe(false);
});
