"""What a program does with the client that openapi-generator makes of the demo: it fails by raising."""

import sys

import openapi_client as api

with api.ApiClient(api.Configuration(host=sys.argv[1])) as client:
    tables, records, sql = api.DatasetsApi(client), api.RecordsApi(client), api.SQLApi(client)

    cities = tables.rows_uk_cities(columns="city,lat", var_or="(lat.gt.57)", sort="-lat", limit=2)
    assert [city.lat for city in cities] == [57.653484, 57.477772], cities
    assert [rocket.stages for rocket in tables.rows_rockets(filter_id="starship")] == [2]

    rows = sql.post_sql(api.PostSqlRequest(sql="select $1 + 1 as n", params=[41]))
    assert rows == [{"n": 42}], rows

    key = records.records_create_tags(api.RecordsCreateTags(name="generated"))
    assert isinstance(key, int), key
    assert records.records_read_tags(str(key)).name == "generated"
    assert records.records_update_tags(str(key), api.RecordsUpdateTags(name="changed")) == 1
    found = records.records_list_tags(filter=[f"id,eq,{key}"])
    assert [tag.name for tag in found.records] == ["changed"], found
    assert records.records_delete_tags(str(key)) == 1
    try:
        records.records_read_tags(str(key))
        raise SystemExit("a record that was deleted is there")
    except api.exceptions.NotFoundException as error:
        assert error.status == 404, error

    receipt = api.StreamsApi(client).append_clicks({"user": "ada", "page": "/generated"}, ack="disk")
    assert receipt.taken == 1, receipt

    functions = api.FunctionsApi(client)
    assert functions.functions_get_words_word_reversed("abc") == "cba"
    counted = functions.functions_post_words_count(api.FunctionsPostWordsCountRequest(text="a b a", top=1))
    assert counted == [{"word": "a", "times": 2}], counted

    try:
        tables.list_rows("nothing")
        raise SystemExit("no error for an entry that is not there")
    except api.exceptions.NotFoundException as error:
        problem = error.data
        assert (error.status, problem.code, problem.error) == (404, 404, "invalid_table"), problem
        assert "nothing" in problem.message
print("well")
