import "./styles/theme.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/controls.css";
import "./styles/grid.css";
import { render } from "preact";
import { isAbsent } from "./api";
import { App, preloadScreen } from "./app";
import { catalogError, loadCatalog } from "./catalog";
import { fetchFirstRows } from "./entry/first_rows";
import { applyTheme } from "./layout/theme";
import { startRouter } from "./router";
import { loadNoSession, loadSession } from "./session/session";
import { watchSession } from "./session/watch";

/** How long the first drawing waits for the catalog, the screen and its rows, in milliseconds: without them it is done again. */
const SOON = 150;

let firstRows: Promise<unknown> | undefined;
let isSessionAsked = false;
const loaded = loadCatalog(({ entries, index }) => {
  firstRows = fetchFirstRows(entries);
  isSessionAsked = true;
  // Where nobody logs in, nobody is asked for.
  if (!index.doors || index.doors.me !== undefined) void loadSession();
  else loadNoSession();
});
// Who may not even see the index may log in. Where it is damaged, nobody is asked for either.
void loaded.then(() => (isSessionAsked ? undefined : isAbsent(catalogError.peek()) ? loadSession() : loadNoSession()));
watchSession();
const ready = Promise.all([loaded.then(() => firstRows), preloadScreen()]);
applyTheme();
startRouter();

const root = document.getElementById("app");
const soon = new Promise((resolve) => setTimeout(resolve, SOON));
void Promise.race([ready, soon]).then(() => root && render(<App />, root));
