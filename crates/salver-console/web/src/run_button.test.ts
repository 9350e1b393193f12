import { expect, test } from "vitest";
import { RunButton } from "./run_button";

test("what cancels never becomes what submits", () => {
  const of = (running: boolean) => RunButton({ running, label: "Call", onCancel: () => undefined });
  expect(of(true).key).not.toBe(of(false).key);
  expect([of(true).props.type, of(false).props.type]).toEqual(["button", "submit"]);
});
