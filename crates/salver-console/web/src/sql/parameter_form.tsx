import { TextLines } from "../text_lines";
import type { Placeholders } from "./placeholders";

interface ParameterFormProps {
  placeholders: Placeholders;
  values: Record<string, string>;
  onChange: (values: Record<string, string>) => void;
  onRun: () => void;
  /** Those without a value, for which the statement was not run. */
  missing: string[];
}

/** The values of the placeholders of a statement. */
export function ParameterForm({ placeholders, values, onChange, onRun, missing }: ParameterFormProps) {
  if (placeholders.kind === "none") return null;
  return (
    <form
      class="row sql-parameters"
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      {placeholders.names.map((name) => (
        <label key={name} class="inline-field">
          <code>${name}</code>
          <TextLines
            spellcheck={false}
            value={values[name] ?? ""}
            onText={(text) => onChange({ ...values, [name]: text })}
            placeholder="42, text, null"
            aria-invalid={missing.includes(name)}
          />
        </label>
      ))}
      <span class="field-error" role="alert">
        {missing.length > 0 && `${missing.map((name) => `$${name}`).join(", ")} ${missing.length === 1 ? "has" : "have"} no value. An empty text is ""`}
      </span>
    </form>
  );
}
