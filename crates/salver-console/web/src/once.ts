/**
 * What `make` gives, made when it is first asked for. For formats of `Intl` in files that every page loads: the first of
 * them takes a browser longer than all the rest of the files.
 */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
