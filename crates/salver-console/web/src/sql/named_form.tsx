import type { NamedQuery, QueryParameter } from "../catalog";
import { TextLines } from "../text_lines";

interface NamedFormProps {
  query: NamedQuery;
  values: Record<string, string>;
  onChange: (values: Record<string, string>) => void;
  onRun: () => void;
  /** The required ones without a value, for which the query was not run. */
  missing: string[];
}

const EXAMPLES: Record<string, string> = { text: "a text", integer: "42", number: "1.5", date: "2024-01-31", timestamp: "2024-01-31T12:30:00Z" };

/** The parameters of a named query, as it declares them. */
export function NamedForm({ query, values, onChange, onRun, missing }: NamedFormProps) {
  if (query.parameters.length === 0) return null;
  return (
    <form
      class="row sql-parameters"
      aria-label={`Parameters of ${query.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      {query.parameters.map((parameter) => (
        <label key={parameter.name} class="inline-field">
          <span>
            <code>${parameter.name}</code>{" "}
            <small>
              {parameter.type + (parameter.required ? "" : ", optional")}
              {parameter.description && (
                <>
                  : <bdi>{parameter.description}</bdi>
                </>
              )}
            </small>
          </span>
          <NamedInput parameter={parameter} value={values[parameter.name] ?? ""} invalid={missing.includes(parameter.name)} onText={(text) => onChange({ ...values, [parameter.name]: text })} />
        </label>
      ))}
      <span class="field-error" role="alert">
        {missing.length > 0 && `${missing.map((name) => `$${name}`).join(", ")} ${missing.length === 1 ? "has" : "have"} no value. An empty text is ""`}
      </span>
    </form>
  );
}

function NamedInput({ parameter, value, invalid, onText }: { parameter: QueryParameter; value: string; invalid: boolean; onText: (text: string) => void }) {
  const { type, required, default: otherwise } = parameter;
  const empty = otherwise !== undefined && otherwise !== null ? `${String(otherwise)} if left empty` : required ? (EXAMPLES[type] ?? "") : "NULL if left empty";
  if (type === "boolean") {
    return (
      <select value={value} aria-invalid={invalid} onChange={(event) => onText(event.currentTarget.value)}>
        <option value="">{empty || "–"}</option>
        {!["", "true", "false"].includes(value) && <option>{value}</option>}
        <option>true</option>
        <option>false</option>
      </select>
    );
  }
  return <TextLines spellcheck={false} value={value} onText={onText} placeholder={empty} aria-invalid={invalid} />;
}
