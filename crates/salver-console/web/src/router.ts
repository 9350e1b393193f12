import { computed, signal } from "@preact/signals";

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

/** Goes to a URL of the console. `replace` leaves no step in the history, as for what is typed. */
export function navigate(url: string, options: { replace?: boolean } = {}): void {
  const before = path.peek();
  if (options.replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
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
