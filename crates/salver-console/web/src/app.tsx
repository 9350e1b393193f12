import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./api";
import { CatalogScreen } from "./catalog/screen";
import { ErrorScreen } from "./error_note";
import { Sidebar } from "./layout/sidebar";
import { Topbar } from "./layout/topbar";
import { pageUrl, path } from "./router";
import { SCREENS, type ScreenProps } from "./screens";
import { LogOutFault } from "./session/log_out_fault";
import { LoginDialog } from "./session/login_dialog";

/** The whole page: bar, navigation, and the screen of the path. */
export function App() {
  const [open, setOpen] = useState(false);
  return (
    <div class={`app${open ? " nav-open" : ""}`}>
      <a class="skip" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <Topbar open={open} onToggle={() => setOpen(!open)} />
      <Guarded>
        <Sidebar onNavigate={() => setOpen(false)} />
      </Guarded>
      <main id="main" class="main" tabIndex={-1}>
        <CurrentScreen />
      </main>
      <LoginDialog />
      <LogOutFault />
    </div>
  );
}

/** A part of the page that says so if it can't be drawn, and leaves the other parts as they are. */
function Guarded({ children }: { children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary();
  if (!error) return <>{children}</>;
  const why = error instanceof Error ? error.message : String(error);
  const hint = `The reason is "${why}". Try again; if it stays so, please report it with the address of the page.`;
  return <ErrorScreen error={new ApiError(0, "page_failed", "This part of the page can't be drawn.", hint, null)} onRetry={reset} />;
}

function focusMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** The screen of the path: its name, which is empty for the catalog, and the parts behind it. */
function screenOf(path: string): { key: string; name: string | undefined; rest: string[] } {
  const [, name, ...rest] = path.split("/").map(decodeURIComponent);
  const isRow = name === "entry" && rest[1] === "row";
  return { key: path === "" ? "" : isRow ? "row" : (name ?? ""), name, rest };
}

/** A screen that is loaded, and its name. */
interface LoadedScreen {
  key: string;
  view: ComponentType<ScreenProps>;
}

/** The screen that is shown first, if it is loaded before the page is drawn. */
let firstScreen: LoadedScreen | null = null;

/** Loads the screen that will be shown first. */
export async function preloadScreen(): Promise<void> {
  const { key } = screenOf(path.value);
  // Should it fail, it fails again where it can be told.
  const module = await SCREENS[key]?.().catch(() => undefined);
  if (module) firstScreen = { key, view: module.default };
}

function CurrentScreen() {
  const { key, name, rest } = screenOf(path.value);
  const [screen, setScreen] = useState(firstScreen);
  const [error, setError] = useState<unknown>(null);

  useLayoutEffect(() => {
    setError(null);
    const load = SCREENS[key];
    if (!load || screen?.key === key) return;
    let wanted = true;
    load().then(
      (module) => wanted && setScreen({ key, view: module.default }),
      () => wanted && setError(new ApiError(0, "page_not_loaded", "The files of this page could not be loaded.", "The server can't be reached, or it is another version now. Load the page again.", null)),
    );
    return () => {
      wanted = false;
    };
  }, [key]);

  const shown = useRef(path.value);
  useEffect(() => {
    // Readers of screens go on at the new screen, as after the load of a page.
    if (shown.current !== path.value) document.getElementById("main")?.focus({ preventScroll: true });
    shown.current = path.value;
    document.title = path.value === "" ? "Salver" : `${rest[0] ?? name ?? ""} · Salver`;
  }, [path.value]);

  if (key === "") {
    return (
      <Guarded key="">
        <CatalogScreen />
      </Guarded>
    );
  }
  if (!SCREENS[key]) {
    return (
      <section class="screen">
        <h1>There is no such page</h1>
        <p>
          <a href={pageUrl()}>Everything that is served</a>
        </p>
      </section>
    );
  }
  if (error) return <ErrorScreen error={error} onRetry={() => location.reload()} />;
  if (screen?.key !== key) return <p class="loading">Loading…</p>;
  const View = screen.view;
  return (
    <Guarded key={`${key}/${rest.join("/")}`}>
      <View parts={rest} />
    </Guarded>
  );
}
