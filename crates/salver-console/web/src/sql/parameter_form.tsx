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
          <input
            type="text"
            dir="auto"
            spellcheck={false}
            value={values[name] ?? ""}
            onInput={(event) => onChange({ ...values, [name]: event.currentTarget.value })}
            placeholder="42, text, null, [1, 2]"
          />
        </label>
      ))}
      {/* Enter in a field submits only a form that has a button for it. */}
      <button type="submit" class="visually-hidden" tabIndex={-1}>
        Run
      </button>
    </form>
  );
}
