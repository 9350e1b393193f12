import { useEffect, useRef, useState } from "preact/hooks";
import { type Catalog, type Entry, catalog, databaseOf, namedOf } from "../catalog";
import { Icon, type IconName } from "../icon";
import { compactNumber } from "../number_text";
import { pageUrl, path, place } from "../router";

interface Item {
  label: string;
  url: string;
  icon: IconName;
  note?: string;
  failed?: boolean;
}

const PAGES: Item[] = [
  { label: "Catalog", url: pageUrl(), icon: "catalog" },
  { label: "SQL", url: pageUrl("sql"), icon: "query" },
  { label: "GraphQL", url: pageUrl("graphql"), icon: "graphql" },
  { label: "Exports", url: pageUrl("exports"), icon: "exports" },
  { label: "Operations", url: pageUrl("operations"), icon: "operations" },
  { label: "API reference", url: pageUrl("docs"), icon: "docs" },
];

/** The navigation: the pages, and everything of the catalog, with a search over all names. */
export function Sidebar({ onNavigate }: { onNavigate: () => void }) {
  const [search, setSearch] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const here = decodeURI(path.value);

  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== "/" || event.ctrlKey || event.metaKey || target.closest("input, textarea, select, [contenteditable]")) return;
      event.preventDefault();
      input.current?.focus();
    };
    window.addEventListener("keydown", focus);
    return () => window.removeEventListener("keydown", focus);
  }, []);

  const groups = catalog.value ? groupsOf(catalog.value, search.trim().toLowerCase()) : [];
  const shownQuery = place.value.query.get("query");
  const isHere = (url: string) => (!url.includes("?query=") || (shownQuery !== null && url.endsWith(queryPart(shownQuery)))) && decodeURI(new URL(url, document.baseURI).pathname).endsWith(here) && (here !== "" || url === pageUrl());
  return (
    <nav class="sidebar" aria-label="Console" onClick={(event) => (event.target as Element).closest("a") && onNavigate()}>
      <ul class="nav-list">
        {PAGES.map((item) => (
          <NavLink key={item.url} item={item} current={isHere(item.url)} />
        ))}
      </ul>
      <div class="nav-search">
        <Icon name="search" size={14} />
        <input
          ref={input}
          type="search"
          placeholder="Find data or function"
          aria-label="Find data or function"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <kbd>/</kbd>
      </div>
      {groups.map(({ title, items }) => (
        <section key={title}>
          <h2>{title}</h2>
          <ul class="nav-list">
            {items.map((item) => (
              <NavLink key={item.url} item={item} current={isHere(item.url)} />
            ))}
          </ul>
        </section>
      ))}
      {(catalog.value?.faults.size ?? 0) > 0 && (
        <p class="nav-empty">
          Not everything could be read: <a href={pageUrl()}>why</a>
        </p>
      )}
      {catalog.value && search && groups.length === 0 && <p class="nav-empty">Nothing is called that.</p>}
    </nav>
  );
}

const queryPart = (name: string) => `?query=${encodeURIComponent(name)}`;

function NavLink({ item, current }: { item: Item; current: boolean }) {
  return (
    <li>
      <a href={item.url} aria-current={current ? "page" : undefined}>
        <Icon name={item.icon} size={15} />
        <bdi class="nav-label">{item.label}</bdi>
        {item.failed ? <span class="badge bad">failed</span> : item.note && <span class="nav-note">{item.note}</span>}
      </a>
    </li>
  );
}

function groupsOf(all: Catalog, search: string): { title: string; items: Item[] }[] {
  const groups = new Map<string, Item[]>();
  const add = (title: string, item: Item) => {
    if (search && !item.label.toLowerCase().includes(search)) return;
    groups.set(title, [...(groups.get(title) ?? []), item]);
  };
  const entries = [...all.entries.values()].sort((a, b) => a.name.localeCompare(b.name));
  for (const entry of entries.filter(({ kind }) => kind !== "table" && kind !== "stream")) add("Datasets", entryItem(entry));
  for (const entry of entries.filter(({ kind }) => kind === "table")) add(`Database ${databaseOf(entry) ?? ""}`.trim(), entryItem(entry));
  for (const entry of entries.filter(({ kind }) => kind === "stream")) {
    add("Streams", all.streams.has(entry.name) ? { ...entryItem(entry), url: pageUrl("stream", entry.name) } : entryItem(entry));
  }
  // Who may append to a stream and not read it has it in the list of streams alone.
  for (const name of all.streams) if (!all.entries.has(name)) add("Streams", { label: name, icon: "stream", url: pageUrl("stream", name) });
  for (const query of all.queries) add("Queries", { label: query.name, icon: "query", url: `${pageUrl("sql")}${queryPart(query.name)}` });
  for (const file of all.functions) {
    for (const endpoint of namedOf(file)) {
      add("Functions", { label: `${file.name}/${endpoint.function}`, icon: "function", url: pageUrl("function", file.name, endpoint.function), note: file.language });
    }
  }
  return [...groups].map(([title, items]) => ({ title, items }));
}

function entryItem(entry: Entry): Item {
  const icon: IconName = entry.kind === "table" ? "table" : entry.kind === "stream" ? "stream" : "dataset";
  return {
    label: entry.name,
    url: pageUrl("entry", entry.name),
    icon,
    note: entry.rows === null ? undefined : compactNumber(entry.rows),
    failed: entry.state === "failed",
  };
}
