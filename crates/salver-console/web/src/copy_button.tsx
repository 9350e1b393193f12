import { useEffect, useState } from "preact/hooks";

/** A button that copies a text, and says so for a moment. */
export function CopyButton({ text, label = "Copy" }: { text: string | (() => string); label?: string }) {
  const [copied, setCopied] = useState<"no" | "yes" | "failed">("no");
  useEffect(() => {
    if (copied === "no") return;
    const timer = setTimeout(() => setCopied("no"), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => setCopied((await copyText(typeof text === "function" ? text() : text)) ? "yes" : "failed");
  return (
    <button type="button" class="button small" onClick={copy} aria-live="polite">
      {copied === "yes" ? "Copied" : copied === "failed" ? "Not copied" : label}
    </button>
  );
}

/** Copies a text, also over plain http, where browsers have no clipboard. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "visually-hidden";
    const focused = document.activeElement;
    // Behind an open dialog nothing can be selected.
    (focused?.closest("dialog") ?? document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    return done;
  }
}
