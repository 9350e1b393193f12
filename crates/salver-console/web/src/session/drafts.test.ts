import { beforeEach, expect, test, vi } from "vitest";

const items = new Map<string, string>();
vi.stubGlobal("sessionStorage", { getItem: (key: string) => items.get(key) ?? null, setItem: (key: string, value: string) => void items.set(key, value) });
vi.stubGlobal("document", { baseURI: "http://server/" });
const step: { state: unknown; replaceState: (state: unknown) => void } = { state: null, replaceState: (state) => void (step.state = state) };
vi.stubGlobal("history", step);

const { keepTyped, readTyped } = await import("./drafts");
const { session } = await import("./session");
const be = (identity: string | null, hasUsers = true) => (session.value = { user: identity, identity, hasUsers });

beforeEach(() => {
  items.clear();
  step.state = null;
  be(null, false);
});

test("what was typed is found on its step again, and on no other", () => {
  keepTyped("select 1");
  const first = step.state;
  step.state = null;
  expect(readTyped()).toBeNull();
  keepTyped("select 2");
  step.state = first;
  expect(readTyped()).toBe("select 1");
  keepTyped(null);
  expect(readTyped()).toBeNull();
});

test("nobody else gets it", () => {
  be("boss");
  keepTyped("select secret");
  for (const other of ["ann", null]) {
    be(other);
    expect(readTyped()).toBeNull();
  }
  be("boss");
  expect(readTyped()).toBe("select secret");
});

test("the oldest go first, and nothing to keep leaves the step as it is", () => {
  keepTyped(null);
  expect(step.state).toBeNull();
  keepTyped("oldest");
  const oldest = step.state;
  for (let at = 0; at < 30; at++) {
    step.state = null;
    keepTyped(`text ${at}`);
  }
  expect(readTyped()).toBe("text 29");
  step.state = oldest;
  expect(readTyped()).toBeNull();
});
