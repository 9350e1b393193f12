//! Random batches: our JSON against Arrow's own writer, as values, for every type that it writes.

use std::sync::Arc;

use arrow::array::*;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields, IntervalDayTime, IntervalMonthDayNano, TimeUnit, i256};
use arrow::json::WriterBuilder;
use arrow::json::writer::JsonArray;
use salver_formats::Nulls;
use salver_formats::json::ColumnWriter;
use serde_json::Value;

use super::sample::{batch, csv, text_of};

/// A small generator (Marsaglia's xorshift), so that a failure comes again.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    /// A number of any magnitude.
    pub(super) fn number(&mut self) -> i64 {
        let shift = self.below(64);
        (self.next() as i64) >> shift
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(5) > 0).then(|| make(self))
    }

    pub(super) fn many<T>(&mut self, rows: usize, make: impl Fn(&mut Self) -> T) -> Vec<Option<T>> {
        (0..rows).map(|_| self.maybe(&make)).collect()
    }

    pub(super) fn text(&mut self) -> String {
        const PIECES: [&str; 12] =
            ["a", "bc", " ", "\"", "\\", "\n", "\u{1}", "é", "😀", ",", "long plain run of text", "<&>"];
        (0..self.below(6)).map(|_| PIECES[self.below(12) as usize]).collect()
    }

    pub(super) fn float(&mut self) -> f64 {
        match self.below(8) {
            0 => f64::from_bits(self.next()),
            1 => f64::NAN,
            2 => self.number() as f64,
            _ => self.number() as f64 / 1e6,
        }
    }

    fn column(&mut self, rows: usize, depth: u32) -> ArrayRef {
        match self.below(if depth > 0 { 24 } else { 20 }) {
            0 => Arc::new(BooleanArray::from(self.many(rows, |r| r.below(2) == 0))),
            1 => Arc::new(Int8Array::from(self.many(rows, |r| r.number() as i8))),
            2 => Arc::new(Int32Array::from(self.many(rows, |r| r.number() as i32))),
            3 => Arc::new(Int64Array::from(self.many(rows, Self::number))),
            4 => Arc::new(UInt64Array::from(self.many(rows, |r| r.number() as u64))),
            5 => Arc::new(Float64Array::from(self.many(rows, Self::float))),
            6 => Arc::new(Float32Array::from(self.many(rows, |r| r.float() as f32))),
            7 => Arc::new(StringArray::from(self.many(rows, Self::text))),
            8 => Arc::new(StringViewArray::from_iter(self.many(rows, Self::text))),
            9 => Arc::new(BinaryArray::from_iter(self.many(rows, Self::text))),
            10 => Arc::new(Date32Array::from(self.many(rows, |r| r.below(6_000_000) as i32 - 3_000_000))),
            11 => Arc::new(Date64Array::from(self.many(rows, |r| r.number() >> 12))),
            12 => Arc::new(Time64NanosecondArray::from(self.many(rows, |r| r.below(86_400_000_000_000) as i64))),
            13 => self.timestamps(rows),
            14 => Arc::new(DurationMillisecondArray::from(self.many(rows, |r| r.number() >> 2))),
            15 => Arc::new(IntervalYearMonthArray::from(self.many(rows, |r| r.number() as i32))),
            16 => Arc::new(IntervalDayTimeArray::from(
                self.many(rows, |r| IntervalDayTime::new(r.number() as i32, (r.number() as i32).max(-i32::MAX))),
            )),
            17 => Arc::new(IntervalMonthDayNanoArray::from(
                self.many(rows, |r| IntervalMonthDayNano::new(r.number() as i32, r.number() as i32, r.number())),
            )),
            18 => self.decimals(rows),
            19 => {
                let texts = StringArray::from(self.many(rows, |r| r.below(9).to_string()));
                let kind = DataType::Dictionary(Box::new(DataType::Int16), Box::new(DataType::Utf8));
                cast(&texts, &kind).unwrap()
            }
            20 => self.structs(rows, depth),
            21 => self.maps(rows),
            _ => self.lists(rows, depth),
        }
    }

    fn timestamps(&mut self, rows: usize) -> ArrayRef {
        const ZONES: [Option<&str>; 6] =
            [None, Some("UTC"), Some("+02:00"), Some("-09:30"), Some("America/New_York"), Some("Asia/Kathmandu")];
        let zone = ZONES[self.below(6) as usize].map(Arc::from);
        let unit = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond]
            [self.below(4) as usize];
        // Arrow's writer knows only the years that its date library does.
        let bits = match unit {
            TimeUnit::Second => 22,
            TimeUnit::Millisecond => 12,
            _ => 2,
        };
        let values = Int64Array::from(self.many(rows, |r| r.number() >> bits));
        cast(&values, &DataType::Timestamp(unit, zone)).unwrap()
    }

    fn decimals(&mut self, rows: usize) -> ArrayRef {
        // Below zero, Arrow's writer writes nought as `000`, which is not JSON; see `types::decimals` for ours.
        let scale = self.below(11) as i8;
        let values = self.many(rows, |r| i128::from(r.number()));
        if self.below(2) == 0 {
            return Arc::new(Decimal128Array::from(values).with_precision_and_scale(38, scale).unwrap());
        }
        let wide: Vec<_> = values.into_iter().map(|v| v.map(i256::from_i128)).collect();
        Arc::new(Decimal256Array::from(wide).with_precision_and_scale(76, scale).unwrap())
    }

    fn nulls(&mut self, rows: usize) -> Option<arrow::buffer::NullBuffer> {
        self.maybe(|r| (0..rows).map(|_| r.below(4) > 0).collect())
    }

    fn structs(&mut self, rows: usize, depth: u32) -> ArrayRef {
        let columns: Vec<_> = (0..1 + self.below(3)).map(|_| self.column(rows, depth - 1)).collect();
        let field = |(i, array): (usize, &ArrayRef)| Field::new(format!("f{i}"), array.data_type().clone(), true);
        let fields: Fields = columns.iter().enumerate().map(field).collect();
        let nulls = self.nulls(rows);
        Arc::new(StructArray::new(fields, columns, nulls))
    }

    fn maps(&mut self, rows: usize) -> ArrayRef {
        let mut maps = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
        for row in 0..rows {
            for key in 0..self.below(4) {
                maps.keys().append_value(format!("{row} \"{key}\""));
                let value = self.maybe(Self::number);
                maps.values().append_option(value);
            }
            maps.append(self.below(5) > 0).unwrap();
        }
        Arc::new(maps.finish())
    }

    fn lists(&mut self, rows: usize, depth: u32) -> ArrayRef {
        let lengths: Vec<_> = (0..rows).map(|_| self.below(4) as usize).collect();
        let values = self.column(lengths.iter().sum(), depth - 1);
        let item = Arc::new(Field::new_list_field(values.data_type().clone(), true));
        let nulls = self.nulls(rows);
        let offsets = arrow::buffer::OffsetBuffer::from_lengths(lengths);
        Arc::new(ListArray::new(item, offsets, values, nulls))
    }

    pub(super) fn batch(&mut self) -> RecordBatch {
        let rows = self.below(40) as usize;
        let columns: Vec<_> = (0..1 + self.below(6)).map(|i| (format!("column {i}"), self.column(rows, 2))).collect();
        let columns: Vec<_> = columns.iter().map(|(name, array)| (name.as_str(), Arc::clone(array))).collect();
        let start = self.below(rows as u64 + 1) as usize;
        let len = self.below((rows - start) as u64 + 1) as usize;
        batch(&columns).slice(start, len)
    }
}

fn arrows_json(batch: &RecordBatch, nulls: Nulls) -> Value {
    let mut writer = WriterBuilder::new().with_explicit_nulls(nulls == Nulls::Write).build::<_, JsonArray>(Vec::new());
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    serde_json::from_slice(&writer.into_inner()).unwrap()
}

/// Equal but for the last place of floats: the same float has several texts, and the parser rounds some of them wrong.
fn alike(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| alike(a, b))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|((key, a), (other, b))| key == other && alike(a, b))
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            // Two texts of equal length may stand for one float; which one, writers may choose. That ours give back the
            // very bits is tested below.
            a as f32 == b as f32 || (a - b).abs() <= a.abs() * 1e-15
        }
        _ => ours == theirs,
    }
}

/// The standard library's parser is exact, so the text of a float must give back its very bits.
#[test]
fn floats_read_back_exactly() {
    let mut random = Random(7);
    let mut values: Vec<f64> = (0..20_000).map(|_| random.float()).filter(|value| value.is_finite()).collect();
    values.extend([0.0, -0.0, f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324]);
    let doubles = Float64Array::from(values);
    let floats = cast(&doubles, &DataType::Float32).unwrap();
    let floats = floats.as_primitive::<arrow::datatypes::Float32Type>();
    let (double_writer, float_writer) = (ColumnWriter::new(&doubles).unwrap(), ColumnWriter::new(floats).unwrap());
    let mut out = Vec::new();
    for row in 0..doubles.len() {
        out.clear();
        double_writer.write(row, &mut out);
        let read: f64 = std::str::from_utf8(&out).unwrap().parse().unwrap();
        assert_eq!(read.to_bits(), doubles.value(row).to_bits());
        if floats.value(row).is_finite() {
            out.clear();
            float_writer.write(row, &mut out);
            let read: f32 = std::str::from_utf8(&out).unwrap().parse().unwrap();
            assert_eq!(read.to_bits(), floats.value(row).to_bits());
        }
    }
}

#[test]
fn json_agrees_with_arrows_writer() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..1_500 {
        let batch = random.batch();
        for nulls in [Nulls::Write, Nulls::Omit] {
            let ours = text_of(salver_formats::Format::Json, nulls, std::slice::from_ref(&batch));
            let parsed: Value =
                serde_json::from_str(&ours).unwrap_or_else(|error| panic!("round {round}: {error}\n{ours}"));
            let arrows = arrows_json(&batch, nulls);
            assert!(alike(&parsed, &arrows), "round {round}, {:?}\n{parsed}\n{arrows}", batch.schema());
            let lines = text_of(salver_formats::Format::NdJson, nulls, std::slice::from_ref(&batch));
            let joined = format!("[{}]", lines.trim_end_matches('\n').replace("}\n{", "},{"));
            assert_eq!(joined, ours, "round {round}");
        }
    }
}

/// Every CSV row has as many fields as the header, whatever is in them.
#[test]
fn csv_keeps_its_shape() {
    let mut random = Random(42);
    for round in 0..500 {
        let batch = random.batch();
        let text = csv(&batch);
        let (mut quoted, mut fields, mut rows) = (false, 1, 0);
        for byte in text.bytes() {
            match byte {
                b'"' => quoted = !quoted,
                b',' if !quoted => fields += 1,
                b'\n' if !quoted => {
                    assert_eq!(fields, batch.num_columns(), "round {round}\n{text}");
                    (fields, rows) = (1, rows + 1);
                }
                _ => {}
            }
        }
        assert_eq!(rows, batch.num_rows() + 1, "round {round}");
    }
}
