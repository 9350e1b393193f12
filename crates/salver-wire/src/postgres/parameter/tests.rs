//! Values of every type, in text and in binary, at their bounds and beyond, and what is none.

use bytes::Bytes;
use salver_model::pg_parameter::{Element, PgContent, PgDatum, PgParameter};
use salver_model::pg_type::Scalar;

use super::super::message::{Bind, Format, Formats};
use super::{content, declared, values};

fn text(written: &str, scalar: Scalar) -> Result<PgContent, &'static str> {
    content(written.as_bytes(), PgParameter::of_scalar(scalar), (Format::Text, 0)).map_err(|refusal| refusal.state)
}

fn binary(bytes: &[u8], scalar: Scalar) -> Result<PgContent, &'static str> {
    content(bytes, PgParameter::of_scalar(scalar), (Format::Binary, 0)).map_err(|refusal| refusal.state)
}

fn one(datum: PgDatum) -> Result<PgContent, &'static str> {
    Ok(PgContent::One(datum))
}

fn digits(written: &str) -> Result<PgContent, &'static str> {
    one(PgDatum::Digits(written.to_owned()))
}

fn words(of: &[u16]) -> Vec<u8> {
    of.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Returns numbers that are the same each time.
fn generator() -> impl FnMut() -> u64 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

#[test]
fn integers_are_in_their_ranges() {
    for (scalar, least, most) in [
        (Scalar::Int2, i64::from(i16::MIN), i64::from(i16::MAX)),
        (Scalar::Int4, i64::from(i32::MIN), i64::from(i32::MAX)),
        (Scalar::Int8, i64::MIN, i64::MAX),
    ] {
        for number in [least, most, 0, -1] {
            assert_eq!(text(&format!(" {number} "), scalar), one(PgDatum::Int(number)));
        }
        for beyond in [i128::from(least) - 1, i128::from(most) + 1, i128::MAX] {
            assert_eq!(text(&beyond.to_string(), scalar), Err("22003"), "{beyond}");
        }
        for wrong in ["", "x", "1.5", "1e3", "--1", "1 2", "0x1", "\u{661}"] {
            assert_eq!(text(wrong, scalar), Err("22P02"), "{wrong}");
        }
    }
    assert_eq!(text("+7", Scalar::Int4), one(PgDatum::Int(7)));
    assert_eq!(binary(&(-7_i16).to_be_bytes(), Scalar::Int2), one(PgDatum::Int(-7)));
    assert_eq!(binary(&i64::MIN.to_be_bytes(), Scalar::Int8), one(PgDatum::Int(i64::MIN)));
    assert_eq!(binary(&7_i32.to_be_bytes(), Scalar::Int8), Err("22P03"));
}

#[test]
fn floats_are_in_their_ranges() {
    assert_eq!(text("1e300", Scalar::Float8), one(PgDatum::Float(1e300)));
    assert_eq!(text("-Infinity", Scalar::Float8), one(PgDatum::Float(f64::NEG_INFINITY)));
    assert!(matches!(text("nan", Scalar::Float4), Ok(PgContent::One(PgDatum::Float(number))) if number.is_nan()));
    for (wrong, scalar) in [("1e999", Scalar::Float8), ("1e-999", Scalar::Float8), ("1e39", Scalar::Float4)] {
        assert_eq!(text(wrong, scalar), Err("22003"), "{wrong}");
    }
    for wrong in ["", "x", "1,5", "1_0"] {
        assert_eq!(text(wrong, Scalar::Float8), Err("22P02"), "{wrong}");
    }
    assert_eq!(text("0e-999", Scalar::Float8), one(PgDatum::Float(0.0)));
    assert_eq!(binary(&1.5_f32.to_be_bytes(), Scalar::Float4), one(PgDatum::Float(1.5)));
}

#[test]
fn numbers_keep_their_digits() {
    let nines = "9".repeat(76);
    for (written, wanted) in [
        ("12345.6789", "12345.6789"),
        ("-0.010", "-0.010"),
        ("+.5", "0.5"),
        ("5.", "5"),
        ("007", "7"),
        ("-0", "0"),
        ("0.00", "0.00"),
        ("1.5e3", "1500"),
        ("15e-3", "0.015"),
        ("0e5", "0"),
        (nines.as_str(), nines.as_str()),
    ] {
        assert_eq!(text(written, Scalar::Numeric), digits(wanted), "{written}");
    }
    for beyond in [&format!("{nines}9"), &format!("{nines}.5"), "1e76", "1e-77", "1e2147483648", "1e-99999999999"] {
        assert_eq!(text(beyond, Scalar::Numeric), Err("22003"), "{beyond}");
    }
    for wrong in ["", ".", "e5", "1e", "1e+", "1.2.3", "1 2", "x", "-"] {
        assert_eq!(text(wrong, Scalar::Numeric), Err("22P02"), "{wrong}");
    }
    for none in ["NaN", "-Infinity", "inf"] {
        assert_eq!(text(none, Scalar::Numeric), Err("0A000"), "{none}");
    }
}

#[test]
fn binary_numbers_keep_their_digits() {
    let read = |of: &[u16]| binary(&words(of), Scalar::Numeric);
    assert_eq!(read(&[3, 1, 0, 4, 1, 2345, 6789]), digits("12345.6789"));
    assert_eq!(read(&[1, 0xffff, 0x4000, 2, 100]), digits("-0.01"));
    assert_eq!(read(&[1, 0xfffe, 0, 7, 1230]), digits("0.0000123"));
    assert_eq!(read(&[0, 0, 0, 0]), digits("0"));
    assert_eq!(read(&[0, 0, 0, 2]), digits("0.00"));
    assert_eq!(read(&[1, 1, 0, 0, 1]), digits("10000"));
    assert_eq!(read(&[2, 1, 0, 0, 0, 7]), digits("7"));
    assert_eq!(read(&[1, 18, 0, 0, 9_999]), digits(&format!("9999{}", "0".repeat(72))));
    for of in [&[1, 19, 0, 0, 9_999][..], &[1, 0, 0, 77, 1], &[1, 0x7fff, 0, 0, 1], &[0, 0, 0, 77]] {
        assert_eq!(read(of), Err("22003"), "{of:?}");
    }
    for of in [&[1, 0, 0, 0, 10_000][..], &[2, 0, 0, 0, 1], &[0, 0, 0], &[0, 0, 1, 0], &[0, 0, 0, 0x4000]] {
        assert_eq!(read(of), Err("22P03"), "{of:?}");
    }
    for sign in [0xc000, 0xd000, 0xf000] {
        assert_eq!(read(&[0, 0, sign, 0]), Err("0A000"));
    }
}

/// A number reads the same in text and in binary.
#[test]
fn generated_numbers_read_alike() {
    let mut next = generator();
    for _ in 0..2_000 {
        let (whole, scale) = (next() as u32, (next() % 9) as usize);
        let fraction: u64 = next() % 10_u64.pow(scale as u32);
        let is_negative = next().is_multiple_of(2);
        let sign = if is_negative && (whole, fraction) != (0, 0) { "-" } else { "" };
        let written = if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction:0scale$}") };
        let padded = format!("{whole:012}");
        let behind = format!("{fraction:0scale$}").chars().chain("0".repeat(12).chars()).take(8).collect::<String>();
        let behind = if scale == 0 { "0".repeat(8) } else { behind };
        let all = format!("{padded}{behind}");
        let groups = (0..5).map(|at| all[4 * at..4 * at + 4].parse::<u16>().unwrap());
        let head = [5, 2, if is_negative { 0x4000 } else { 0 }, scale as u16];
        let of: Vec<u16> = head.into_iter().chain(groups).collect();
        assert_eq!(text(&written, Scalar::Numeric), digits(&written));
        assert_eq!(binary(&words(&of), Scalar::Numeric), digits(&written), "{of:?}");
    }
}

#[test]
fn dates_and_times() {
    let days = |days| one(PgDatum::Days(days));
    let micros = |micros| one(PgDatum::Micros(micros));
    for (written, wanted) in [
        ("1970-01-02", 1),
        ("19700102", 1),
        ("1970-1-2", 1),
        ("1970-01-02 +00", 1),
        ("1970-01-02 23:59:59", 1),
        ("0001-12-31 BC", -719_163),
        ("epoch", 0),
        ("5874897-12-31", 2_145_042_905),
    ] {
        assert_eq!(text(written, Scalar::Date), days(wanted), "{written}");
    }
    for (written, plain, zoned) in [
        ("1970-01-01 00:00:01", 1_000_000, 1_000_000),
        ("1970-01-01T00:00:00.5Z", 500_000, 500_000),
        ("1970-01-01 02:00:00+02", 7_200_000_000, 0),
        ("1970-01-01 00:00 -00:30", 0, 1_800_000_000),
        ("1970-01-01 24:00", 86_400_000_000, 86_400_000_000),
        ("1970-01-01 00:00:00.0000015", 2, 2),
        ("1970-01-01 05:30:15+05:30:15", 19_815_000_000, 0),
    ] {
        assert_eq!(text(written, Scalar::Timestamp), micros(plain), "{written}");
        assert_eq!(text(written, Scalar::TimestampTz), micros(zoned), "{written}");
    }
    assert_eq!(text("01:02:03.000004", Scalar::Time), micros(3_723_000_004));
    assert_eq!(text("01:02+05", Scalar::Time), micros(3_720_000_000));
    for (wrong, scalar) in [
        ("x", Scalar::Date),
        ("", Scalar::Date),
        ("2024", Scalar::Date),
        ("12:00", Scalar::Timestamp),
        ("x", Scalar::Time),
    ] {
        assert_eq!(text(wrong, scalar), Err("22007"), "{wrong}");
    }
    for (wrong, scalar) in [
        ("2023-02-29", Scalar::Date),
        ("2023-13-01", Scalar::Date),
        ("0000-01-01", Scalar::Date),
        ("infinity", Scalar::Date),
        ("-infinity", Scalar::TimestampTz),
        ("2024-01-01 25:00", Scalar::Timestamp),
        ("9999999-01-01", Scalar::Timestamp),
        ("24:00", Scalar::Time),
    ] {
        assert_eq!(text(wrong, scalar), Err("22008"), "{wrong}");
    }
    assert_eq!(text("2024-01-01 00:00+17", Scalar::TimestampTz), Err("22009"));
    assert_eq!(binary(&(-1_i32).to_be_bytes(), Scalar::Date), days(10_956));
    assert_eq!(binary(&i32::MAX.to_be_bytes(), Scalar::Date), Err("22008"));
    assert_eq!(binary(&i32::MIN.to_be_bytes(), Scalar::Date), Err("22008"));
    assert_eq!(binary(&(-1_i64).to_be_bytes(), Scalar::TimestampTz), micros(946_684_799_999_999));
    assert_eq!(binary(&i64::MAX.to_be_bytes(), Scalar::Timestamp), Err("22008"));
    assert_eq!(binary(&i64::MIN.to_be_bytes(), Scalar::Timestamp), Err("22008"));
    assert_eq!(binary(&(-1_i64).to_be_bytes(), Scalar::Time), Err("22008"));
}

#[test]
fn intervals() {
    let interval = |months, days, micros| one(PgDatum::Interval { months, days, micros });
    assert_eq!(text("1 year 2 mons -3 days 04:05:06.5", Scalar::Interval), interval(14, -3, 14_706_500_000));
    assert_eq!(text("P1DT1S", Scalar::Interval), interval(0, 1, 1_000_000));
    assert_eq!(text("", Scalar::Interval), Err("22007"));
    assert_eq!(text("1 parsec", Scalar::Interval), Err("22007"));
    assert_eq!(text("3000000000 days", Scalar::Interval), Err("22015"));
    let bytes = [&1_i64.to_be_bytes()[..], &2_i32.to_be_bytes(), &(-3_i32).to_be_bytes()].concat();
    assert_eq!(binary(&bytes, Scalar::Interval), interval(-3, 2, 1));
    assert_eq!(binary(&bytes[..15], Scalar::Interval), Err("22P03"));
}

#[test]
fn texts_and_bytes() {
    let bytes = |of: &[u8]| one(PgDatum::Bytes(of.to_vec()));
    for (written, wanted) in [("t", Some(true)), ("OFF", Some(false)), ("o", None), ("", None), ("yess", None)] {
        let wanted = wanted.map_or(Err("22P02"), |wanted| one(PgDatum::Bool(wanted)));
        assert_eq!(text(written, Scalar::Bool), wanted, "{written}");
    }
    assert_eq!(text("\\x00 fF", Scalar::Bytea), bytes(b"\x00\xff"));
    assert_eq!(text("a\\\\\\001", Scalar::Bytea), bytes(b"a\\\x01"));
    assert_eq!(text("\\x0", Scalar::Bytea), Err("22023"));
    assert_eq!(text("\\xzz", Scalar::Bytea), Err("22023"));
    assert_eq!(text("\\9", Scalar::Bytea), Err("22P02"));
    assert_eq!(binary(b"\x00\xff", Scalar::Bytea), bytes(b"\x00\xff"));
    assert_eq!(text("{\"a\": 1}", Scalar::Json), one(PgDatum::Text("{\"a\": 1}".to_owned())));
    assert_eq!(text("{", Scalar::Json), Err("22P02"));
    assert_eq!(text("a\0", Scalar::Text), Err("22021"));
    assert_eq!(binary(b"\xff", Scalar::Text), Err("22021"));
    let of = |element, format, bytes: &[u8]| {
        content(bytes, PgParameter { element, is_array: false }, (format, 0)).map_err(|refusal| refusal.state)
    };
    let uuid = one(PgDatum::Text("0123abcd-4567-89ef-0123-456789abcdef".to_owned()));
    assert_eq!(of(Element::Uuid, Format::Text, b"{0123ABCD-4567-89ef-0123456789abcdef}"), uuid);
    let raw = b"\x01\x23\xab\xcd\x45\x67\x89\xef\x01\x23\x45\x67\x89\xab\xcd\xef";
    assert_eq!(of(Element::Uuid, Format::Binary, raw), uuid);
    for wrong in ["", "0123abcd", "0123abcd-4567-89ef-0123-456789abcdef-", "012-3abcd456789ef0123456789abcdef"] {
        assert_eq!(of(Element::Uuid, Format::Text, wrong.as_bytes()), Err("22P02"), "{wrong}");
    }
    assert_eq!(of(Element::Jsonb, Format::Binary, b"\x01{}"), one(PgDatum::Text("{}".to_owned())));
    assert_eq!(of(Element::Jsonb, Format::Binary, b"\x02{}"), Err("22P03"));
}

fn texts(written: &str) -> Result<PgContent, &'static str> {
    let kind = PgParameter { is_array: true, ..PgParameter::TEXT };
    content(written.as_bytes(), kind, (Format::Text, 0)).map_err(|refusal| refusal.state)
}

#[test]
fn arrays_in_text() {
    let of = |all: &[Option<&str>]| {
        let texts = all.iter().map(|own| own.map(|text| PgDatum::Text(text.to_owned())));
        Ok(PgContent::Array(texts.collect()))
    };
    assert_eq!(texts("{}"), of(&[]));
    assert_eq!(
        texts(" { a , \"b \\\"c\" ,NULL,\"NULL\",x\\ } "),
        of(&[Some("a"), Some("b \"c"), None, Some("NULL"), Some("x ")])
    );
    assert_eq!(texts("{\"\"}"), of(&[Some("")]));
    for wrong in ["", "a", "{", "{a", "{a,}", "{,a}", "{a}b", "{\"a}", "{a\"b\"}", "{a\\"] {
        assert_eq!(texts(wrong), Err("22P02"), "{wrong}");
    }
    for several in ["{{a}}", "[0:1]={a,b}"] {
        assert_eq!(texts(several), Err("0A000"), "{several}");
    }
    assert!(texts(&format!("{{a{}}}", ",a".repeat(9_999))).is_ok());
    assert_eq!(texts(&format!("{{a{}}}", ",a".repeat(10_000))), Err("54000"));
    let kind = PgParameter { is_array: true, ..PgParameter::of_scalar(Scalar::Int2) };
    let numbers = |written: &str| content(written.as_bytes(), kind, (Format::Text, 0)).map_err(|refusal| refusal.state);
    assert_eq!(numbers("{1,null}"), Ok(PgContent::Array(vec![Some(PgDatum::Int(1)), None])));
    assert_eq!(numbers("{1,x}"), Err("22P02"));
    assert_eq!(numbers("{40000}"), Err("22003"));
}

#[test]
fn arrays_in_binary() {
    let kind = PgParameter { is_array: true, ..PgParameter::of_scalar(Scalar::Int2) };
    let read = |of: &[i32], rest: &[u8]| {
        let head = of.iter().flat_map(|word| word.to_be_bytes());
        let bytes: Vec<u8> = head.chain(rest.iter().copied()).collect();
        content(&bytes, kind, (Format::Binary, 0)).map_err(|refusal| refusal.state)
    };
    assert_eq!(read(&[0, 0, 21], b""), Ok(PgContent::Array(Vec::new())));
    let two = b"\0\0\0\x02\0\x07\xff\xff\xff\xff";
    assert_eq!(read(&[1, 1, 21, 2, 1], two), Ok(PgContent::Array(vec![Some(PgDatum::Int(7)), None])));
    for (of, rest, state) in [
        (&[1, 1, 21, 3, 1][..], &two[..], "22P03"),
        (&[1, 1, 21, 1, 1], &two[..], "22P03"),
        (&[1, 1, 23, 2, 1], &two[..], "42804"),
        (&[2, 0, 21, 1, 1, 1, 1], b"", "0A000"),
        (&[1, 0, 21, i32::MAX, 1], b"", "54000"),
        (&[1, 0, 21, -1, 1], b"", "22P03"),
        (&[-1, 0, 21], b"", "22P03"),
        (&[1, 2, 21, 0, 1], b"", "22P03"),
        (&[1, 0], b"", "22P03"),
        (&[1, 0, 21, 1, 1, 3], b"\0\0\x01", "22P03"),
    ] {
        assert_eq!(read(of, rest), Err(state), "{of:?}");
    }
}

/// Whatever a client sends is read or refused.
#[test]
fn no_bytes_make_it_panic() {
    let mut next = generator();
    let chars = b"0123456789 -+:.tzTZeE{}\",\\xnulNaNbcinf\xff\0";
    for _ in 0..40_000 {
        let element = Element::ALL[next() as usize % Element::ALL.len()];
        let kind = PgParameter { element, is_array: next().is_multiple_of(3) };
        let length = next() as usize % 24;
        let format = if next().is_multiple_of(2) { Format::Text } else { Format::Binary };
        let byte =
            |number: u64| if format == Format::Text { chars[number as usize % chars.len()] } else { number as u8 % 9 };
        let bytes: Vec<u8> = (0..length).map(|_| byte(next())).collect();
        let _ = content(&bytes, kind, (format, 0));
    }
}

#[test]
fn values_are_as_many_as_parameters() {
    let bind = Bind {
        portal: String::new(),
        statement: String::new(),
        formats: Formats::of(Format::Binary),
        values: vec![Some(Bytes::from_static(b"\xff\xff\xff\xff")), None],
        row_formats: Formats::default(),
    };
    let types = [26, 1043].map(|oid| (oid, declared(oid).unwrap().unwrap()));
    let read = values(&bind, &types).unwrap();
    assert_eq!(read[0].content, Some(PgContent::One(PgDatum::Int(u32::MAX.into()))));
    assert_eq!(read[1].content, None);
    assert_eq!(values(&bind, &types[..1]).unwrap_err().state, "08P01");
    assert!(declared(0).unwrap().is_none() && declared(4_000).is_err());
}
