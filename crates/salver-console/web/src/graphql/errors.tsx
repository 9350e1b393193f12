/** An error of a document. */
export interface GraphqlError {
  message: string;
  hint: string | null;
  line: number;
  column: number;
}

/** What an answer of GraphQL has of errors. */
interface RawError {
  message?: unknown;
  extensions?: { hint?: unknown };
  locations?: { line: number; column: number }[];
}

/** The errors in the body of an answer. */
export function errorsOf(body: unknown): GraphqlError[] {
  if (typeof body !== "object" || body === null || !("errors" in body) || !Array.isArray(body.errors)) return [];
  return (body.errors as RawError[]).map(({ message, extensions, locations }) => ({
    message: String(message ?? "error"),
    hint: typeof extensions?.hint === "string" ? extensions.hint : null,
    line: locations?.[0]?.line ?? 0,
    column: locations?.[0]?.column ?? 0,
  }));
}

/** Errors of a document, each with its hint and its place. */
export function GraphqlErrors({ errors }: { errors: GraphqlError[] }) {
  return (
    <div class="note error" role="alert">
      {errors.map(({ message, hint, line, column }, index) => (
        <p key={index}>
          <bdi>{message}</bdi>
          {line > 0 && ` at line ${line}, column ${column}`}
          {hint !== null && (
            <span class="note-fine">
              {" "}
              <bdi>{hint}</bdi>
            </span>
          )}
        </p>
      ))}
    </div>
  );
}
