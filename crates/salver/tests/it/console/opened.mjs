// Pages that are opened with an eye on how much data they take.

import assert from "node:assert/strict";

/** Most bytes of data in one answer: a page shows one megabyte, and half of another may be on the way by then. */
export const PAGE_BYTES = 1_500_000;

/** Opens a page, waits for what it shows, and counts the data it took. */
export async function opened(visit, path, ...shown) {
  const bodies = [];
  // There is no body of what the page left, which is how it takes no more than it shows.
  const length = (answer) => answer.body().then((body) => body.length, () => 0);
  const count = (answer) => {
    if (new URL(answer.url()).pathname.startsWith("/api/")) bodies.push(length(answer));
  };
  visit.page.on("response", count);
  await visit.open(path);
  await visit.see(...shown);
  visit.page.off("response", count);
  const bytes = Math.max(0, ...(await Promise.all(bodies)));
  assert.ok(bytes <= PAGE_BYTES, `${path} asked for ${bytes} bytes`);
}
