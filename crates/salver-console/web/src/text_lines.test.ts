import { expect, test, vi } from "vitest";
import { onEnter } from "./text_lines";

const press = (key: string, held: { shiftKey?: boolean; altKey?: boolean; isComposing?: boolean } = {}, isOfSeveral = false) => {
  const input = { form: { requestSubmit: vi.fn() }, selectionStart: 1, selectionEnd: 1, setRangeText: vi.fn(), dispatchEvent: vi.fn() };
  const event = { key, shiftKey: false, altKey: false, isComposing: false, ...held, currentTarget: input, preventDefault: vi.fn() };
  onEnter(event as never, isOfSeveral);
  return { saved: input.form.requestSubmit.mock.calls.length, broken: input.setRangeText.mock.calls.length, own: event.preventDefault.mock.calls.length };
};

test("Enter saves, and with Shift or Alt it begins a line", () => {
  expect(press("Enter")).toEqual({ saved: 1, broken: 0, own: 1 });
  expect(press("Enter", { altKey: true })).toEqual({ saved: 0, broken: 1, own: 1 });
  // What the browser does by itself.
  expect(press("Enter", { shiftKey: true })).toEqual({ saved: 0, broken: 0, own: 0 });
  expect(press("Enter", { isComposing: true })).toEqual({ saved: 0, broken: 0, own: 0 });
  // Of several lines, Enter begins one more.
  expect(press("Enter", {}, true)).toEqual({ saved: 0, broken: 0, own: 0 });
  expect(press("Enter", { altKey: true }, true)).toEqual({ saved: 0, broken: 1, own: 1 });
  expect(press("a")).toEqual({ saved: 0, broken: 0, own: 0 });
});
