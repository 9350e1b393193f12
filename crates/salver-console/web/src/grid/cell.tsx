import { ExactNumber, type Value } from "../data_json";
import { cellText } from "./value";

/** The content of a cell. Data is only ever text here, never markup. */
export function CellContent({ value, link, onOpen }: { value: Value; link?: string | undefined; onOpen?: () => void }) {
  if (value === null) return <span class="null">NULL</span>;
  if (typeof value === "string" && /^ *$/.test(value)) {
    const blank = <span class="empty-text">{value === "" ? "empty" : value.length === 1 ? "1 space" : `${value.length} spaces`}</span>;
    return link ? <a href={link}>{blank}</a> : blank;
  }
  if (typeof value === "boolean") return <span class={`bool ${value}`}>{String(value)}</span>;
  const { text, more } = cellText(value);
  const shown =
    typeof value === "number" || value instanceof ExactNumber ? (
      <span class="cell-text">{text}</span>
    ) : (
      <bdi class="cell-text">
        {text}
        {more && typeof value === "string" && "…"}
      </bdi>
    );
  return (
    <>
      {link ? <a href={link}>{shown}</a> : shown}
      {more && onOpen && (
        <button
          type="button"
          class="cell-more"
          tabIndex={-1}
          aria-label="Show the whole value"
          title="Show the whole value"
          onClick={(event) => {
            event.stopPropagation();
            onOpen();
          }}
        >
          ⋯
        </button>
      )}
    </>
  );
}
