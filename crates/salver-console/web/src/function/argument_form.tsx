import type { ComponentChildren } from "preact";
import { ApiError } from "../api";
import type { Field } from "./fields";
import { PairsInput } from "./pairs_input";

interface ArgumentFormProps {
  fields: Field[];
  values: Record<string, string>;
  /** The last error, which may name a field. */
  error: unknown;
  onChange: (values: Record<string, string>) => void;
  onFile: (name: string, file: File) => void;
  onSubmit: () => void;
  children: ComponentChildren;
}

/** A field for each parameter of a function. */
export function ArgumentForm({ fields, values, error, onChange, onFile, onSubmit, children }: ArgumentFormProps) {
  // Errors about arguments name them first: "`top` can't be …".
  const faulty = error instanceof ApiError && error.status === 400 ? /^`([^`[.]+)/.exec(error.message)?.[1] : undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSubmit();
  };
  return (
    <form
      class="card argument-form"
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {fields.length === 0 && <p class="muted">The function takes no arguments.</p>}
      {fields.map((field) => (
        // A label is for one input.
        <Labelled key={field.name} isGroup={field.kind === "pairs"}>
          <span>
            <bdi>{field.name}</bdi>{" "}
            <small>
              {field.type}
              {field.required ? "" : ", optional"}
            </small>
          </span>
          <FieldInput
            field={field}
            value={values[field.name] ?? ""}
            invalid={faulty === field.name}
            onChange={(value) => onChange({ ...values, [field.name]: value })}
            onFile={(file) => onFile(field.name, file)}
          />
          {field.description && <small>{field.description}</small>}
          {faulty === field.name && error instanceof ApiError && (
            <small class="field-error">
              {error.message}
              {error.hint && `: ${error.hint}`}
            </small>
          )}
        </Labelled>
      ))}
      {children}
    </form>
  );
}

function Labelled({ isGroup, children }: { isGroup: boolean; children: ComponentChildren }) {
  return isGroup ? <div class="field">{children}</div> : <label class="field">{children}</label>;
}

interface FieldInputProps {
  field: Field;
  value: string;
  invalid: boolean;
  onChange: (value: string) => void;
  onFile: (file: File) => void;
}

function FieldInput({ field, value, invalid, onChange, onFile }: FieldInputProps) {
  const common = { "aria-invalid": invalid ? ("true" as const) : undefined, "aria-required": field.required ? ("true" as const) : undefined };
  const placeholder = field.default === undefined ? undefined : `${field.default} if left empty`;
  switch (field.kind) {
    case "file":
      return (
        <input
          {...common}
          type="file"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file) onFile(file);
          }}
        />
      );
    case "pairs":
      return <PairsInput label={field.name} value={value} onChange={onChange} />;
    case "boolean":
    case "choice":
      return (
        <select {...common} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">{placeholder ?? "–"}</option>
          {(field.kind === "boolean" ? ["true", "false"] : field.choices).map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      );
    case "integer":
    case "number":
      return <input {...common} type="text" inputMode={field.kind === "integer" ? "numeric" : "decimal"} value={value} placeholder={placeholder} onInput={(event) => onChange(event.currentTarget.value)} />;
    default:
      return (
        <textarea
          {...common}
          rows={field.kind === "json" || value.includes("\n") ? 4 : 1}
          dir="auto"
          spellcheck={field.kind === "text"}
          value={value}
          placeholder={placeholder ?? field.example ?? (field.kind === "any" ? "10, text, [1, 2, 3] or {…}" : undefined)}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}
