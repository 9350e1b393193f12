import { useEffect, useMemo, useState } from "preact/hooks";
import { ChartPanel } from "../chart/panel";
import type { ChartSettings } from "../chart/settings";
import { CopyButton } from "../copy_button";
import { parseData, type Value, writeData } from "../data_json";
import { Grid } from "../grid/grid";
import { JsonTree } from "../grid/json_tree";
import { visibleText } from "../grid/value";
import type { Answer } from "./call";
import { tableOf } from "./table";

type View = "table" | "chart" | "tree" | "text" | "headers";
const LABELS: Record<View, string> = { table: "Table", chart: "Chart", tree: "Tree", text: "Text", headers: "Headers" };

/** What was answered: as a table, a chart, a tree, a text or a picture, whichever there can be. */
export function AnswerView({ answer, name }: { answer: Answer; name: string }) {
  const data = useMemo(() => dataOf(answer), [answer]);
  const table = useMemo(() => tableOf(data), [data]);
  const [chosen, setChosen] = useState<View | null>(null);
  const [chart, setChart] = useState<ChartSettings | null>(null);
  const views: View[] = [...(table ? (["table", "chart"] as const) : []), ...(data !== undefined ? (["tree"] as const) : []), ...(answer.text !== null ? (["text"] as const) : []), "headers"];
  const view = chosen !== null && views.includes(chosen) ? chosen : (table?.isAside ? "tree" : (views[0] ?? "headers"));
  const isPicture = answer.mediaType.startsWith("image/");
  return (
    <section class="answer" aria-label="Answer">
      <div class="row" role="status">
        <span class={`badge ${answer.status < 400 ? "good" : "bad"}`}>{answer.status}</span>
        <span class="muted">
          {answer.mediaType || "no body"} · {size(answer.blob.size)} · {answer.ms.toFixed(answer.ms < 10 ? 1 : 0)} ms
        </span>
        {answer.cut && <span class="badge warn">only the beginning</span>}
        <span class="spring" />
        <div class="tabs" role="group" aria-label="View of the answer">
          {views.map((known) => (
            <button key={known} type="button" class="tab" aria-pressed={known === view && !(isPicture && chosen === null)} onClick={() => setChosen(known)}>
              {LABELS[known]}
            </button>
          ))}
        </div>
        {answer.text !== null && <CopyButton text={answer.text} />}
        <Download answer={answer} name={name} />
      </div>
      {isPicture && <Picture blob={answer.blob} name={name} />}
      {view === "table" && table && <Grid label="Answer" columns={table.columns} rows={table.rows} empty="No rows." height="28rem" />}
      {view === "chart" && table && <ChartPanel columns={table.columns} rows={table.rows} settings={chart} onSettings={setChart} />}
      {view === "tree" && data !== undefined && (
        <div class="card answer-tree">
          <JsonTree value={data} open={3} />
        </div>
      )}
      {view === "text" && (
        <pre class="code" dir="auto" tabIndex={0}>
          {textOf(answer, data)}
        </pre>
      )}
      {view === "headers" && chosen === "headers" && (
        <dl class="card facts">
          {answer.headers.map(([header, value]) => (
            <>
              <dt>
                <code>{header}</code>
              </dt>
              <dd>
                <code>{value}</code>
              </dd>
            </>
          ))}
        </dl>
      )}
    </section>
  );
}

/** The data of an answer in JSON, or in JSON line by line; undefined for anything else. */
function dataOf(answer: Answer): Value | undefined {
  if (answer.text === null || answer.cut) return undefined;
  try {
    if (/ndjson|jsonl|json-?seq/.test(answer.mediaType)) {
      return answer.text
        .split("\n")
        .filter((line) => line.trim())
        .map(parseData);
    }
    return /json/.test(answer.mediaType) ? parseData(answer.text) : undefined;
  } catch {
    return undefined;
  }
}

const SHOWN_MAX = 200_000;

function textOf(answer: Answer, data: Value | undefined): string {
  const text = data === undefined || Array.isArray(data) ? (answer.text ?? "") : writeData(data, 2);
  const shown = text.slice(0, SHOWN_MAX);
  // Line ends and tabs are shown as such here, other characters without a picture as their symbols.
  return shown.split(/([\n\t])/).map((part) => (part === "\n" || part === "\t" ? part : visibleText(part))).join("") + (text.length > SHOWN_MAX ? "\n…" : "");
}

function Picture({ blob, name }: { blob: Blob; name: string }) {
  const url = useObjectUrl(blob);
  return url ? <img class="answer-picture" src={url} alt={`What ${name} answered`} /> : null;
}

function Download({ answer, name }: { answer: Answer; name: string }) {
  const url = useObjectUrl(answer.blob);
  const suffix = answer.mediaType.split("/")[1]?.replace(/^x-|\+.*$/g, "") ?? "bin";
  return url && answer.blob.size > 0 && !answer.cut ? (
    <a class="button small" href={url} download={`${name}.${suffix === "plain" ? "txt" : suffix}`}>
      Download
    </a>
  ) : null;
}

function useObjectUrl(blob: Blob): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url;
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
