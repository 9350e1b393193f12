/** Text with its paragraphs and lists; what stands between backquotes is code. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text.split(/\n\s*\n/).map((paragraph, index) =>
        paragraph.startsWith("- ") ? (
          <ul key={index} class="muted">
            {paragraph.slice(2).split(/\n- /).map((item) => (
              <li key={item}>
                <Inline text={item} />
              </li>
            ))}
          </ul>
        ) : (
          <p key={index} class="muted">
            <Inline text={paragraph} />
          </p>
        ),
      )}
    </>
  );
}

/** Text in a line; what stands between backquotes is code. */
export function Inline({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}</>;
}
