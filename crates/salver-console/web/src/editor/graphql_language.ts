import type { Extension } from "@codemirror/state";
import { graphql } from "cm6-graphql";
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from "graphql";
import { fetchJson } from "../api";

/** GraphQL, with completion and checks by the server's schema. */
export async function graphqlLanguage(): Promise<Extension> {
  const answer = await fetchJson<{ data: IntrospectionQuery }>({
    method: "POST",
    path: "api/graphql",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ query: getIntrospectionQuery() }),
  });
  return graphql(buildClientSchema(answer.data));
}
