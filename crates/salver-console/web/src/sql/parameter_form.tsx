import { TextLines } from "../text_lines";
import type { Placeholders } from "./placeholders";

interface ParameterFormProps {
  placeholders: Placeholders;
  values: Record<string, string>;
  onChange: (values: Record<string, string>) => void;
  onRun: () => void;
}

/** The values of the placeholders of a statement. */
export function ParameterForm({ placeholders, values, onChange, onRun }: ParameterFormProps) {
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
            placeholder="42, text, null, [1, 2]"
          />
        </label>
      ))}
    </form>
  );
}
