import type { Step } from "./plan";

/** A plan as a tree: each step reads from those below it. */
export function PlanView({ steps }: { steps: Step[] }) {
  const total = steps.reduce((sum, step) => sum + timeOf(step), 0);
  return (
    <div class="card plan" tabIndex={0} role="region" aria-label="Plan">
      <Steps steps={steps} total={total} />
    </div>
  );
}

function Steps({ steps, total }: { steps: Step[]; total: number }) {
  return (
    <ul>
      {steps.map((step, index) => (
        <li key={index}>
          <div class="plan-step">
            <b>{step.name.replace(/Exec$/, "")}</b>
            <bdi class="plan-detail">{step.detail}</bdi>
            <Measures step={step} total={total} />
          </div>
          {step.inputs.length > 0 && <Steps steps={step.inputs} total={total} />}
        </li>
      ))}
    </ul>
  );
}

const SHOWN = ["output_rows", "elapsed_compute", "selectivity", "spilled_bytes"];

function Measures({ step, total }: { step: Step; total: number }) {
  if (!step.metrics.length) return null;
  const shown = step.metrics.filter(([name, value]) => SHOWN.includes(name) && !/^0(\.0)? ?B?$/.test(value));
  const share = total ? ownTime(step) / total : 0;
  return (
    <span class="plan-measures" title={step.metrics.map(([name, value]) => `${name} = ${value}`).join("\n")}>
      {shown.map(([name, value]) => (
        <span key={name}>
          {LABELS[name] ?? name} <b>{value}</b>
        </span>
      ))}
      {total > 0 && <meter min={0} max={1} value={share} aria-label="share of the time" />}
    </span>
  );
}

const LABELS: Record<string, string> = { output_rows: "rows", elapsed_compute: "time", selectivity: "kept", spilled_bytes: "spilled" };

const UNITS: Record<string, number> = { ns: 1e-9, "µs": 1e-6, us: 1e-6, ms: 1e-3, s: 1, m: 60 };

/** The seconds a step itself took. */
function ownTime(step: Step): number {
  const text = step.metrics.find(([name]) => name === "elapsed_compute")?.[1] ?? "";
  const match = /^([\d.]+)([a-zµ]+)$/.exec(text);
  return match ? Number(match[1]) * (UNITS[match[2] ?? ""] ?? 0) : 0;
}

function timeOf(step: Step): number {
  return ownTime(step) + step.inputs.reduce((sum, input) => sum + timeOf(input), 0);
}
