/** What `make` gives, made when it is first needed: formats take long to make, and not all who load this show a chart. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const small = once(() => new Intl.NumberFormat("en", { maximumSignificantDigits: 4 }));
const large = once(() => new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }));

/** A number for an axis or a label: short, and for reading only. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e15) return value.toExponential(2);
  if (size >= 100000) return large().format(value);
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return size !== 0 && size < 0.001 ? value.toExponential(1) : small().format(value);
}

/** Numbers of one axis, with as many digits as tell them apart. */
export function axisNumbers(values: number[]): string[] {
  const texts = values.map(shortNumber);
  if (new Set(texts).size === texts.length) return texts;
  const format = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 6 });
  return values.map((value) => format.format(value));
}

const month = once(() => new Intl.DateTimeFormat("en", { month: "short", timeZone: "UTC" }));

/** Times of an axis whose marks are `step` seconds apart: each with the parts that change, and the greater ones where they begin. */
export function axisTimes(values: number[], step: number): string[] {
  let before = "";
  return values.map((value) => {
    const date = dateOf(value);
    const { day: isoDay, time } = isoParts(value);
    const year = isoDay.replace(/-..-..$/, "");
    const day = `${date.getUTCDate()} ${month().format(date)}`;
    const [text, greater] = step >= 360 * 86400 ? [year, ""] : step >= 28 * 86400 ? [month().format(date), year] : step >= 86400 ? [day, year] : [time.slice(0, step < 60 ? 8 : 5), `${day} ${year}`];
    const label = greater && greater !== before ? `${text}\n${greater}` : text;
    before = greater;
    return label;
  });
}

/** The last second that a date can be, and of the other sign the first. */
export const LAST_SECOND = 8.64e12;

function dateOf(seconds: number): Date {
  return new Date(Math.max(-LAST_SECOND, Math.min(LAST_SECOND, seconds)) * 1000);
}

/** The day and the time of day, with years as the API writes them: of four digits, or a sign and more. */
function isoParts(seconds: number): { day: string; time: string } {
  const [day = "", time = ""] = dateOf(seconds).toISOString().split("T");
  return { day: day.replace(/^([+-])0?(?=\d{5})/, "$1").replace(/^-0+(?=\d{4}-)/, "-"), time };
}

/** Seconds since 1970 as a date, with the time where the span is short. */
export function shortTime(seconds: number, span: number): string {
  const { day, time } = isoParts(seconds);
  return span < 3 * 86400 ? `${day} ${time.slice(0, 5)}` : day;
}
