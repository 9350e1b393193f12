import { shortNumber } from "./number_format";
import type { Point } from "./series";

const WIDTH = 800;
const TALLEST = 460;
const MARGIN = 30;

/** Places on a grid of degrees. It asks no other server for tiles. */
export function PointMap({ points, label }: { points: Point[]; label: string }) {
  const places = points.flatMap(({ x, y }) => (x !== null && y !== null ? [{ x, y }] : []));
  const box = boundsOf(places);
  // Degrees of longitude are narrower away from the equator; one factor for the whole map is enough for a glance.
  const narrow = Math.max(0.2, Math.cos(((box.south + box.north) / 2) * (Math.PI / 180)));
  const scale = Math.min((WIDTH - 2 * MARGIN) / ((box.east - box.west) * narrow), (TALLEST - 2 * MARGIN) / (box.north - box.south));
  const height = (box.north - box.south) * scale + 2 * MARGIN;
  const width = (box.east - box.west) * narrow * scale;
  const left = (WIDTH - width) / 2;
  const px = (x: number) => left + (x - box.west) * narrow * scale;
  const py = (y: number) => MARGIN + (box.north - y) * scale;
  const radius = places.length > 1000 ? 2 : places.length > 200 ? 3 : 4.5;
  return (
    <svg class="map" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={`${label}: ${places.length} places`}>
      {lines(box.west, box.east).map((x) => (
        <g key={`x${x}`}>
          <line class="axis" x1={px(x)} x2={px(x)} y1={0} y2={height - 16} />
          <text x={px(x)} y={height - 4} text-anchor="middle">
            {shortNumber(x)}°
          </text>
        </g>
      ))}
      {lines(box.south, box.north).map((y) => (
        <g key={`y${y}`}>
          <line class="axis" x1={0} x2={WIDTH} y1={py(y)} y2={py(y)} />
          <text x={4} y={py(y) - 3}>
            {shortNumber(y)}°
          </text>
        </g>
      ))}
      {places.map(({ x, y }, index) => (
        <circle key={index} class="place" cx={px(x)} cy={py(y)} r={radius}>
          <title>
            {y}, {x}
          </title>
        </circle>
      ))}
    </svg>
  );
}

interface Box {
  west: number;
  east: number;
  south: number;
  north: number;
}

function boundsOf(places: { x: number; y: number }[]): Box {
  const box = { west: Infinity, east: -Infinity, south: Infinity, north: -Infinity };
  for (const { x, y } of places) {
    box.west = Math.min(box.west, x);
    box.east = Math.max(box.east, x);
    box.south = Math.min(box.south, y);
    box.north = Math.max(box.north, y);
  }
  const pad = Math.max(0.01, (box.east - box.west) * 0.03, (box.north - box.south) * 0.03);
  return { west: box.west - pad, east: box.east + pad, south: box.south - pad, north: box.north + pad };
}

/** Round degrees between two, about five of them. */
function lines(from: number, to: number): number[] {
  const rough = (to - from) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
  const all: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) all.push(Number(at.toFixed(6)));
  return all;
}
