//! Converts well-known text (OGC Simple Features) to GeoJSON (RFC 7946), and validates well-known text.

use salver_model::limits::GEOMETRY_DEPTH_MAX;
use salver_model::{Code, Error, Result};

use crate::cell::Cell;
use crate::json;

/// The types with their names in GeoJSON, and the nesting of their positions.
const TYPES: [(&str, &str, Nesting); 7] = [
    ("POINT", "Point", Nesting::Point),
    ("LINESTRING", "LineString", Nesting::Line),
    ("POLYGON", "Polygon", Nesting::Rings),
    ("MULTIPOINT", "MultiPoint", Nesting::Points),
    ("MULTILINESTRING", "MultiLineString", Nesting::Lines),
    ("MULTIPOLYGON", "MultiPolygon", Nesting::Polygons),
    ("GEOMETRYCOLLECTION", "GeometryCollection", Nesting::Collection),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nesting {
    Point,
    Points,
    Line,
    Lines,
    Ring,
    Rings,
    Polygons,
    Collection,
}

/// Returns whether `text` is well-known text that every system accepts.
pub(crate) fn is_wkt(text: &str) -> bool {
    let mut reader = Reader { text, at: 0, dimensions: 0 };
    reader.geometry(0, &mut Vec::new()).is_some() && reader.is_done()
}

/// Appends the geometry in the cell's text.
///
/// # Errors
/// `Execution` for collections, which PHP-CRUD-API does not write either, and for invalid well-known text.
pub(crate) fn write(cell: Cell<'_>, out: &mut Vec<u8>) -> Result<()> {
    let Cell::Text(text) = cell else {
        out.extend_from_slice(b"null");
        return Ok(());
    };
    // PostGIS may put the spatial reference system first.
    let text = text.split_once(';').map_or(text, |(_, rest)| rest);
    let word = text.split(['(', ' ']).next().unwrap_or_default().to_ascii_uppercase();
    let simple = TYPES.iter().any(|(own, _, nesting)| *own == word && *nesting != Nesting::Collection);
    if !simple {
        return Err(Error::new(Code::Execution, format!("Geometry type not supported: {word}")));
    }
    let before = out.len();
    let mut reader = Reader { text, at: 0, dimensions: 0 };
    if reader.geometry(0, out).is_none() || !reader.is_done() {
        out.truncate(before);
        return Err(Error::new(Code::Execution, format!("Could not decode WKT: {text}")));
    }
    Ok(())
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Numbers of a position, once known.
    dimensions: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn is_done(&mut self) -> bool {
        self.skip();
        self.at == self.text.len()
    }

    fn take(&mut self, sign: char) -> bool {
        self.skip();
        let found = self.rest().starts_with(sign);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self) -> &'t str {
        self.skip();
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn geometry(&mut self, depth: usize, out: &mut Vec<u8>) -> Option<()> {
        let word = self.word();
        let (_, name, nesting) = TYPES.iter().find(|(own, _, _)| own.eq_ignore_ascii_case(word))?;
        let before = self.at;
        if !matches!(self.word().to_ascii_uppercase().as_str(), "Z" | "M" | "ZM") {
            self.at = before;
        }
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(name.as_bytes());
        let members = if *nesting == Nesting::Collection { &b"\",\"geometries\":"[..] } else { b"\",\"coordinates\":" };
        out.extend_from_slice(members);
        let before = self.at;
        if self.word().eq_ignore_ascii_case("EMPTY") {
            out.extend_from_slice(b"[]}");
            return Some(());
        }
        self.at = before;
        if depth > GEOMETRY_DEPTH_MAX {
            return None;
        }
        if *nesting == Nesting::Collection {
            self.list(out, |reader, out| reader.geometry(depth + 1, out))?;
        } else {
            self.positions(*nesting, out)?;
        }
        out.push(b'}');
        Some(())
    }

    fn positions(&mut self, nesting: Nesting, out: &mut Vec<u8>) -> Option<()> {
        match nesting {
            Nesting::Point => {
                self.take('(').then_some(())?;
                self.position(out)?;
                self.take(')').then_some(())
            }
            Nesting::Points => {
                self.list(out, |reader, out| {
                    let inner = reader.take('(');
                    reader.position(out)?;
                    (!inner || reader.take(')')).then_some(())
                })?;
                Some(())
            }
            Nesting::Line => (self.list(out, |reader, out| reader.position(out))? >= 2).then_some(()),
            Nesting::Ring => {
                let begin = out.len();
                let count = self.list(out, |reader, out| reader.position(out))?;
                (count >= 4 && is_closed(&out[begin..])).then_some(())
            }
            Nesting::Lines => self.list(out, |reader, out| reader.positions(Nesting::Line, out)).map(|_| ()),
            Nesting::Rings => self.list(out, |reader, out| reader.positions(Nesting::Ring, out)).map(|_| ()),
            Nesting::Polygons => self.list(out, |reader, out| reader.positions(Nesting::Rings, out)).map(|_| ()),
            Nesting::Collection => None,
        }
    }

    /// Converts a list in parentheses to one in brackets; returns its length.
    fn list(
        &mut self,
        out: &mut Vec<u8>,
        mut item: impl FnMut(&mut Self, &mut Vec<u8>) -> Option<()>,
    ) -> Option<usize> {
        if !self.take('(') {
            return None;
        }
        out.push(b'[');
        let mut count = 0;
        loop {
            item(self, out)?;
            count += 1;
            if !self.take(',') {
                break;
            }
            out.push(b',');
        }
        out.push(b']');
        self.take(')').then_some(count)
    }

    fn position(&mut self, out: &mut Vec<u8>) -> Option<()> {
        out.push(b'[');
        let mut count = 0;
        loop {
            self.skip();
            let rest = self.rest();
            let end = rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')).unwrap_or(rest.len());
            if end == 0 {
                break;
            }
            let number: f64 = rest[..end].parse().ok().filter(|number: &f64| number.is_finite())?;
            self.at += end;
            if count > 0 {
                out.push(b',');
            }
            json::double(number, out);
            count += 1;
        }
        out.push(b']');
        if self.dimensions == 0 {
            self.dimensions = count;
        }
        ((2..=4).contains(&count) && count == self.dimensions).then_some(())
    }
}

/// Returns whether a ring, as GeoJSON, ends where it begins.
fn is_closed(ring: &[u8]) -> bool {
    let inner = ring.strip_prefix(b"[").and_then(|ring| ring.strip_suffix(b"]")).unwrap_or_default();
    let first = inner.iter().position(|b| *b == b']').map(|end| &inner[..=end]);
    let last = inner.iter().rposition(|b| *b == b'[').map(|start| &inner[start..]);
    first.is_some() && first == last
}

#[cfg(test)]
mod tests {
    use super::{is_wkt, write};
    use crate::cell::Cell;

    fn geojson(text: &str) -> Result<String, String> {
        let mut out = Vec::new();
        write(Cell::Text(text), &mut out).map_err(|error| error.message)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn every_type() {
        for (text, json) in [
            ("POINT(30 10)", r#"{"type":"Point","coordinates":[30,10]}"#),
            ("POINT Z (1 2 3.5)", r#"{"type":"Point","coordinates":[1,2,3.5]}"#),
            ("SRID=4326;POINT(-1.5e2 .5)", r#"{"type":"Point","coordinates":[-150,0.5]}"#),
            ("MULTIPOINT(10 40,40 30)", r#"{"type":"MultiPoint","coordinates":[[10,40],[40,30]]}"#),
            ("MULTIPOINT((10 40),(40 30))", r#"{"type":"MultiPoint","coordinates":[[10,40],[40,30]]}"#),
            ("LINESTRING (30 10, 10 30)", r#"{"type":"LineString","coordinates":[[30,10],[10,30]]}"#),
            ("POLYGON EMPTY", r#"{"type":"Polygon","coordinates":[]}"#),
            (
                "MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5),(5 5,6 5,6 6,5 5)))",
                concat!(
                    r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],"#,
                    r#"[[[5,5],[6,5],[6,6],[5,5]],[[5,5],[6,5],[6,6],[5,5]]]]}"#,
                ),
            ),
        ] {
            assert_eq!(geojson(text).as_deref(), Ok(json), "{text}");
        }
    }

    #[test]
    fn what_is_not() {
        let collection = "GEOMETRYCOLLECTION(POINT(4 6),LINESTRING(4 6,7 10))";
        assert_eq!(geojson(collection), Err("Geometry type not supported: GEOMETRYCOLLECTION".to_owned()));
        assert!(is_wkt(collection));
        for text in [
            "",
            "POINT",
            "POINT()",
            "POINT(1)",
            "POINT(1 2",
            "POINT(1 2) x",
            "POINT(1 2,3 4)",
            "LINESTRING(1 2)",
            "LINESTRING(1 2,3 4 5)",
            "POLYGON((0 0,1 0,1 1))",
            "POLYGON((0 0,1 0,1 1,2 2))",
            "POINT(inf 1)",
            "CIRCLE(1 2)",
            "1); DROP TABLE x",
        ] {
            assert!(!is_wkt(text), "{text}");
        }
        let deep = "GEOMETRYCOLLECTION(".repeat(1000) + "POINT(1 2)" + &")".repeat(1000);
        assert!(!is_wkt(&deep));
    }
}
