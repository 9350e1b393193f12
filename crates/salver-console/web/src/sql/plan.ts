/** A step of a plan, with the steps it reads from. */
export interface Step {
  name: string;
  /** What the step does, as the server writes it. */
  detail: string;
  /** What `EXPLAIN ANALYZE` measured, in its order. */
  metrics: [string, string][];
  inputs: Step[];
}

/** Steps that are in every plan for the server's own sake, and tell a reader nothing. */
const PLUMBING = new Set(["CheckpointExec", "WideRowsExec", "CooperativeExec"]);

function parseStep(line: string): Step {
  const measured = /,? metrics=\[(.*)\]$/.exec(line);
  const text = (measured ? line.slice(0, measured.index) : line).trim();
  const colon = text.indexOf(":");
  const metrics = (measured?.[1] ?? "")
    .split(/, (?=\w+=)/)
    .filter(Boolean)
    .map((metric): [string, string] => {
      const equals = metric.indexOf("=");
      return [metric.slice(0, equals), metric.slice(equals + 1)];
    });
  const name = colon < 0 ? text : text.slice(0, colon);
  return { name, detail: colon < 0 ? "" : text.slice(colon + 1).trim(), metrics, inputs: [] };
}

function withoutPlumbing(steps: Step[]): Step[] {
  return steps.flatMap((step) => {
    const inputs = withoutPlumbing(step.inputs);
    return PLUMBING.has(step.name) ? inputs : [{ ...step, inputs }];
  });
}

/** Reads a plan, in which each step is indented below the one that reads it. */
export function parsePlan(text: string): Step[] {
  const roots: Step[] = [];
  const open: { indent: number; step: Step }[] = [];
  for (const line of text.split("\n")) {
    if (!line.trim()) continue;
    const indent = line.length - line.trimStart().length;
    while (open.length && (open.at(-1)?.indent ?? 0) >= indent) open.pop();
    const step = parseStep(line);
    (open.at(-1)?.step.inputs ?? roots).push(step);
    open.push({ indent, step });
  }
  return withoutPlumbing(roots);
}
