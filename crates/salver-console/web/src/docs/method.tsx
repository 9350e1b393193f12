/** The method of an operation, in its colour. */
export function Method({ method }: { method: string }) {
  return <span class={`docs-method ${method}`}>{method === "delete" ? "DEL" : method.toUpperCase()}</span>;
}
