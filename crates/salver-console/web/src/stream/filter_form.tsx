import { useState } from "preact/hooks";
import { type Condition, OPERATORS } from "./filter";

interface FilterFormProps {
  /** Names to suggest. */
  members: string[];
  conditions: Condition[];
  onChange: (conditions: Condition[]) => void;
}

/** The conditions that events must meet, and a form for another one. */
export function FilterForm({ members, conditions, onChange }: FilterFormProps) {
  const [member, setMember] = useState("");
  const [operator, setOperator] = useState("");
  const [value, setValue] = useState("");
  const add = (event: SubmitEvent) => {
    event.preventDefault();
    if (!member) return;
    onChange([...conditions, { member, operator, value: operator === "null" && !value ? "true" : value }]);
    setValue("");
  };
  return (
    <div class="row">
      {conditions.map((condition, index) => (
        <button
          key={index}
          type="button"
          class="button small"
          title="Remove this condition"
          onClick={() => onChange(conditions.filter((_, other) => other !== index))}
        >
          <bdi>{condition.member}</bdi> {OPERATORS.find((known) => known.operator === condition.operator)?.label} <bdi>{condition.value}</bdi>
          <span aria-hidden="true">×</span>
          <span class="visually-hidden">: remove</span>
        </button>
      ))}
      <form class="row condition-form" onSubmit={add}>
        <input type="text" list="event-members" placeholder="member" aria-label="Member of the event" value={member} onInput={(event) => setMember(event.currentTarget.value)} />
        <datalist id="event-members">
          {members.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <select aria-label="Operator" value={operator} onChange={(event) => setOperator(event.currentTarget.value)}>
          {OPERATORS.map((known) => (
            <option key={known.operator} value={known.operator}>
              {known.label}
            </option>
          ))}
        </select>
        <input type="text" dir="auto" placeholder="value" aria-label="Value" value={value} onInput={(event) => setValue(event.currentTarget.value)} />
        <button type="submit" class="button small" disabled={!member}>
          Filter
        </button>
      </form>
    </div>
  );
}
