import "./sparkline.css";

/** A small line of values over time, as a picture beside a figure that says the same in words. */
export function Sparkline({ values, height = 32, label }: { values: (number | undefined)[]; height?: number; label: string }) {
  const known = values.filter((value): value is number => value !== undefined);
  const top = Math.max(...known, 0) || 1;
  const width = Math.max(values.length - 1, 1);
  const y = (value: number) => height - 2 - (value / top) * (height - 4);
  let line = "";
  values.forEach((value, index) => {
    if (value === undefined) return;
    line += `${line && values[index - 1] !== undefined ? "L" : "M"}${index} ${y(value).toFixed(1)}`;
  });
  const first = values.findIndex((value) => value !== undefined);
  const area = first < 0 ? "" : `${line.replaceAll("M", "L").replace("L", "M")}L${values.length - 1} ${height}L${first} ${height}Z`;
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} height={height} preserveAspectRatio="none" role="img" aria-label={label}>
      <path class="sparkline-area" d={area} />
      <path class="sparkline-line" d={line} />
    </svg>
  );
}
