import { expect, test } from "vitest";
import { rowsOf } from "./api";
import { ExactNumber, isJson, parseBegun, parseData, writeData } from "./data_json";

test("numbers keep their digits", () => {
  const text = '[9007199254740993,-9223372036854775808,1.50,1e+16,0.1,-0.0,12]';
  expect(writeData(parseData(text))).toBe(text);
  const [large, , decimal, , , , small] = parseData(text) as ExactNumber[];
  expect(large).toBeInstanceOf(ExactNumber);
  expect(String(decimal)).toBe("1.50");
  expect(small).toBe(12);
});

test("members keep their order, also where their names are numbers", () => {
  const text = '{"b":1,"2021":2,"2020":3,"__proto__":4}';
  expect(writeData(parseData(text))).toBe(text);
});

test("texts keep every character", () => {
  const value = 'nul\u0000 tab\t "quoted" \\ \u2028 🎉 שלום';
  expect(parseData(JSON.stringify(value))).toBe(value);
});

test("what is no JSON is refused", () => {
  for (const text of ["", "[1,]", "[1 2]", '{"a"}', "nul", "[1] 2", '"open', "042", "-01", "[1,007]"]) expect(() => parseData(text)).toThrow(SyntaxError);
});

test("of a text that was cut, whole objects remain", () => {
  const objects = ['{"a":"x,{}]\\""}', '{"a":[1,{"b":2}]}', '{"a":12}'];
  const text = `[${objects.join(",")}]`;
  const ends = objects.map((_, index) => objects.slice(0, index + 1).join(",").length + 1);
  const whole = parseData(text) as unknown[];
  for (let end = 0; end < text.length; end++) {
    const begun = parseBegun(text.slice(0, end));
    expect(begun).toEqual(whole.slice(0, ends.filter((at) => at <= end).length));
    expect(parseBegun(`{"events":${text.slice(0, end)}`)).toEqual(begun);
  }
  for (const text of ["", "[]", "{", '{"eve', '{"events"', '{"events":{}']) expect(parseBegun(text)).toEqual([]);
});

test("nested values are indented", () => {
  expect(writeData(parseData('{"a":[1,{}],"b":[]}'), 2)).toBe('{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}');
});

test("columns are those of all rows", () => {
  expect(rowsOf(parseData('[{"a":1},{"b":2,"a":null}]'))).toEqual({ columns: ["a", "b"], rows: [[1, null], [null, 2]] });
});

test("a number beyond all numbers is no JSON for others", () => {
  for (const text of ["1e400", "[1,-1e999]", '{"a":1E+400}', "042", "nul"]) expect(isJson(text)).toBe(false);
  for (const text of ["1e308", "1e-400", '"1e400"', '{"1e400":"\\"1e400"}', "[1,2]", "12345678901234567890"]) expect(isJson(text)).toBe(true);
});
