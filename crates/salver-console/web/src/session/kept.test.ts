import { beforeEach, expect, test, vi } from "vitest";

class Memory {
  readonly items = new Map<string, string>();
  getItem = (key: string) => this.items.get(key) ?? null;
  setItem = (key: string, value: string) => void this.items.set(key, value);
}

const local = new Memory();
const ofTab = new Memory();
vi.stubGlobal("localStorage", local);
vi.stubGlobal("sessionStorage", ofTab);

beforeEach(() => {
  local.items.clear();
  ofTab.items.clear();
});

test("what one user leaves is not there for another, nor for who has not logged in", async () => {
  const { readKept, writeKept } = await import("./kept");
  const { session } = await import("./session");
  const be = (identity: string | null, hasUsers = true) => (session.value = { user: identity, identity, hasUsers });
  be("boss");
  writeKept("draft", "select secret");
  for (const other of ["ann", null]) {
    be(other);
    expect(readKept("draft")).toBe(null);
  }
  be(null, false);
  expect(readKept("draft")).toBe(null);
  writeKept("draft", "select 1");
  be("boss");
  expect(readKept("draft")).toBe("select secret");
});

test("what is done with a key goes with the tab", async () => {
  const { readKept, writeKept } = await import("./kept");
  ofTab.setItem("salver.api_key", "k");
  writeKept("draft", "select secret");
  expect(readKept("draft")).toBe("select secret");
  expect(local.items.size).toBe(0);
});

test("users of one name at two providers are two", async () => {
  const { userOf } = await import("./session");
  expect(userOf({ id: 2, username: "ann" })).toEqual({ user: "ann", identity: "ann" });
  expect(userOf({ name: "Ann", sub: "17", iss: "https://a" })).toEqual({ user: "Ann", identity: "https://a 17" });
});
