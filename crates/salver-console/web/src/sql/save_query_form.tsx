import { useState } from "preact/hooks";
import { send } from "../api";
import { catalog, loadCatalog } from "../catalog";
import { ErrorNote } from "../error_note";
import { nameFault, saveRequest } from "./save_query";

interface SaveQueryFormProps {
  sql: string;
  /** The name that is proposed. */
  name: string | null;
  onSaved: (name: string) => void;
  onClose: () => void;
}

/** A form that saves the statement as a named query. */
export function SaveQueryForm({ sql, name: first, onSaved, onClose }: SaveQueryFormProps) {
  const known = (name: string) => catalog.value?.queries.find((query) => query.name === name.trim());
  const [name, setName] = useState(first ?? "");
  const [description, setDescription] = useState(known(first ?? "")?.description ?? "");
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const queries = catalog.value?.queries ?? [];
  // Nothing is said of a name before it is typed.
  const fault = name === "" ? null : (nameFault(name, queries.map((query) => query.name)) ?? entryFault(name));
  const save = async () => {
    setSaving(true);
    setError(null);
    try {
      await send(saveRequest(sql, { name, description }, known(name))).then((response) => response.text());
      await loadCatalog();
      onSaved(name.trim());
    } catch (failure) {
      setError(failure);
      setSaving(false);
    }
  };
  return (
    <form
      class="sql-save"
      aria-label="Save as query"
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === null) void save();
      }}
    >
      <div class="row">
        <label class="inline-field">
          Name
          <input type="text" required aria-invalid={fault !== null} aria-describedby={fault === null ? undefined : "save-query-fault"} spellcheck={false} dir="auto" value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label class="inline-field">
          Description
          <input type="text" dir="auto" value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button primary" disabled={saving || fault !== null || !sql.trim()}>
          {known(name) ? "Replace" : "Save"}
        </button>
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
      {fault !== null && (
        <p id="save-query-fault" class="field-error" role="alert">
          <bdi>{fault}</bdi>
        </p>
      )}
      <ErrorNote error={error} />
    </form>
  );
}

/** An entry and a query are not called the same. */
function entryFault(name: string): string | null {
  return catalog.value?.entries.has(name.trim()) ? `${name.trim()} is an entry already.` : null;
}
