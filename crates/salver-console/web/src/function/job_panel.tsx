import { useEffect, useRef, useState } from "preact/hooks";
import { apiPath, fetchJson, send } from "../api";
import { ErrorNote } from "../error_note";
import { type Answer, JOB, isOver, type Job, jobAnswer } from "./call";

interface JobPanelProps {
  id: string;
  onAnswer: (answer: Answer) => void;
  /** The job was removed, or ended before it was over. */
  onGone: (end: "removed" | "cancelled") => void;
}

const TONES: Record<Job["state"], string> = { queued: "warn", running: "accent", done: "good", failed: "bad" };

/** An asynchronous call: its state while it waits and runs, and a way to end it. */
export function JobPanel({ id, onAnswer, onGone }: JobPanelProps) {
  const [job, setJob] = useState<Job | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [now, setNow] = useState(Date.now);
  const [cancelling, setCancelling] = useState(false);
  const [turn, setTurn] = useState(0);
  const following = useRef<AbortController | null>(null);

  useEffect(() => {
    const controller = new AbortController();
    following.current = controller;
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
  }, [id, turn]);

  const over = job !== null && isOver(job);
  const remove = async () => {
    setError(null);
    setCancelling(!over);
    // A browser sends one request after the other for the same address, and the one that follows the job waits long.
    following.current?.abort();
    try {
      await send({ method: "DELETE", path: apiPath("jobs", id) });
      onGone(over ? "removed" : "cancelled");
    } catch (failure) {
      setError(failure);
      setCancelling(false);
      if (!over) setTurn(turn + 1);
    }
  };
  return (
    <div class="card job">
      <div class="row">
        <b>Job</b>
        <code>{id}</code>
        {cancelling ? <span class="badge warn">cancelling</span> : job && <span class={`badge ${TONES[job.state]}`}>{job.state}</span>}
        {job && <span class="muted">{timing(job, now)}</span>}
        <span class="spring" />
        <button key={over ? "remove" : "cancel"} type="button" class={`button small${over ? "" : " danger"}`} disabled={cancelling} onClick={() => void remove()}>
          {over ? "Remove" : "Cancel"}
        </button>
      </div>
      {job && !over && <progress aria-label="The job is on its way" />}
      <ErrorNote error={error} />
    </div>
  );
}

function timing(job: Job, now: number): string {
  const seconds = (from: string, to: number) => `${(Math.max(0, to - Date.parse(from)) / 1000).toFixed(1)} s`;
  if (job.started) return `ran for ${seconds(job.started, job.finished ? Date.parse(job.finished) : now)}`;
  return job.created ? `has waited for ${seconds(job.created, now)}` : "";
}
