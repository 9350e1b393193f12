import { useState } from "preact/hooks";
import { ExactNumber, type Value } from "../data_json";
import { visibleText } from "./value";

const SHOWN_MEMBERS = 200;
const SHOWN_CHARACTERS = 2000;

/** A nested value whose lists and objects open and close. */
export function JsonTree({ value, open = 2 }: { value: Value; open?: number }) {
  if (value === null) return <span class="null">NULL</span>;
  if (typeof value === "string") return <JsonText text={value} />;
  if (value instanceof ExactNumber || typeof value !== "object") return <span class="json-number">{String(value)}</span>;
  const members: [string, Value][] = Array.isArray(value) ? value.map((item, index) => [String(index), item]) : [...value];
  const [before, after] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (members.length === 0) return <span>{before + after}</span>;
  return (
    <details class="json-branch" open={open > 0}>
      <summary>
        {before} <span class="json-count">{members.length}</span> {after}
      </summary>
      <ul>
        {members.slice(0, SHOWN_MEMBERS).map(([name, item]) => (
          <li key={name}>
            <bdi class="json-name">{name}</bdi>: <JsonTree value={item} open={open - 1} />
          </li>
        ))}
        {members.length > SHOWN_MEMBERS && <li class="json-count">… and {members.length - SHOWN_MEMBERS} more</li>}
      </ul>
    </details>
  );
}

/** A text, cut where it is very long until somebody wants to see the whole. */
function JsonText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const more = whole ? 0 : text.length - SHOWN_CHARACTERS;
  return (
    <>
      <bdi class="json-string">{JSON.stringify(visibleText(more > 0 ? text.slice(0, SHOWN_CHARACTERS) : text))}</bdi>
      {more > 0 && (
        <button type="button" class="button small" onClick={() => setWhole(true)}>
          … {more.toLocaleString("en")} more characters
        </button>
      )}
    </>
  );
}
