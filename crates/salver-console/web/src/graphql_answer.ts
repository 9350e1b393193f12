import { fetchJson } from "./api";
import { type Shape, object } from "./shape";

/** Sends a document to GraphQL, and gives the data of the answer, in the shape that the document asks for. */
export async function graphqlAnswer<T>(query: string, data: Shape<T>, signal?: AbortSignal): Promise<T> {
  const request = { method: "POST", path: "api/graphql", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ query }) };
  return (await fetchJson(request, object<{ data: T }>({ data } as never), signal)).data;
}
