import type { ComponentChildren } from "preact";
import { type ApiRequest, requestUrl, send } from "./api";
import { apiKey } from "./credentials";

interface FileLinkProps {
  request: ApiRequest;
  /** The name of the file. */
  name: string;
  class?: string;
  onClick?: () => void;
  onError: (error: unknown) => void;
  children: ComponentChildren;
}

/** A link to a file, which the browser saves as it comes. A link can't bring a key, so with one the file goes through the page. */
export function FileLink({ request, name, class: look, onClick, onError, children }: FileLinkProps) {
  const fetchFile = async () => {
    try {
      const response = await send(request);
      saveFile(await response.blob(), name);
    } catch (failed) {
      onError(failed);
    }
  };
  return (
    <a
      class={look}
      href={requestUrl(request)}
      download={name}
      onClick={(event) => {
        onClick?.();
        if (apiKey.get() === null) return;
        event.preventDefault();
        onError(null);
        void fetchFile();
      }}
    >
      {children}
    </a>
  );
}

/** Has the browser save a file. */
export function saveFile(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
