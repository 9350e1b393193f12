//! Damaged files: cut at many places, with bytes changed, and noise. Nothing may panic, hang or be misread as another
//! number of rows; every refusal names the file.

use salver_model::Code;

use crate::generated::{
    Made, arrow_file_of, arrow_stream_of, avro_of, bzip2, gzip, load_within, ods, parquet_of, sample, xlsx, xz, zstd,
};

const CSV: &[u8] = b"id,name,x\n1,\"a\"\"nn\",0.5\n2,\"two\nlines\",1.5\n3,c\xc3\xa4sar,-2\n";
const JSON: &[u8] = b"{\"data\":[{\"id\":1,\"o\":{\"x\":[1,2.5,null]}},{\"id\":-2,\"s\":\"a\\\"\\u00e4b\"}]}";
const GEOJSON: &[u8] = b"{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"id\":1,\"properties\":\
    {\"s\":\"a\\\"b\"},\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2.5]}}]}";

/// Every format with a good file of it.
fn good() -> Vec<(&'static str, Vec<u8>)> {
    let row =
        r#"<row r="1"><c r="A1" t="inlineStr"><is><t>id</t></is></c></row><row r="2"><c r="A2"><v>1</v></c></row>"#;
    let cell = "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>id</text:p></table:table-cell></table:table-row>";
    vec![
        ("a.csv", CSV.to_vec()),
        ("a.tsv", CSV.to_vec()),
        ("a.json", JSON.to_vec()),
        ("a.ndjson", b"{\"id\":1,\"s\":\"x\"}\n{\"id\":2.5,\"s\":[1]}\n".to_vec()),
        ("a.geojson", GEOJSON.to_vec()),
        ("a.parquet", parquet_of(&sample())),
        ("a.arrow", arrow_file_of(&sample())),
        ("a.arrows", arrow_stream_of(&sample())),
        ("a.avro", avro_of(&sample())),
        ("a.xlsx", xlsx(row)),
        ("a.ods", ods(cell)),
        ("a.csv.gz", gzip(CSV)),
        ("a.csv.bz2", bzip2(CSV)),
        ("a.csv.xz", xz(CSV)),
        ("a.csv.zst", zstd(CSV)),
    ]
}

/// Loads the bytes; a failure must be one that a person can act on.
fn try_load(made: &Made, name: &str, bytes: &[u8]) -> bool {
    made.file(name, bytes);
    match load_within(&made.spec(&[name]), 1 << 28) {
        Ok(_) => true,
        Err(wrong) => {
            assert_eq!(wrong.code, Code::Source, "{wrong:?}");
            assert!(wrong.message.contains(name) && wrong.hint.is_some(), "{wrong:?}");
            false
        }
    }
}

#[test]
fn cut_anywhere() {
    quiet();
    let made = Made::new();
    for (name, bytes) in good() {
        assert!(try_load(&made, name, &bytes), "{name}");
        let step = bytes.len() / 400 + 1;
        for end in (0..bytes.len()).step_by(step) {
            let is_ok = try_load(&made, name, &bytes[..end]);
            // Text formats are whole after any line; these say where they end.
            let is_closed = name.ends_with("parquet")
                || name.ends_with("arrow")
                || name.ends_with("json") && !name.ends_with("ndjson");
            assert!(!is_ok || !is_closed, "{name} cut at {end} of {}", bytes.len());
        }
    }
}

#[test]
fn changed_bytes() {
    quiet();
    let made = Made::new();
    let mut random = Random(7);
    for (name, bytes) in good() {
        for _ in 0..150 {
            let mut changed = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(changed.len());
                changed[at] = random.below(256) as u8;
            }
            try_load(&made, name, &changed);
        }
    }
}

#[test]
fn noise() {
    quiet();
    let made = Made::new();
    let mut random = Random(11);
    for (name, good) in good() {
        for size in [1, 2, 7, 64, 1_000, 20_000] {
            let noise: Vec<u8> = (0..size).map(|_| random.below(256) as u8).collect();
            try_load(&made, name, &noise);
            // With the right beginning, readers get further.
            let head = &good[..good.len().min(16)];
            try_load(&made, name, &[head, &noise].concat());
        }
    }
}

/// Readers that panic are caught; their messages would bury the test's own.
fn quiet() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let standard = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_ours = panic.location().is_some_and(|at| at.file().contains("salver"));
            if is_ours
                || panic.location().is_some_and(|at| at.file().starts_with("crates") || at.file().starts_with("tests"))
            {
                standard(panic);
            }
        }));
    });
}

/// xorshift64* (<https://en.wikipedia.org/wiki/Xorshift>): the same noise in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }
}
