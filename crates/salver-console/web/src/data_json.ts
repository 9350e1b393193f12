/**
 * A number that JavaScript would write differently: `9007199254740993`, `1.50`. It is kept as it was sent, because
 * nothing in the console may round a value of the data.
 */
export class ExactNumber {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
  valueOf(): number {
    return Number(this.text);
  }
}

/** A value of the data. Objects are maps, which keep the order of their members also where the names are numbers. */
export type Value = null | boolean | number | string | ExactNumber | Value[] | Map<string, Value>;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const SPACE = /[ \t\r\n]*/y;

/** Reads JSON without losing digits, the order of members, or trailing zeros of decimals. */
export function parseData(text: string): Value {
  const reader = new Reader(text);
  const value = reader.value();
  reader.end();
  return value;
}

/** Reads the objects of an array whose end is missing: those that are whole. It may be the first member of an object. */
export function parseBegun(text: string): Value[] {
  return new Reader(text).begun();
}

class Reader {
  private at = 0;
  constructor(private readonly text: string) {}

  value(): Value {
    this.space();
    switch (this.text[this.at]) {
      case "{":
        return this.object();
      case "[":
        return this.list();
      case '"':
        return this.string();
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      default:
        return this.number();
    }
  }

  begun(): Value[] {
    const items: Value[] = [];
    try {
      if (this.takes("{")) {
        this.space();
        this.string();
        if (!this.takes(":")) return items;
      }
      if (!this.takes("[")) return items;
      do items.push(this.object());
      while (this.takes(","));
    } catch {
      // Here the text was cut.
    }
    return items;
  }

  end(): void {
    this.space();
    if (this.at < this.text.length) this.fail();
  }

  private object(): Map<string, Value> {
    const members = new Map<string, Value>();
    if (!this.takes("{")) this.fail();
    if (this.takes("}")) return members;
    for (;;) {
      this.space();
      const name = this.string();
      if (!this.takes(":")) this.fail();
      members.set(name, this.value());
      if (this.takes("}")) return members;
      if (!this.takes(",")) this.fail();
    }
  }

  private list(): Value[] {
    const items: Value[] = [];
    this.at++;
    if (this.takes("]")) return items;
    for (;;) {
      items.push(this.value());
      if (this.takes("]")) return items;
      if (!this.takes(",")) this.fail();
    }
  }

  private string(): string {
    const source = this.match(STRING);
    // Most strings have no escapes, and then need no second reading.
    return source.includes("\\") ? (JSON.parse(source) as string) : source.slice(1, -1);
  }

  private number(): number | ExactNumber {
    const source = this.match(NUMBER);
    const number = Number(source);
    return String(number) === source ? number : new ExactNumber(source);
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail();
    this.at += word.length;
    return value;
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) this.fail();
    this.at = pattern.lastIndex;
    return found[0];
  }

  private space(): void {
    SPACE.lastIndex = this.at;
    SPACE.exec(this.text);
    this.at = SPACE.lastIndex;
  }

  private takes(character: string): boolean {
    this.space();
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private fail(): never {
    throw new SyntaxError(`no JSON at character ${this.at}`);
  }
}

/** Writes a value as JSON, with every digit it came with; `indent` as for `JSON.stringify`. */
export function writeData(value: Value, indent = 0, depth = 0): string {
  const pad = indent ? `\n${" ".repeat(indent * (depth + 1))}` : "";
  const end = indent ? `\n${" ".repeat(indent * depth)}` : "";
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[${value.map((item) => pad + writeData(item, indent, depth + 1)).join(",")}${end}]`;
  }
  if (value instanceof Map) {
    if (value.size === 0) return "{}";
    const members = [...value].map(
      ([name, item]) => `${pad}${JSON.stringify(name)}:${indent ? " " : ""}${writeData(item, indent, depth + 1)}`,
    );
    return `{${members.join(",")}${end}}`;
  }
  return JSON.stringify(value);
}

const EXPONENTS = /-?\d+(?:\.\d+)?[eE]\+?\d+/g;

/** Whether every reader takes a text for JSON: its numbers must be within the range of floats, too. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  const bare = text.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return (bare.match(EXPONENTS) ?? []).every((number) => Number.isFinite(Number(number)));
}
