import { TextLines } from "../text_lines";
import { type Pair, readPairs, writePairs } from "./pairs";

interface PairsInputProps {
  /** The name of the parameter that takes them. */
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** Arguments whose names are typed as well: a line for each, and an empty one for the next. */
export function PairsInput({ label, value, onChange }: PairsInputProps) {
  const pairs: Pair[] = [...readPairs(value), ["", ""]];
  const change = (index: number, pair: Pair) => onChange(writePairs(pairs.with(index, pair)));
  return (
    <div class="pairs" role="group" aria-label={label}>
      {pairs.map(([name, text], index) => (
        <div key={index} class="row">
          <input type="text" dir="auto" spellcheck={false} placeholder="name" aria-label={`Name ${index + 1}`} value={name} onInput={(event) => change(index, [event.currentTarget.value, text])} />
          <TextLines placeholder="value" aria-label={`Value ${index + 1}`} value={text} onText={(typed) => change(index, [name, typed])} />
        </div>
      ))}
    </div>
  );
}
