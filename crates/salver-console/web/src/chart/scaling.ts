import { axisNumbers, shortNumber } from "./number_format";

/** Numbers of one axis, divided by a power of ten where they are too large or too small for the arithmetic of a plot. */
export interface Scaling {
  /** The number as it is drawn. */
  drawn: (value: number) => number;
  /** The text of a drawn number. */
  text: (value: number) => string;
  /** The texts of drawn numbers, with as many digits as tell them apart. */
  texts: (values: number[]) => string[];
}

const PLAIN: Scaling = { drawn: (value) => value, text: shortNumber, texts: axisNumbers };
const LARGE = 1e15;
const SMALL = 1e-9;

/** How numbers are drawn. */
export function scalingOf(values: number[]): Scaling {
  const most = values.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
  if (most === 0 || (most >= SMALL && most < LARGE)) return PLAIN;
  const exponent = Math.floor(Math.log10(most));
  // In two steps, since the power of the smallest numbers is none of its own.
  const half = Math.trunc(exponent / 2);
  const withExponent = (text: string) => (text === "0" ? text : `${text}e${exponent < 0 ? "" : "+"}${exponent}`);
  return {
    drawn: (value) => value / 10 ** half / 10 ** (exponent - half),
    // Not multiplied, which may end beyond all numbers.
    text: (value) => withExponent(shortNumber(value)),
    texts: (values) => axisNumbers(values).map(withExponent),
  };
}
