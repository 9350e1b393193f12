/** A condition on a member of the events. */
export interface Condition {
  member: string;
  /** An operator of the REST grammar; empty for equality. */
  operator: string;
  value: string;
}

/** The operators that a tail takes, with words for them. */
export const OPERATORS: { operator: string; label: string }[] = [
  { operator: "", label: "=" },
  { operator: "ne", label: "≠" },
  { operator: "lt", label: "<" },
  { operator: "lte", label: "≤" },
  { operator: "gt", label: ">" },
  { operator: "gte", label: "≥" },
  { operator: "like", label: "like" },
  { operator: "ilike", label: "like, any case" },
  { operator: "in", label: "in" },
  { operator: "null", label: "is null" },
];

const CONDITION = /^filter\[(.*)\](\w*)$/;

/** The conditions among the parameters of an address. */
export function readConditions(query: URLSearchParams): Condition[] {
  return [...query].flatMap(([name, value]) => {
    const match = CONDITION.exec(name);
    return match ? [{ member: match[1] ?? "", operator: match[2] ?? "", value }] : [];
  });
}

/** The parameter of a condition, for the API and for the address of the page alike. */
export function parameterOf({ member, operator, value }: Condition): [string, string] {
  return [`filter[${member}]${operator}`, value];
}
