import type { Extension } from "@codemirror/state";
import { graphql } from "cm6-graphql";
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from "graphql";
import { graphqlAnswer } from "../graphql_answer";
import { anything, record } from "../shape";

/** GraphQL, with completion and checks by the server's schema. */
export async function graphqlLanguage(): Promise<Extension> {
  const schema = await graphqlAnswer(getIntrospectionQuery(), record(anything));
  return graphql(buildClientSchema(schema as unknown as IntrospectionQuery));
}
