import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";

/** What a request has brought so far. The data before stays while the next is on its way. */
export interface Loaded<T> {
  data: T | null;
  error: unknown;
  loading: boolean;
  /** Asks again. */
  reload: () => void;
}

/**
 * Loads something, again whenever `key` changes; a request that is no longer wanted is ended. `null` as the key loads
 * nothing.
 */
export function useLoaded<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ data: T | null; error: unknown; loading: boolean }>({ data: null, error: null, loading: key !== null });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  // Not `useEffect`, which would let the browser paint first: on a slow machine that takes longer than the answer.
  useLayoutEffect(() => {
    if (key === null) {
      setState({ data: null, error: null, loading: false });
      return;
    }
    const controller = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    latest.current(controller.signal).then(
      (data) => !controller.signal.aborted && setState({ data, error: null, loading: false }),
      (error: unknown) => !controller.signal.aborted && setState((before) => ({ data: before.data, error, loading: false })),
    );
    return () => controller.abort();
  }, [key, turn]);
  return { ...state, reload: useCallback(() => setTurn((before) => before + 1), []) };
}
