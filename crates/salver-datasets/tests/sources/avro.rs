//! Avro files, written byte by byte: what a library writes is never wrong.

use crate::generated::{Made, error, load, one, show, shown};

const SYNC: [u8; 16] = [7; 16];

/// A zig-zag varint.
fn long(value: i64) -> Vec<u8> {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    let mut out = Vec::new();
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
    out
}

fn bytes(value: &[u8]) -> Vec<u8> {
    [long(value.len() as i64), value.to_vec()].concat()
}

/// A file with these blocks, each of which says how many rows it has.
fn packed(schema: &str, codec: &str, blocks: &[(i64, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"Obj\x01".to_vec();
    out.extend(long(2));
    for (name, value) in [("avro.schema", schema), ("avro.codec", codec)] {
        out.extend([bytes(name.as_bytes()), bytes(value.as_bytes())].concat());
    }
    out.extend([&[0][..], &SYNC].concat());
    for (rows, block) in blocks {
        out.extend([long(*rows), bytes(block), SYNC.to_vec()].concat());
    }
    out
}

fn file(schema: &str, blocks: &[(i64, Vec<u8>)]) -> Vec<u8> {
    packed(schema, "null", blocks)
}

/// A record of the fields `a`, `b`, ...
fn record(types: &[&str]) -> String {
    let field = |(name, of): (char, &&str)| format!(r#"{{"name":"{name}","type":{of}}}"#);
    let fields: Vec<String> = ('a'..).zip(types).map(field).collect();
    format!(r#"{{"type":"record","name":"r","fields":[{}]}}"#, fields.join(","))
}

/// What is wrong with a file of one column and one block.
fn wrong(of: &str, rows: i64, block: &[u8]) -> String {
    let found = error("a.avro", file(&record(&[of]), &[(rows, block.to_vec())]));
    assert!(found.message.contains("a.avro` can't be read as Avro: "), "{}", found.message);
    found.message
}

#[test]
fn a_block_has_the_bytes_of_its_rows() {
    let schema = record(&[r#""long""#]);
    let good = (2, [long(1), long(2)].concat());
    assert_eq!(shown("a.avro", file(&schema, &[(0, vec![]), good.clone(), (0, vec![])])), "a:Int64\n1\n2");
    for (block, expected) in [
        ((1, [long(1), long(2)].concat()), "block 2 has 1 bytes more than its 1 rows use"),
        ((0, long(1)), "block 2 has 1 bytes more than its 0 rows use"),
        ((3, [long(1), long(2)].concat()), "block 2, row 3 of it: the block has too few bytes"),
        ((3, vec![]), "block 2, row 1 of it: the block has too few bytes"),
        ((i64::MAX, vec![]), "block 2, row 1 of it: the block has too few bytes"),
        ((-1, vec![]), "block 2 has a negative size"),
    ] {
        let found = error("a.avro", file(&schema, &[good.clone(), block]));
        assert!(found.message.contains(expected), "{}", found.message);
        assert!(found.hint.unwrap().contains("whole"));
    }
}

#[test]
fn rows_without_bytes_are_rows() {
    assert_eq!(shown("a.avro", file(&record(&[r#""null""#]), &[(2, vec![]), (1, vec![])])), "a:Utf8\n~\n~\n~");
    let empty = r#"{"type":"record","name":"e","fields":[]}"#;
    assert_eq!(shown("a.avro", file(&record(&[empty, r#""null""#]), &[(2, vec![])])).lines().count(), 3);
    let fixed = r#"{"type":"fixed","name":"f","size":0}"#;
    assert_eq!(shown("a.avro", file(&record(&[fixed]), &[(2, vec![])])), "a:Binary\n\n");
    // Their number is all that there is of them.
    assert!(wrong(r#""null""#, i64::MAX, &[]).contains("values that take no byte"));
    for of in [r#""null""#, fixed, empty] {
        let array = format!(r#"{{"type":"array","items":{of}}}"#);
        assert!(wrong(&array, 1, &[long(1 << 40), vec![0]].concat()).contains("values that take no byte"), "{of}");
    }
}

#[test]
fn files_where_a_column_is_null_keep_their_rows() {
    let made = Made::new();
    made.file("0.avro", file(&record(&[r#""null""#]), &[(2, vec![])]));
    made.file("1.avro", file(&record(&[r#""long""#]), &[(1, long(7))]));
    assert_eq!(show(&load(&made.spec(&["*.avro"])).unwrap()), "a:Int64\n~\n~\n7");
}

#[test]
fn nulls_inside_of_values() {
    let array = r#"{"type":"array","items":"null"}"#;
    let rows = [long(3), vec![0], vec![0]].concat();
    assert_eq!(
        shown("a.avro", file(&record(&[array]), &[(2, rows)])).lines().skip(1).collect::<Vec<_>>(),
        ["[, , ]", "[]"]
    );
    let of = r#"{"type":"record","name":"s","fields":[{"name":"x","type":"null"},{"name":"y","type":"long"}]}"#;
    let shown =
        shown("a.avro", file(&record(&[of, &format!(r#"["null",{array}]"#)]), &[(1, [long(4), long(0)].concat())]));
    assert!(shown.ends_with("\n{x: , y: 4}|~"), "{shown}");
}

#[test]
fn values_that_are_none_of_their_type() {
    let optional = r#"["null","long"]"#;
    for index in [2, -1, i64::MIN] {
        let found = wrong(optional, 1, &[long(index), long(1)].concat());
        assert!(
            found.contains(&format!("block 1, row 1 of it: `{index}` is the index of none of the 2 types")),
            "{found}"
        );
        let found = wrong(r#"["null","long","string"]"#, 1, &[long(index.saturating_mul(2)), long(1)].concat());
        assert!(found.contains("of none of the 3 types"), "{found}");
        let found = wrong(r#"{"type":"enum","name":"e","symbols":["A","B"]}"#, 1, &long(index));
        assert!(found.contains("of none of the 2 symbols"), "{found}");
    }
    for (of, block, expected) in [
        (r#""boolean""#, vec![2], "`2` is not a `boolean`"),
        (r#""int""#, long(1 << 40), "`1099511627776` is not an `int`"),
        (r#""long""#, vec![0xff; 11], "more than 64 bits"),
        (r#""string""#, [long(-2), b"ab".to_vec()].concat(), "-2 bytes"),
        (r#""string""#, [long(1 << 62), b"ab".to_vec()].concat(), "too few bytes"),
        (r#""string""#, bytes(b"\xff\xfe"), "UTF-8"),
        (r#"{"type":"fixed","name":"f","size":3}"#, vec![1, 2], "too few bytes"),
        (r#"{"type":"bytes","logicalType":"decimal","precision":4}"#, bytes(&[1; 17]), "larger than its type"),
    ] {
        let found = wrong(of, 1, &block);
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn durations_have_no_sign() {
    let of = r#"{"type":"fixed","name":"d","size":12,"logicalType":"duration"}"#;
    let parts = |parts: [u32; 3]| parts.map(u32::to_le_bytes).concat();
    let rows = [parts([1, 2, 3]), parts([i32::MAX as u32, i32::MAX as u32, u32::MAX])].concat();
    assert_eq!(
        shown("a.avro", file(&record(&[of]), &[(2, rows)])),
        "a:Interval(MonthDayNano)\n1 mons 2 days 0.003000000 secs\n\
         2147483647 mons 2147483647 days 1193 hours 2 mins 47.295000000 secs"
    );
    assert!(wrong(of, 1, &parts([u32::MAX, 0, 0])).contains("4294967295 months"));
    let found = error("a.avro", file(&record(&[of]), &[(1, parts([0, 1 << 31, 0]))]));
    assert!(found.message.contains("2147483648 days") && found.hint.unwrap().contains("as text"), "{}", found.message);
}

#[test]
fn types_are_found_by_their_full_names() {
    let schema = r#"{"type":"record","name":"x.r","fields":[
        {"name":"a","type":{"type":"record","name":"s","fields":[{"name":"n","type":"int"}]}},
        {"name":"b","type":{"type":"array","items":"s"}},{"name":"c","type":["null","x.s"]}]}"#;
    let row = [long(1), long(1), long(2), long(0), long(1), long(3)].concat();
    let shown = shown("a.avro", file(schema, &[(1, row)]));
    assert!(shown.ends_with("\n{n: 1}|[{n: 2}]|{n: 3}"), "{shown}");
}

#[test]
fn what_no_table_has_is_said_so() {
    for (schema, expected, hint) in [
        (
            r#"{"type":"record","name":"n","fields":[{"name":"next","type":["null","n"]}]}"#,
            "contains itself",
            "JSON text",
        ),
        (r#""string""#, "of the type `string`", "record with one field"),
        (r#"{"type":"array","items":"long"}"#, "of the type `array`", "record with one field"),
        (r#"["null","long"]"#, "of the type `union`", "record with one field"),
    ] {
        let found = error("a.avro", file(schema, &[]));
        assert!(found.message.contains(expected) && found.hint.unwrap().contains(hint), "{}", found.message);
    }
    let found = error("a.avro", packed(&record(&[r#""long""#]), "lz4", &[]));
    assert!(found.message.contains("`lz4`") && found.hint.unwrap().contains("zstandard"));
    let wide = record(&[r#"{"type":"bytes","logicalType":"decimal","precision":80}"#]);
    assert!(error("a.avro", file(&wide, &[])).message.contains("80 digits"));
}

#[test]
fn every_type() {
    let logical = |of: &str, logical: &str| format!(r#"{{"type":"{of}","logicalType":"{logical}"}}"#);
    let types = [
        (r#""boolean""#.to_owned(), vec![1], "Boolean", "true"),
        (r#""int""#.into(), long(-2), "Int32", "-2"),
        (r#""long""#.into(), long(i64::MIN), "Int64", "-9223372036854775808"),
        (r#""float""#.into(), 1.5_f32.to_le_bytes().to_vec(), "Float32", "1.5"),
        (r#""double""#.into(), 5e-324_f64.to_le_bytes().to_vec(), "Float64", "5e-324"),
        (r#""bytes""#.into(), bytes(&[0, 255]), "Binary", "00ff"),
        (r#""string""#.into(), bytes("ü".as_bytes()), "Utf8", "ü"),
        (logical("int", "date"), long(-1), "Date32", "1969-12-31"),
        (logical("int", "time-millis"), long(1), "Time32(ms)", "00:00:00.001"),
        (logical("long", "time-micros"), long(1), "Time64(µs)", "00:00:00.000001"),
        (logical("long", "timestamp-millis"), long(1), "Timestamp(ms, \"+00:00\")", "1970-01-01T00:00:00.001Z"),
        (logical("long", "timestamp-micros"), long(0), "Timestamp(µs, \"+00:00\")", "1970-01-01T00:00:00Z"),
        (logical("long", "local-timestamp-nanos"), long(0), "Timestamp(ns)", "1970-01-01T00:00:00"),
        (logical("string", "uuid"), bytes(b"x"), "Utf8", "x"),
        (r#"{"type":"fixed","name":"f","size":2}"#.into(), vec![1, 2], "FixedSizeBinary(2)", "0102"),
        (
            r#"{"type":"fixed","name":"u","size":16,"logicalType":"uuid"}"#.into(),
            vec![0x11; 16],
            "Utf8",
            "11111111-1111-1111-1111-111111111111",
        ),
        (
            r#"{"type":"bytes","logicalType":"decimal","precision":5,"scale":2}"#.into(),
            bytes(&[0xff, 0x6a]),
            "Decimal128(5, 2)",
            "-1.50",
        ),
        (
            r#"{"type":"fixed","name":"d","size":3,"logicalType":"decimal","precision":40}"#.into(),
            vec![0, 1, 0],
            "Decimal256(40, 0)",
            "256",
        ),
        (r#"{"type":"enum","name":"e","symbols":["A","B"]}"#.into(), long(1), "Utf8", "B"),
    ];
    for (of, value, arrow, text) in &types {
        assert_eq!(shown("a.avro", file(&record(&[of]), &[(1, value.clone())])), format!("a:{arrow}\n{text}"));
        // In unions with null on either side, two rows of which one is null.
        for (union, null, other) in [(format!(r#"["null",{of}]"#), 0, 1), (format!(r#"[{of},"null"]"#), 1, 0)] {
            let rows = [long(null), long(other), value.clone()].concat();
            assert_eq!(shown("a.avro", file(&record(&[&union]), &[(2, rows)])), format!("a:{arrow}\n~\n{text}"));
        }
        // Below a null, and in a union of more types.
        let deep = format!(r#"["null",{{"type":"record","name":"s","fields":[{{"name":"x","type":{of}}}]}}]"#);
        let rows = [long(0), long(1), value.clone()].concat();
        let found = shown("a.avro", file(&record(&[&deep]), &[(2, rows)]));
        assert!(found.ends_with(&format!("\n~\n{{x: {text}}}")), "{found}");
        let map = r#"{"type":"map","values":"long"}"#;
        let rows =
            [long(0), long(2), value.clone(), long(1), long(-1), long(9), bytes(b"k"), long(5), long(0)].concat();
        let found = shown("a.avro", file(&record(&[&format!(r#"["null",{map},{of}]"#)]), &[(3, rows)]));
        assert!(found.contains("{k: 5}"), "{found}");
    }
}

#[test]
fn batches_and_codecs() {
    use std::io::Write as _;
    let schema = record(&[r#""long""#, r#""string""#]);
    let rows: Vec<u8> = (0..40_000).flat_map(|n: i64| [long(n), bytes(n.to_string().as_bytes())].concat()).collect();
    let expected: String = (0..40_000).fold("a:Int64|b:Utf8".to_owned(), |sum, n| format!("{sum}\n{n}|{n}"));
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    deflate.write_all(&rows).unwrap();
    for (codec, block) in [
        ("null", rows.clone()),
        ("deflate", deflate.finish().unwrap()),
        ("zstandard", crate::generated::zstd(&rows)),
        ("bzip2", crate::generated::bzip2(&rows)),
        ("xz", crate::generated::xz(&rows)),
        ("snappy", snappy(&rows, 0)),
    ] {
        assert!(shown("a.avro", packed(&schema, codec, &[(40_000, block.clone())])) == expected, "{codec}");
        if codec != "null" {
            let cut = block[..block.len() / 2].to_vec();
            let found = error("a.avro", packed(&schema, codec, &[(40_000, cut)]));
            assert!(found.message.contains("block 1"), "{codec}: {}", found.message);
        }
    }
    let found = error("a.avro", packed(&schema, "snappy", &[(40_000, snappy(&rows, 1))]));
    assert!(found.message.contains("checksum"), "{}", found.message);
    assert!(error("a.avro", packed(&schema, "snappy", &[(1, vec![1])])).message.contains("checksum"));
}

fn snappy(rows: &[u8], off: u32) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(rows);
    let packed = snap::raw::Encoder::new().compress_vec(rows).unwrap();
    [packed, crc.sum().wrapping_add(off).to_be_bytes().to_vec()].concat()
}

#[test]
fn no_damage_hangs_or_panics() {
    let types = [r#"["null","long","string"]"#, r#"{"type":"array","items":["null","string"]}"#, r#""double""#];
    let row = |n: i64| {
        let item = [long(1), bytes(b"item")].concat();
        [long(2), bytes(b"text"), long(2), item.clone(), item, long(0), (n as f64).to_le_bytes().to_vec()].concat()
    };
    let whole = file(&record(&types), &[(2, [row(1), row(2)].concat()), (1, row(3))]);
    let (_made, spec) = one("a.avro", &whole);
    assert_eq!(load(&spec).unwrap().rows, 3);
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            let (_made, spec) = one("a.avro", &damaged);
            // Whether it is an error or other rows: it ends.
            let _ = load(&spec);
        }
    }
}
