// The walk of a newcomer through the console, in a browser: `node walk.mjs URL DIRECTORY [KEY]`, started where
// playwright-core and axe-core are installed. URL is of a server of examples/demo; pictures of the screens go to
// DIRECTORY. With KEY the server is one that asks for it, and only the log-in is walked; with `extremes` in its place,
// what is unusual, with `known` a server where callers may be known and need not be, with `users` one with users of
// two kinds, and with `refused` one that is open and knows keys. Prints `well`, or fails with what went wrong.

import { DATA } from "./data.mjs";
import { extremes } from "./extremes.mjs";
import { FAULTS } from "./faults.mjs";
import { known } from "./known.mjs";
import { closed, hostile, plain } from "./strangers.mjs";
import { TOOLS } from "./tools.mjs";
import { refused, users } from "./users.mjs";
import { Visit, launch } from "./visit.mjs";

const [url, directory, key] = process.argv.slice(2);
const base = url.endsWith("/") ? url : `${url}/`;
const browser = await launch();
let step = "the log-in";
let visit = null;
try {
  if (key === "extremes") {
    step = key;
    await extremes(browser, base, directory);
  } else if (key === "known") {
    step = key;
    await known(browser, base, directory);
  } else if (key === "users") {
    step = key;
    await users(browser, base, directory);
  } else if (key === "refused") {
    step = key;
    await refused(browser, base, directory);
  } else if (key) {
    await closed(browser, base, directory, key);
  } else {
    visit = await Visit.begin(browser, base, directory);
    for (const [name, walk] of Object.entries({ ...DATA, ...FAULTS, ...TOOLS, hostile })) {
      const began = performance.now();
      step = name;
      await walk(visit);
      visit.check(name);
      console.error(`${name}: ${Math.round(performance.now() - began)} ms`);
    }
    step = "the browser without scripts";
    await plain(browser, base, directory);
  }
  console.log("well");
} catch (error) {
  await visit?.page.screenshot({ path: `${directory}/failed.png` }).catch(() => undefined);
  console.error(`${step}: ${error.stack}\n${visit?.faults.join("\n") ?? ""}`);
  process.exitCode = 1;
} finally {
  await browser.close();
}
