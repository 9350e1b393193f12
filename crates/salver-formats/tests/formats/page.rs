//! The HTML page: complete, and safe whatever the values are.

use std::sync::Arc;

use arrow::array::*;
use arrow::datatypes::{DataType, Field, Int8Type, Schema};
use salver_formats::{Format, Nulls, Style, encode};

use super::sample::{batch, text_of};

#[test]
fn a_whole_page_with_escaped_values() {
    let mut list = ListBuilder::new(StringBuilder::new());
    list.append_value([Some("<b>")]);
    list.append_null();
    let rows = batch(&[
        ("<name>", Arc::new(StringArray::from(vec![Some("<script>alert('x' & \"y\")</script>\u{0}"), None]))),
        ("n", Arc::new(Int64Array::from(vec![Some(-5), None]))),
        ("l", Arc::new(list.finish())),
        ("d", Arc::new(["<i>", "<i>"].into_iter().collect::<DictionaryArray<Int8Type>>())),
    ]);
    let page = text_of(Format::Html, Nulls::Write, &[rows]);
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"), "{page}");
    assert!(page.ends_with("</html>\n"), "{page}");
    assert!(page.contains("<title>A &lt;title&gt;</title>"), "{page}");
    assert!(page.contains("<th scope=\"col\">&lt;name&gt;<small>Utf8</small></th>"), "{page}");
    let row = "<tr><td>&lt;script&gt;alert(&#39;x&#39; &amp; &quot;y&quot;)&lt;/script&gt;\u{fffd}</td>\
        <td class=\"number\">-5</td><td>[&quot;&lt;b&gt;&quot;]</td><td>&lt;i&gt;</td></tr>\n";
    assert!(page.contains(row), "{page}");
    let nulls = "<tr><td class=\"null\"></td><td class=\"null\"></td><td class=\"null\"></td><td>&lt;i&gt;</td></tr>\n";
    assert!(page.contains(nulls), "{page}");
    assert_eq!(page.matches("<script").count(), 0);
}

#[test]
fn a_page_without_rows_or_title() {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, true)]));
    let page = String::from_utf8(encode(Format::Html, &schema, &[], &Style::default()).unwrap()).unwrap();
    assert!(page.contains("<tbody>\n</tbody>"), "{page}");
    assert!(page.contains("<title>Rows</title>"), "{page}");
}

/// A value may turn its own text, not that beside it; and the title of a page has no elements.
#[test]
fn values_that_turn_text_are_isolated() {
    let rows = batch(&[("a\u{202e}b", Arc::new(StringArray::from(vec!["x\u{202e}y", "\u{2067}<i>", "\u{5d0}", "…"])))]);
    let schema = rows.schema();
    let style = Style { title: "t\u{202e}u".to_owned(), cell_bytes: Some(6), ..Style::default() };
    let page = String::from_utf8(encode(Format::Html, &schema, &[rows], &style).unwrap()).unwrap();
    for part in [
        "<title>t\u{fffd}u</title>",
        "<h1><bdi>t\u{202e}u</bdi></h1>",
        "<th scope=\"col\"><bdi>a\u{202e}b</bdi><small>",
        "<td><bdi>x\u{202e}y</bdi></td>",
        // Cut off where the reference would be broken.
        "<td><bdi>\u{2067}…</bdi></td>",
        "<td>\u{5d0}</td>",
        "<td>…</td>",
    ] {
        assert!(page.contains(part), "{part:?} in {page}");
    }
}
