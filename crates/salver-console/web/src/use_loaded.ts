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
  const [state, setState] = useState<{ data: T | null; error: unknown; loaded: string | null }>({ data: null, error: null, loaded: null });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  // Not `useEffect`, which would let the browser paint first: on a slow machine that takes longer than the answer.
  useLayoutEffect(() => {
    if (key === null) {
      setState({ data: null, error: null, loaded: null });
      return;
    }
    const controller = new AbortController();
    const loaded = `${turn} ${key}`;
    latest.current(controller.signal).then(
      (data) => !controller.signal.aborted && setState({ data, error: null, loaded }),
      (error: unknown) => !controller.signal.aborted && setState((before) => ({ data: before.data, error, loaded })),
    );
    return () => controller.abort();
  }, [key, turn]);
  // Told of the key that is asked for now, and not by a state that follows with the next drawing.
  const loading = key !== null && state.loaded !== `${turn} ${key}`;
  return { data: state.data, error: state.error, loading, reload: useCallback(() => setTurn((before) => before + 1), []) };
}
