import "./styles/theme.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/controls.css";
import "./styles/grid.css";
import { render } from "preact";
import { App, preloadScreen } from "./app";
import { loadCatalog } from "./catalog";
import { applyTheme } from "./layout/theme";
import { startRouter } from "./router";
import { loadSession } from "./session/session";

applyTheme();
startRouter();
void preloadScreen();
void loadSession();
void loadCatalog();

const root = document.getElementById("app");
if (root) render(<App />, root);
