import { signal } from "@preact/signals";

const KEPT = "salver.theme";

/** `system` follows the device. */
export type Theme = "system" | "light" | "dark";

/** The theme that was chosen. */
export const theme = signal<Theme>(readTheme());

function readTheme(): Theme {
  const kept = localStorage.getItem(KEPT);
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** Puts the theme on the page. */
export function applyTheme(): void {
  if (theme.value === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = theme.value;
}

/** Goes to the next theme, and keeps it for later visits. */
export function nextTheme(): void {
  theme.value = theme.value === "system" ? "light" : theme.value === "light" ? "dark" : "system";
  if (theme.value === "system") localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, theme.value);
  applyTheme();
}
