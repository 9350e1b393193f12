import { computed, signal } from "@preact/signals";
import { mayLeave } from "./unsaved";

/** Where the page is: the path below the base of the server, without a leading slash, and the query. */
export interface Place {
  path: string;
  query: URLSearchParams;
}

const base = new URL(document.baseURI).pathname;

function read(): Place {
  const path = location.pathname.startsWith(base) ? location.pathname.slice(base.length) : location.pathname;
  return { path: path.replace(/^\/+|\/+$/g, ""), query: new URLSearchParams(location.search) };
}

/** The place that is shown. Reading it in a component draws the component again when it changes. */
export const place = signal<Place>(read());

/** The path alone, for what does not depend on the query. */
export const path = computed(() => place.value.path);

/** The URL of a page of the console, from parts that are encoded here: `pageUrl("entry", name)`. No parts: the catalog. */
export function pageUrl(...parts: string[]): string {
  return parts.length === 0 ? base : `${base}console/${parts.map(encodeURIComponent).join("/")}`;
}

/** Whether another address shows something else in place of what is there, and not the same otherwise. */
export function isElsewhere(from: URL, to: URL): boolean {
  return from.pathname !== to.pathname || ["tab", "key"].some((name) => from.searchParams.getAll(name).join("\u0000") !== to.searchParams.getAll(name).join("\u0000"));
}

/** The address of what is shown, which is not the browser's once a step back is on its way. */
let shown = location.href;

/** Goes to a URL of the console. `replace` leaves no step in the history, as for what is typed. */
export function navigate(url: string, options: { replace?: boolean } = {}): void {
  const before = path.peek();
  const next = new URL(url, location.href);
  if (isElsewhere(new URL(shown), next) && !mayLeave()) return;
  // What was typed on a step stays with it.
  if (options.replace) history.replaceState(history.state, "", url);
  else history.pushState(null, "", url);
  shown = next.href;
  place.value = read();
  if (path.peek() !== before) window.scrollTo(0, 0);
}

/** Changes parameters of the query and keeps the others; `null` removes one. */
export function setQuery(changes: Record<string, string | string[] | null>, options: { replace?: boolean } = {}): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const one of Array.isArray(value) ? value : value === null ? [] : [value]) query.append(name, one);
  }
  const text = query.toString();
  navigate(location.pathname + (text ? `?${text}` : ""), options);
}

/** Takes clicks on links of the console, so that they need no load of a page; others are left to the browser. */
export function startRouter(): void {
  window.addEventListener("popstate", () => {
    if (isElsewhere(new URL(shown), new URL(location.href)) && !mayLeave()) {
      // The step is taken already, and the way to undo it is one more.
      history.pushState(null, "", shown);
      return;
    }
    shown = location.href;
    place.value = read();
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (link.pathname !== base && !link.pathname.startsWith(`${base}console/`)) return;
    event.preventDefault();
    navigate(link.href);
  });
}
