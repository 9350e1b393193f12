import { type Document, type Parameter, resolve, type Schema } from "./openapi";
import { Inline } from "./prose";
import { constraints, typeName } from "./schema";

interface ParameterFieldProps {
  document: Document;
  parameter: Parameter;
  value: string;
  onChange: (value: string) => void;
}

/** A parameter with what it means, and a field for it. */
export function ParameterField(props: ParameterFieldProps) {
  const { document, parameter } = props;
  const demands = parameter.schema ? constraints(resolve<Schema>(document, parameter.schema)) : [];
  return (
    <label class="docs-field">
      <span>
        <code class="docs-name">{parameter.name}</code> <span class="docs-type">{typeName(document, parameter.schema)}</span>
        {parameter.required && <span class="docs-required"> required</span>}
        {parameter.in !== "query" && <span class="muted"> in the {parameter.in}</span>}
        {(parameter.description || demands.length > 0) && (
          <span class="docs-meaning">
            <Inline text={parameter.description ?? ""} /> {demands.join(", ")}
          </span>
        )}
      </span>
      <ParameterInput {...props} />
    </label>
  );
}

function ParameterInput({ document, parameter, value, onChange }: ParameterFieldProps) {
  const schema = parameter.schema ? resolve<Schema>(document, parameter.schema) : {};
  const choices = schema.enum?.map(String) ?? (schema.type === "boolean" ? ["true", "false"] : null);
  if (choices) {
    return (
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">–</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  const example = parameter.example ?? schema.example ?? schema.default;
  return (
    <input
      type="text"
      dir="auto"
      spellcheck={false}
      value={value}
      placeholder={example === undefined ? undefined : String(example)}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** Names a parameter among those of the operation: a header and a query may have one of the same name. */
export function keyOf(parameter: Parameter): string {
  return `${parameter.in} ${parameter.name}`;
}
