import { type Catalog, type Entry, namedOf } from "../catalog";
import { placeColumns } from "../chart/settings";
import { isNumeric, kindOf } from "../column_type";
import { Icon, type IconName } from "../icon";
import { pageUrl } from "../router";

/** Beyond that a chart has too much to choose from to begin with. */
const MOST_COLUMNS = 50;

interface Start {
  icon: IconName;
  label: string;
  target: string;
  url: string;
}

/** One step into each thing the console does, with what is served here. */
export function Starts({ all }: { all: Catalog }) {
  return (
    <nav aria-label="Ways to begin">
      <ul class="starts">
        {startsOf(all).map(({ icon, label, target, url }) => (
          <li key={label}>
            <a href={url}>
              <Icon name={icon} size={18} />
              <span>
                {label}
                <bdi class="muted">{target}</bdi>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function startsOf(all: Catalog): Start[] {
  const ready = [...all.entries.values()].filter(({ state }) => state === "ready");
  const numbers = ({ columns }: Entry) => columns.filter(({ type }) => isNumeric(kindOf(type))).length;
  const drawn = ready.filter(({ kind, rows, columns }) => kind === "dataset" && rows && columns.length <= MOST_COLUMNS).sort((a, b) => Number(placeColumns(b.columns) !== null) - Number(placeColumns(a.columns) !== null) || numbers(b) - numbers(a))[0];
  const table = ready.filter(({ kind }) => kind === "table").sort((a, b) => b.columns.length - a.columns.length)[0];
  const stream = [...all.streams][0];
  const file = all.functions.find((one) => namedOf(one).length > 0);
  const [call] = file ? namedOf(file) : [];
  const starts: (Start | null | undefined)[] = [
    drawn && { icon: "chart", label: "Draw a chart", target: drawn.name, url: `${pageUrl("entry", drawn.name)}?tab=chart` },
    table && { icon: "table", label: "Open a table", target: table.name, url: pageUrl("entry", table.name) },
    stream !== undefined ? { icon: "stream", label: "Send an event", target: stream, url: pageUrl("stream", stream) } : null,
    file && call && { icon: "function", label: "Call a function", target: `${file.name}/${call.function}`, url: pageUrl("function", file.name, call.function) },
    { icon: "query", label: "Ask in SQL", target: "all of it, joined", url: pageUrl("sql") },
  ];
  return starts.filter((start) => start !== null && start !== undefined);
}
