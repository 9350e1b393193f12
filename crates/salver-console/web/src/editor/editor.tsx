import { useEffect, useRef, useState } from "preact/hooks";
import type { EditorHandle, EditorLanguage, Mark } from "./code_editor";
import "./editor.css";

/** What an editor shows and tells. */
export interface EditorProps {
  value: string;
  onChange: (value: string) => void;
  /** Ctrl+Enter, or Cmd+Enter. */
  onRun?: () => void;
  language: EditorLanguage;
  /** What the text is, for those who can't see it. */
  label: string;
  /** An error and its place. */
  mark?: Mark | null;
  /** How many lines are shown at least. */
  lines?: number;
  readOnly?: boolean;
}

/**
 * An editor for code. It starts as a plain field for text, which can be used while the code of the editor is on its way,
 * and stays one if that can't be loaded.
 */
export function Editor({ value, onChange, onRun, language, label, mark, lines = 4, readOnly }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const handle = useRef<EditorHandle | null>(null);
  const [loaded, setLoaded] = useState(false);
  const latest = useRef({ onChange, onRun, value, mark });
  latest.current = { onChange, onRun, value, mark };
  // What was typed and has not come back as `value` yet. Who types quickly is ahead of the page, whose older value must
  // not be taken for a change from outside.
  const typed = useRef<string[]>([]);

  useEffect(() => {
    let gone = false;
    void import("./code_editor").then(
      ({ createEditor }) => {
        if (gone || !host.current) return;
        handle.current = createEditor(host.current, {
          value: latest.current.value,
          label,
          language,
          readOnly: readOnly ?? false,
          onChange: (text) => {
            typed.current.push(text);
            latest.current.onChange(text);
          },
          onRun: () => latest.current.onRun?.(),
        });
        handle.current.setMark(latest.current.mark ?? null);
        setLoaded(true);
      },
      () => undefined,
    );
    return () => {
      gone = true;
      handle.current?.destroy();
      handle.current = null;
    };
    // The editor lives as long as the component; what changes is handed to it below.
  }, []);

  useEffect(() => {
    const known = typed.current.lastIndexOf(value);
    typed.current = known < 0 ? [] : typed.current.slice(known + 1);
    if (known < 0) handle.current?.setValue(value);
  }, [value]);
  useEffect(() => handle.current?.setMark(mark ?? null), [mark?.from, mark?.to, mark?.message]);
  useEffect(() => handle.current?.setLanguage(language), [language.name]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onRun?.();
  };
  return (
    <div class="editor" style={{ "--editor-lines": lines }}>
      <div ref={host} class="editor-host" hidden={!loaded} />
      {!loaded && (
        <textarea
          class="editor-plain"
          aria-label={label}
          spellcheck={false}
          readOnly={readOnly}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      )}
    </div>
  );
}
