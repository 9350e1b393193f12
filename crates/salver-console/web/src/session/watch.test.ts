import { beforeEach, expect, test, vi } from "vitest";

let user: string | null = "boss";
let status = 200;
let asked = 0;
const seen: Record<string, (event: unknown) => void> = {};
const location = { pathname: "/console/sql", search: "?q=select", reload: vi.fn(), replace: vi.fn() };

beforeEach(() => {
  location.reload.mockClear();
  location.replace.mockClear();
});

vi.stubGlobal("document", { baseURI: "http://server/", hidden: false, addEventListener: (name: string, listener: (event: unknown) => void) => (seen[name] = listener) });
vi.stubGlobal("window", { removeEventListener: () => undefined, addEventListener: (name: string, listener: (event: unknown) => void) => (seen[name] = listener) });
vi.stubGlobal("location", location);
vi.stubGlobal("BroadcastChannel", undefined);
vi.stubGlobal("fetch", async () => {
  asked++;
  return user === null ? new Response("{}", { status: 401 }) : new Response(JSON.stringify({ username: user }), { status });
});

const look = async () => {
  const before = asked;
  seen.visibilitychange?.({});
  await vi.waitFor(() => expect(asked).toBe(before + 1));
  await new Promise((resolve) => setTimeout(resolve));
};

test("a tab whose user is another one loads anew, and drops what the address says", async () => {
  const { loadSession, session } = await import("./session");
  const { watchSession } = await import("./watch");
  watchSession();
  await loadSession();
  expect(session.value.identity).toBe("boss");
  await look();
  // A server that does not answer says nothing about who the caller is.
  status = 503;
  await look();
  expect(location.reload.mock.calls.length + location.replace.mock.calls.length).toBe(0);
  status = 200;
  for (const other of ["ann", null]) {
    user = other;
    await look();
    expect(location.replace).toHaveBeenLastCalledWith("/console/sql");
  }
  await loadSession();
  user = "ann";
  await look();
  // Who logs in goes on where they are.
  expect(location.reload).toHaveBeenCalledOnce();
});
