// What a program does with the client that openapi-generator makes of the demo: it ends with an error where something
// is not as it should be.
import * as api from "./index";

declare const process: { argv: string[]; exitCode: number };

function is(found: unknown, expected: unknown) {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${one} is not ${other}`);
}

/** What a call that is refused says. */
async function refusal(call: Promise<unknown>): Promise<{ status: number; problem: any }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof api.ResponseError) {
      return { status: error.response.status, problem: await error.response.json() };
    }
    throw error;
  }
  throw new Error("nothing was refused");
}

async function main() {
  const configuration = new api.Configuration({ basePath: process.argv[2] });
  const tables = new api.DatasetsApi(configuration);
  const records = new api.RecordsApi(configuration);

  const cities = await tables.rowsUkCities({ columns: "city,lat", or: "(lat.gt.57)", sort: "-lat", limit: 2 });
  is(cities.map((city) => city.lat), [57.653484, 57.477772]);
  const rockets = await tables.rowsRockets({ filterId: "starship" });
  is(rockets.map((rocket) => rocket.stages), [2]);

  const sql = new api.SQLApi(configuration);
  is(await sql.postSql({ postSqlRequest: { sql: "select $1 + 1 as n", params: [41] } }), [{ n: 42 }]);

  const key = await records.recordsCreateTags({ recordsCreateTags: { name: "generated" } });
  const id = String(key);
  is((await records.recordsReadTags({ id })).name, "generated");
  is(await records.recordsUpdateTags({ id, recordsUpdateTags: { name: "changed" } }), 1);
  is((await records.recordsListTags({ filter: [`id,eq,${id}`] })).records.map((tag) => tag.name), ["changed"]);
  is(await records.recordsDeleteTags({ id }), 1);
  is((await refusal(records.recordsReadTags({ id }))).status, 404);

  const streams = new api.StreamsApi(configuration);
  is((await streams.appendClicks({ body: { user: "ada", page: "/generated" }, ack: "disk" })).taken, 1);

  const functions = new api.FunctionsApi(configuration);
  is(await functions.functionsGetWordsWordReversed({ word: "abc" }), "cba");
  const counted = { text: "a b a", top: 1 };
  is(await functions.functionsPostWordsCount({ functionsPostWordsCountRequest: counted }), [{ word: "a", times: 2 }]);

  const { status, problem } = await refusal(tables.listRows({ name: "nothing" }));
  is([status, problem.code, problem.error], [404, 404, "invalid_table"]);
  console.log("well");
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
