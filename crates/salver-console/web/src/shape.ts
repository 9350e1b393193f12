/**
 * What an answer must look like. A shape gives the value as far as it is right, `undefined` where nothing of it is, and
 * notes in `wrong` what is not as expected.
 */
export type Shape<T> = (value: unknown, at: string, wrong: string[]) => T | undefined;

/** A text for people of what was found instead. */
function found(value: unknown): string {
  if (value === undefined) return "is missing";
  if (value === null) return "is null";
  return `is ${Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`}`;
}

function primitive<T>(word: string, fits: (value: unknown) => value is T): Shape<T> {
  return (value, at, wrong) => {
    if (fits(value)) return value;
    wrong.push(`${at} ${found(value)}, not ${word}`);
    return undefined;
  };
}

export const text = primitive("a text", (value): value is string => typeof value === "string");
export const flag = primitive("true or false", (value): value is boolean => typeof value === "boolean");
export const number = primitive("a number", (value): value is number => typeof value === "number");
/** Anything: what is made of it is checked where that is done. */
export const anything: Shape<unknown> = (value) => value;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** A shape that may be missing; so is null, which many members are instead. A wrong value is left out. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, at, wrong) => (value === undefined || value === null ? undefined : shape(value, at, wrong));
}

/** The same where null has a meaning. */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, at, wrong) => (value === undefined || value === null ? null : (shape(value, at, wrong) ?? null));
}

/** A shape that may be missing, and is this then. */
export function otherwise<T>(shape: Shape<T>, without: T): Shape<T> {
  return (value, at, wrong) => (value === undefined || value === null ? without : (shape(value, at, wrong) ?? without));
}

/** A shape of which the caller needs to know only what is right. */
export function lenient<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, at) => shape(value, at, []);
}

/** A list, of which those items stay that are right. */
export function list<T>(shape: Shape<T>): Shape<T[]> {
  return (value, at, wrong) => {
    if (!Array.isArray(value)) {
      wrong.push(`${at} ${found(value)}, not a list`);
      return undefined;
    }
    return value.flatMap((item, index) => {
      const right = shape(item, `${at}[${index}]`, wrong);
      return right === undefined ? [] : [right];
    });
  };
}

/** An object whose members have names that are data, of which those stay that are right. */
export function record<T>(shape: Shape<T>): Shape<Record<string, T>> {
  return (value, at, wrong) => {
    if (!isObject(value)) {
      wrong.push(`${at} ${found(value)}, not an object`);
      return undefined;
    }
    const right = Object.entries(value).map(([name, member]) => [name, shape(member, `${at}.${name}`, wrong)] as const);
    return Object.fromEntries(right.filter(([, member]) => member !== undefined)) as Record<string, T>;
  };
}

/** The shapes of the members of an object; those that may be missing give `undefined` without a note. */
type Members<T> = { [Name in keyof T]-?: Shape<T[Name]> };

/**
 * An object with these members. Others stay as they are: a newer server may send more. Without a member that it must
 * have, nothing of the object is right.
 */
export function object<T>(members: Members<T>): Shape<T> {
  return (value, at, wrong) => {
    if (!isObject(value)) {
      wrong.push(`${at} ${found(value)}, not an object`);
      return undefined;
    }
    const right: Record<string, unknown> = { ...value };
    let isWhole = true;
    for (const name of Object.keys(members) as (keyof T & string)[]) {
      const member = members[name](value[name], `${at}.${name}`, wrong);
      // What may be missing is left out where it is wrong; without the others the rest is of no use.
      if (member === undefined && isNeeded(members[name])) isWhole = false;
      if (member === undefined) delete right[name];
      else right[name] = member;
    }
    return isWhole ? (right as T) : undefined;
  };
}

/** Whether a shape says that something is missing. */
function isNeeded(shape: Shape<unknown>): boolean {
  const wrong: string[] = [];
  shape(undefined, "", wrong);
  return wrong.length > 0;
}
