//! Values with PostgreSQL's types as literals of exactly these types. Text and whole numbers of 64 bits are written
//! bare, as a statement would have them, so that a plain condition stays one. Shorter numbers have a cast, of which
//! `shown_integers` leaves those whose type the client sees.

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Word};
use salver_model::pg_parameter::{Element, PgContent, PgDatum, PgParameter, PgValue};
use salver_model::pg_type::Scalar;
use salver_text::calendar::date_of;

/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;
/// Years that a literal can have.
const YEARS: std::ops::RangeInclusive<i64> = 1..=9_999;

/// Returns the tokens of a value.
pub(super) fn literal(value: &PgValue) -> Vec<Token> {
    let PgParameter { element, is_array } = value.kind;
    match &value.content {
        None => cast(vec![Token::make_keyword("NULL")], type_of(element, is_array)),
        Some(PgContent::One(datum)) => match short_integer(element) {
            Some(word) => cast(one(datum, element), vec![Token::make_keyword(word)]),
            None => one(datum, element),
        },
        Some(PgContent::Array(elements)) => array(elements, element),
    }
}

/// Returns the tokens of a value without a cast, where it is a whole number.
pub(super) fn bare(value: &PgValue) -> Vec<Token> {
    match &value.content {
        Some(PgContent::One(datum @ PgDatum::Int(_))) => one(datum, value.kind.element),
        _ => literal(value),
    }
}

/// Returns the tokens of an array. Its elements say its type, if there are any.
fn array(elements: &[Option<PgDatum>], element: Element) -> Vec<Token> {
    let mut tokens = vec![Token::make_keyword("ARRAY"), Token::LBracket];
    let wide = wide_decimal(elements);
    for (at, own) in elements.iter().enumerate() {
        if at > 0 {
            tokens.push(Token::Comma);
        }
        match (own, wide) {
            (Some(PgDatum::Digits(digits)), Some((precision, scale))) => {
                let text = vec![Token::SingleQuotedString(digits.clone())];
                tokens.extend(cast(text, decimal(precision, scale)));
            }
            (Some(datum), _) => tokens.extend(one(datum, element)),
            // The engine does not find the type of nulls among bytes.
            (None, _) if element == Element::Of(Scalar::Bytea) => {
                tokens.extend(cast(vec![Token::make_keyword("NULL")], type_of(element, false)));
            }
            (None, _) => tokens.push(Token::make_keyword("NULL")),
        }
    }
    tokens.push(Token::RBracket);
    let says_type = elements.iter().any(Option::is_some);
    match short_integer(element) {
        Some(word) if says_type => cast(tokens, vec![Token::make_keyword(word), Token::LBracket, Token::RBracket]),
        None if says_type => tokens,
        _ => cast(tokens, type_of(element, true)),
    }
}

/// Returns precision and scale of a decimal with the digits of all numbers, where these are more than the engine would
/// take for them: it looks no further than at 128 bits.
fn wide_decimal(elements: &[Option<PgDatum>]) -> Option<(usize, usize)> {
    let (mut whole, mut scale) = (0, 0);
    for element in elements.iter().flatten() {
        let PgDatum::Digits(digits) = element else { return None };
        let (before, behind) = digits.trim_start_matches('-').split_once('.').unwrap_or((digits, ""));
        (whole, scale) = (whole.max(before.trim_start_matches('-').len()), scale.max(behind.len()));
    }
    let range = usize::from(DECIMAL128_MAX_PRECISION) + 1..=usize::from(DECIMAL256_MAX_PRECISION);
    range.contains(&(whole + scale)).then_some((whole + scale, scale))
}

/// Returns the words of a decimal type.
fn decimal(precision: usize, scale: usize) -> Vec<Token> {
    let digits = [Token::LParen, number(precision.to_string()), Token::Comma, number(scale.to_string()), Token::RParen];
    [Token::make_keyword("DECIMAL")].into_iter().chain(digits).collect()
}

/// Returns the word for integers of less than 64 bits by which their casts are known.
fn short_integer(element: Element) -> Option<&'static str> {
    match element {
        Element::Of(Scalar::Int2) => Some("INT2"),
        Element::Of(Scalar::Int4) => Some("INT4"),
        _ => None,
    }
}

fn one(datum: &PgDatum, element: Element) -> Vec<Token> {
    let text = |text: String| vec![Token::SingleQuotedString(text)];
    let cast_text = |written: String| cast(text(written), type_of(element, false));
    match datum {
        PgDatum::Bool(true) => vec![Token::make_keyword("TRUE")],
        PgDatum::Bool(false) => vec![Token::make_keyword("FALSE")],
        PgDatum::Int(number) => signed(&number.to_string()),
        PgDatum::Float(number) => cast_text(float(*number)),
        PgDatum::Digits(digits) if digits.contains('.') => signed(digits),
        PgDatum::Digits(digits) => cast(text(digits.clone()), decimal(digits.trim_start_matches('-').len(), 0)),
        PgDatum::Text(own) => text(own.clone()),
        PgDatum::Bytes(bytes) => {
            let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
            cast_text(["\\x".to_owned()].into_iter().chain(digits).collect())
        }
        PgDatum::Days(days) => match date(i64::from(*days)) {
            Some(date) => vec![Token::make_keyword("DATE"), Token::SingleQuotedString(date)],
            None => arrow_cast(arrow_cast(signed(&days.to_string()), "Int32"), "Date32"),
        },
        PgDatum::Micros(micros) if element == Element::Of(Scalar::Time) => {
            vec![Token::make_keyword("TIME"), Token::SingleQuotedString(time(*micros))]
        }
        PgDatum::Micros(micros) => moment(*micros, element == Element::Of(Scalar::TimestampTz)),
        PgDatum::Interval { months, days, micros } => {
            let (sign, rest) = (if *micros < 0 { "-" } else { "" }, micros.unsigned_abs());
            let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
            let written = format!("{months} months {days} days {sign}{seconds}.{fraction:06} seconds");
            vec![Token::make_keyword("INTERVAL"), Token::SingleQuotedString(written)]
        }
    }
}

fn number(digits: String) -> Token {
    Token::Number(digits, false)
}

/// Returns a number with its sign.
fn signed(written: &str) -> Vec<Token> {
    match written.strip_prefix('-') {
        Some(digits) => vec![Token::LParen, Token::Minus, number(digits.to_owned()), Token::RParen],
        None => vec![number(written.to_owned())],
    }
}

fn float(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "-inf".to_owned(),
        number => format!("{number:?}"),
    }
}

/// Returns a date; `None` in years that a literal can't have.
fn date(days: i64) -> Option<String> {
    let (year, month, day) = date_of(days);
    YEARS.contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn time(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match micros % 1_000_000 {
        0 => format!("{hour:02}:{minute:02}:{second:02}"),
        fraction => format!("{hour:02}:{minute:02}:{second:02}.{fraction:06}"),
    }
}

/// Returns a timestamp, which has a zone or has none.
fn moment(micros: i64, has_zone: bool) -> Vec<Token> {
    let zone = if has_zone { "+00:00" } else { "" };
    match date(micros.div_euclid(DAY_US)) {
        Some(date) => {
            let word = if has_zone { "TIMESTAMPTZ" } else { "TIMESTAMP" };
            let written = format!("{date} {}{zone}", time(micros.rem_euclid(DAY_US)));
            vec![Token::make_keyword(word), Token::SingleQuotedString(written)]
        }
        None => {
            let zone = if has_zone { "Some(\"UTC\")" } else { "None" };
            arrow_cast(signed(&micros.to_string()), &format!("Timestamp(Microsecond, {zone})"))
        }
    }
}

fn arrow_cast(inner: Vec<Token>, to: &str) -> Vec<Token> {
    let name = Word { value: "arrow_cast".to_owned(), quote_style: None, keyword: Keyword::NoKeyword };
    let begin = [Token::Word(name), Token::LParen];
    let end = [Token::Comma, Token::SingleQuotedString(to.to_owned()), Token::RParen];
    begin.into_iter().chain(inner).chain(end).collect()
}

fn cast(inner: Vec<Token>, to: Vec<Token>) -> Vec<Token> {
    let begin = [Token::make_keyword("CAST"), Token::LParen];
    let middle = [Token::make_keyword("AS")];
    begin.into_iter().chain(inner).chain(middle).chain(to).chain([Token::RParen]).collect()
}

/// Returns the words of a type.
fn type_of(element: Element, is_array: bool) -> Vec<Token> {
    let word = match element {
        Element::Uuid | Element::Jsonb => "VARCHAR",
        Element::Of(scalar) => match scalar {
            Scalar::Bool => "BOOLEAN",
            Scalar::Int2 => "SMALLINT",
            Scalar::Int4 => "INTEGER",
            Scalar::Int8 | Scalar::Oid => "BIGINT",
            Scalar::Float4 => "REAL",
            Scalar::Float8 => "DOUBLE",
            Scalar::Numeric => "NUMERIC",
            Scalar::Text | Scalar::Json => "VARCHAR",
            Scalar::Bytea => "BYTEA",
            Scalar::Date => "DATE",
            Scalar::Time => "TIME",
            Scalar::Timestamp => "TIMESTAMP",
            Scalar::TimestampTz => "TIMESTAMPTZ",
            Scalar::Interval => "INTERVAL",
        },
    };
    let brackets = if is_array { vec![Token::LBracket, Token::RBracket] } else { Vec::new() };
    [Token::make_keyword(word)].into_iter().chain(brackets).collect()
}

#[cfg(test)]
mod tests {
    use salver_model::pg_parameter::{Element, PgContent, PgDatum, PgParameter, PgValue};
    use salver_model::pg_type::Scalar;

    use super::literal;

    fn written(element: Element, content: Option<PgContent>) -> String {
        let is_array = matches!(content, Some(PgContent::Array(_)));
        let tokens = literal(&PgValue { kind: PgParameter { element, is_array }, content });
        tokens.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    fn one(scalar: Scalar, datum: PgDatum) -> String {
        written(Element::Of(scalar), Some(PgContent::One(datum)))
    }

    #[test]
    fn values_are_written_in_their_types() {
        let text = |text: &str| PgDatum::Text(text.to_owned());
        let digits = |text: &str| PgDatum::Digits(text.to_owned());
        assert_eq!(one(Scalar::Int8, PgDatum::Int(-7)), "( - 7 )");
        assert_eq!(one(Scalar::Int4, PgDatum::Int(-7)), "CAST ( ( - 7 ) AS INT4 )");
        assert_eq!(one(Scalar::Int2, PgDatum::Int(7)), "CAST ( 7 AS INT2 )");
        let kind = PgParameter::of_scalar(Scalar::Int2);
        let seven = PgValue { kind, content: Some(PgContent::One(PgDatum::Int(7))) };
        assert_eq!(super::bare(&seven).len(), 1);
        assert_eq!(one(Scalar::Float8, PgDatum::Float(0.1)), "CAST ( '0.1' AS DOUBLE )");
        assert_eq!(one(Scalar::Float4, PgDatum::Float(f64::NAN)), "CAST ( 'NaN' AS REAL )");
        assert_eq!(one(Scalar::Numeric, digits("-0.10")), "( - 0.10 )");
        assert_eq!(one(Scalar::Numeric, digits("-120")), "CAST ( '-120' AS DECIMAL ( 3 , 0 ) )");
        assert_eq!(one(Scalar::Text, text("' or 1=1")), "'' or 1=1'");
        assert_eq!(one(Scalar::Bytea, PgDatum::Bytes(vec![0, 255])), "CAST ( '\\x00ff' AS BYTEA )");
        assert_eq!(one(Scalar::Date, PgDatum::Days(0)), "DATE '1970-01-01'");
        assert_eq!(
            one(Scalar::Date, PgDatum::Days(-800_000)),
            "arrow_cast ( arrow_cast ( ( - 800000 ) , 'Int32' ) , 'Date32' )"
        );
        assert_eq!(one(Scalar::Time, PgDatum::Micros(3_723_000_004)), "TIME '01:02:03.000004'");
        assert_eq!(one(Scalar::Timestamp, PgDatum::Micros(-1)), "TIMESTAMP '1969-12-31 23:59:59.999999'");
        assert_eq!(one(Scalar::TimestampTz, PgDatum::Micros(0)), "TIMESTAMPTZ '1970-01-01 00:00:00+00:00'");
        assert_eq!(
            one(Scalar::TimestampTz, PgDatum::Micros(i64::MAX)),
            "arrow_cast ( 9223372036854775807 , 'Timestamp(Microsecond, Some(\"UTC\"))' )"
        );
        assert_eq!(
            one(Scalar::Interval, PgDatum::Interval { months: -1, days: 2, micros: -1_500_000 }),
            "INTERVAL '-1 months 2 days -1.500000 seconds'"
        );
        assert_eq!(written(Element::Uuid, None), "CAST ( NULL AS VARCHAR )");
    }

    #[test]
    fn arrays_say_their_types_where_elements_do_not() {
        let int = Element::Of(Scalar::Int8);
        let of = |elements: Vec<Option<PgDatum>>| written(int, Some(PgContent::Array(elements)));
        assert_eq!(of(vec![Some(PgDatum::Int(1)), None]), "ARRAY [ 1 , NULL ]");
        assert_eq!(of(Vec::new()), "CAST ( ARRAY [ ] AS BIGINT [ ] )");
        assert_eq!(of(vec![None]), "CAST ( ARRAY [ NULL ] AS BIGINT [ ] )");
        let short = written(Element::Of(Scalar::Int4), Some(PgContent::Array(vec![Some(PgDatum::Int(1)), None])));
        assert_eq!(short, "CAST ( ARRAY [ 1 , NULL ] AS INT4 [ ] )");
        let bytes =
            written(Element::Of(Scalar::Bytea), Some(PgContent::Array(vec![Some(PgDatum::Bytes(vec![0])), None])));
        assert_eq!(bytes, "ARRAY [ CAST ( '\\x00' AS BYTEA ) , CAST ( NULL AS BYTEA ) ]");
        let numbers = |texts: [&str; 2]| {
            let digits = texts.map(|text| Some(PgDatum::Digits(text.to_owned())));
            written(Element::Of(Scalar::Numeric), Some(PgContent::Array(digits.into())))
        };
        assert_eq!(numbers(["1.50", "-2.5"]), "ARRAY [ 1.50 , ( - 2.5 ) ]");
        let (long, short) = ("1".repeat(38), "-0.5");
        let wide = format!("ARRAY [ CAST ( '{long}' AS DECIMAL ( 39 , 1 ) ) , CAST ( '-0.5' AS DECIMAL ( 39 , 1 ) ) ]");
        assert_eq!(numbers([&long, short]), wide);
    }
}
