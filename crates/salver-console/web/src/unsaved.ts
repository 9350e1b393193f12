import { useLayoutEffect } from "preact/hooks";

/** How many parts of the page have something that would be lost with them. */
let parts = 0;

/** The browser asks before it closes or loads the page again. */
const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();

function add(change: 1 | -1): void {
  parts += change;
  // Not always there: pages with it don't come back from the memory of the browser.
  if (parts > 0) window.addEventListener("beforeunload", onUnload);
  else window.removeEventListener("beforeunload", onUnload);
}

/** Whether something was typed on the page that is not saved. */
export function hasUnsaved(): boolean {
  return parts > 0;
}

/** Whether a person wants to leave what is shown: asks where something was typed that is not saved. */
export function mayLeave(): boolean {
  return parts === 0 || confirm("What you typed is not saved. Leave it, and lose that?");
}

/** Lets the page go without a question, as for who may no longer see it. */
export function loseUnsaved(): void {
  window.removeEventListener("beforeunload", onUnload);
}

/** Says whether this part of the page has something that would be lost with it. */
export function useUnsaved(isUnsaved: boolean): void {
  // Not after the paint: the next key or click may be the one that leaves.
  useLayoutEffect(() => {
    if (!isUnsaved) return;
    add(1);
    return () => add(-1);
  }, [isUnsaved]);
}
