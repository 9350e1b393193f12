import { useEffect, useState } from "preact/hooks";
import { apiPath, fetchJson, send } from "../api";
import { ErrorNote } from "../error_note";
import { type Answer, JOB, isOver, type Job, jobAnswer } from "./call";

interface JobPanelProps {
  id: string;
  onAnswer: (answer: Answer) => void;
  /** The job was removed. */
  onGone: () => void;
}

const TONES: Record<Job["state"], string> = { queued: "warn", running: "accent", done: "good", failed: "bad" };

/** An asynchronous call: its state while it waits and runs, and a way to end it. */
export function JobPanel({ id, onAnswer, onGone }: JobPanelProps) {
  const [job, setJob] = useState<Job | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [now, setNow] = useState(Date.now);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const follow = async () => {
      let known = await fetchJson(apiPath("jobs", id), JOB, signal);
      setJob(known);
      while (!isOver(known)) {
        known = await fetchJson({ path: apiPath("jobs", id), headers: { Prefer: "wait=20" } }, JOB, signal);
        setJob(known);
      }
      onAnswer(await jobAnswer(known, signal));
    };
    follow().catch((failure: unknown) => {
      if (!signal.aborted) setError(failure);
    });
    const timer = setInterval(() => setNow(Date.now()), 200);
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [id]);

  const remove = async () => {
    try {
      await send({ method: "DELETE", path: apiPath("jobs", id) });
      onGone();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <div class="card job">
      <div class="row">
        <b>Job</b>
        <code>{id}</code>
        {job && <span class={`badge ${TONES[job.state]}`}>{job.state}</span>}
        {job && <span class="muted">{timing(job, now)}</span>}
        <span class="spring" />
        <button type="button" class={`button small${job && !isOver(job) ? " danger" : ""}`} onClick={() => void remove()}>
          {job && isOver(job) ? "Remove" : "Cancel"}
        </button>
      </div>
      {job && !isOver(job) && <progress aria-label="The job is on its way" />}
      <ErrorNote error={error} />
    </div>
  );
}

function timing(job: Job, now: number): string {
  const seconds = (from: string, to: number) => `${(Math.max(0, to - Date.parse(from)) / 1000).toFixed(1)} s`;
  if (job.started) return `ran for ${seconds(job.started, job.finished ? Date.parse(job.finished) : now)}`;
  return job.created ? `has waited for ${seconds(job.created, now)}` : "";
}
