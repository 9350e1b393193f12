const PATHS = {
  menu: "M3 6h18M3 12h18M3 18h18",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l5 5",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  moon: "M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z",
  system: "M3 5h18v11H3zM8 20h8M12 16v4",
  dataset: "M4 5h16v14H4zM4 10h16M10 10v9",
  table: "M12 4c4.4 0 8 1.3 8 3s-3.6 3-8 3-8-1.3-8-3 3.6-3 8-3M4 7v10c0 1.7 3.6 3 8 3s8-1.3 8-3V7M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
  stream: "M3 8c3-4 6 4 9 0s6 4 9 0M3 16c3-4 6 4 9 0s6 4 9 0",
  function: "M14 4h-1.5C10.5 4 10 5.5 9.7 7.5L8.3 17c-.3 2-1 3-3 3H4M6 10h8M14 13l5 6M19 13l-5 6",
  query: "M4 6l5 6-5 6M12 18h8",
  catalog: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  graphql: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 3l8 13.5H4z",
  exports: "M12 4v11M7 11l5 5 5-5M4 20h16",
  operations: "M3 13h4l3-8 4 14 3-6h4",
  docs: "M6 3h9l4 4v14H6zM9 12h7M9 16h7",
  close: "M5 5l14 14M19 5L5 19",
  filter: "M4 5h16l-6 8v6l-4-2v-4z",
  columns: "M4 5h16v14H4zM9.5 5v14M14.5 5v14",
  plus: "M12 5v14M5 12h14",
  chart: "M4 20V10M10 20V4M16 20v-7M21 20H3",
  expand: "M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7",
  back: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  link: "M10 14l10-10M14 4h6v6M18 14v6H4V6h6",
} as const;

/** The name of a drawing. */
export type IconName = keyof typeof PATHS;

/** A drawing beside a text or in a button that has a label; readers of screens skip it. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
