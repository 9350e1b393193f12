import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, Prec } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The language of a text; each but plain text is loaded when it is first used. */
export type EditorLanguage = { name: "sql" } | { name: "json" } | { name: "graphql" } | { name: "text" };

/** An error at a place of the text. */
export interface Mark {
  from: number;
  to: number;
  message: string;
}

interface Options {
  value: string;
  label: string;
  language: EditorLanguage;
  readOnly: boolean;
  onChange: (value: string) => void;
  onRun: () => void;
}

/** What can be done with an editor that is there. */
export interface EditorHandle {
  /** Changes the text without telling of it. */
  setValue(value: string): void;
  setMark(mark: Mark | null): void;
  setLanguage(language: EditorLanguage): void;
  destroy(): void;
}

// The colours are custom properties, so that both colour schemes need only one style.
const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--code-keyword)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.standard(tags.name), tags.attributeName], color: "var(--code-type)" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--code-name)" },
]);

async function languageExtension(language: EditorLanguage): Promise<Extension> {
  switch (language.name) {
    case "sql":
      return (await import("./sql_language")).sqlLanguage();
    case "json":
      return (await import("./json_language")).jsonLanguage();
    case "graphql":
      return (await import("./graphql_language")).graphqlLanguage();
    case "text":
      return [];
  }
}

/** Makes an editor in an element. */
export function createEditor(parent: HTMLElement, options: Options): EditorHandle {
  const language = new Compartment();
  let isSetting = false;
  const run = () => {
    options.onRun();
    return true;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.value,
      extensions: [
        Prec.highest(keymap.of([{ key: "Mod-Enter", run }])),
        lineNumbers(),
        history(),
        drawSelection(),
        // Also shows characters that turn the direction of the text.
        highlightSpecialChars(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ icons: false }),
        highlightActiveLine(),
        highlightSelectionMatches(),
        syntaxHighlighting(highlight),
        // Escape and then Tab leaves the editor, as it says in its label.
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
        EditorView.lineWrapping,
        EditorState.readOnly.of(options.readOnly),
        EditorView.contentAttributes.of({ "aria-label": `${options.label} (Escape, then Tab leaves the editor)`, spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isSetting) options.onChange(update.state.doc.toString());
        }),
        language.of([]),
      ],
    }),
  });

  let wanted = "";
  const setLanguage = (next: EditorLanguage) => {
    if (next.name === wanted) return;
    wanted = next.name;
    void languageExtension(next).then(
      (extension) => wanted === next.name && view.dispatch({ effects: language.reconfigure(extension) }),
      // Without the code of its language, a text is shown in one colour.
      () => undefined,
    );
  };
  setLanguage(options.language);

  return {
    setValue(value) {
      const current = view.state.doc.toString();
      if (current === value) return;
      isSetting = true;
      view.dispatch({ changes: { from: 0, to: current.length, insert: value } });
      isSetting = false;
    },
    setMark(mark) {
      const end = view.state.doc.length;
      const diagnostics = mark
        ? [{ from: Math.min(mark.from, end), to: Math.min(Math.max(mark.to, mark.from), end), severity: "error" as const, message: mark.message }]
        : [];
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
    setLanguage,
    destroy: () => view.destroy(),
  };
}
