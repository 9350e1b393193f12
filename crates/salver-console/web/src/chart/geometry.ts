/** A place as a map draws it. */
export interface Position {
  x: number;
  y: number;
}

/**
 * The points of a geometry in GeoJSON, also those within collections. `null` for what is none, and nothing for lines and
 * areas, which are no points.
 */
export function pointsOf(text: string): Position[] | null {
  try {
    return pointsIn(JSON.parse(text));
  } catch {
    return null;
  }
}

function pointsIn(geometry: unknown): Position[] | null {
  if (typeof geometry !== "object" || geometry === null) return null;
  const { type, coordinates, geometries } = geometry as Record<string, unknown>;
  if (type === "GeometryCollection") return Array.isArray(geometries) ? geometries.flatMap((one) => pointsIn(one) ?? []) : null;
  if (typeof type !== "string" || !Array.isArray(coordinates)) return null;
  if (type === "Point") return positionsIn([coordinates]);
  return type === "MultiPoint" ? positionsIn(coordinates) : [];
}

function positionsIn(list: unknown[]): Position[] {
  return list.flatMap((one) => (Array.isArray(one) && typeof one[0] === "number" && typeof one[1] === "number" ? [{ x: one[0], y: one[1] }] : []));
}
