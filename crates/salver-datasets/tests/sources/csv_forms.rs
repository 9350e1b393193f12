//! Numbers and dates of CSV that are not written as programs write them: declared, guessed, and left as text.

use arrow::datatypes::DataType;
use salver_model::Code;
use salver_model::spec::{CsvOptions, DateOrder};

use crate::generated::{Made, column, load, one, show, shown};

/// What a file becomes, with settings.
fn with(bytes: &str, change: impl FnOnce(&mut CsvOptions)) -> Result<String, salver_model::Error> {
    let (_made, mut spec) = one("a.csv", bytes);
    change(&mut spec.csv);
    load(&spec).map(|loaded| show(&loaded))
}

/// What is told of a file.
fn told(bytes: &str) -> String {
    let (_made, spec) = one("a.csv", bytes);
    load(&spec).unwrap().source
}

/// Numbers that differ in length, sign and fraction; always the same.
fn numbers() -> Vec<i64> {
    let mut state = 42_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 20
    };
    (0..500)
        .map(|_| (next() % 10_u64.pow(1 + (next() % 11) as u32)) as i64 * if next() % 2 == 0 { 1 } else { -1 })
        .collect()
}

/// Writes hundredths with these marks.
fn written(hundredths: i64, decimal: char, thousands: Option<char>) -> String {
    let (whole, fraction) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
    let digits = whole.to_string();
    let mut text = if hundredths < 0 { "-".to_owned() } else { String::new() };
    for (index, digit) in digits.chars().enumerate() {
        if let Some(mark) = thousands.filter(|_| index > 0 && (digits.len() - index).is_multiple_of(3)) {
            text.push(mark);
        }
        text.push(digit);
    }
    format!("{text}{decimal}{fraction:02}")
}

#[test]
fn numbers_of_every_form_read_back_as_they_were() {
    let numbers = numbers();
    let plain: Vec<String> = numbers.iter().map(|number| written(*number, '.', None)).collect();
    let declared = |text: &str, change: &dyn Fn(&mut CsvOptions)| {
        let (_made, mut spec) = one("a.csv", text);
        spec.schema = vec![column("x", DataType::Decimal128(20, 2))];
        change(&mut spec.csv);
        show(&load(&spec).unwrap())
    };
    let expected = declared(&format!("x;y\n{};\n", plain.join(";\n")), &|_| {});
    let inferred = shown("a.csv", format!("x;y\n{};\n", plain.join(";\n")));
    assert!(inferred.starts_with("x:Float64|y:Utf8\n"), "{inferred:.40}");
    for (decimal, thousands) in [
        (',', None),
        (',', Some('.')),
        (',', Some(' ')),
        (',', Some('\u{a0}')),
        (',', Some('\u{202f}')),
        (',', Some('\'')),
        ('.', Some(',')),
        ('.', Some('\'')),
        ('.', Some('_')),
    ] {
        let rows: Vec<String> = numbers.iter().map(|number| written(*number, decimal, thousands)).collect();
        let text = format!("x;y\n{};\n", rows.join(";\n"));
        let set = |csv: &mut CsvOptions| (csv.decimal, csv.thousands) = (Some(decimal), thousands);
        assert_eq!(declared(&text, &set), expected, "{decimal} {thousands:?}");
        assert_eq!(with(&text, set).unwrap(), inferred, "{decimal} {thousands:?}");
        // What is guessed is what is declared, or text.
        let is_guessed = !matches!((decimal, thousands), (',', Some('\'')) | ('.', Some('_')));
        let guessed = shown("a.csv", &text);
        assert_eq!(guessed == inferred, is_guessed, "{decimal} {thousands:?}: {guessed:.80}");
        assert!(is_guessed || guessed.starts_with("x:Utf8"), "{guessed:.80}");
    }
}

#[test]
fn dates_of_every_form_read_back_as_they_were() {
    let days: Vec<(i64, u32, u32)> = numbers()
        .iter()
        .map(|number| number.unsigned_abs())
        .map(|n| (1900 + (n % 200) as i64, 1 + (n / 200 % 12) as u32, 1 + (n / 2_400 % 28) as u32))
        .collect();
    let iso: Vec<String> = days.iter().map(|(year, month, day)| format!("{year}-{month:02}-{day:02}")).collect();
    let expected = format!("x:Date32|y:Int64\n{}|1", iso.join("|1\n"));
    for mark in ['.', '/', '-'] {
        for (order, is_padded) in [
            (DateOrder::DayFirst, true),
            (DateOrder::DayFirst, false),
            (DateOrder::MonthFirst, true),
            (DateOrder::MonthFirst, false),
            (DateOrder::YearFirst, true),
        ] {
            let two = |number: u32| if is_padded { format!("{number:02}") } else { number.to_string() };
            let row = |(year, month, day): &(i64, u32, u32)| match order {
                DateOrder::DayFirst => format!("{}{mark}{}{mark}{year}", two(*day), two(*month)),
                DateOrder::MonthFirst => format!("{}{mark}{}{mark}{year}", two(*month), two(*day)),
                DateOrder::YearFirst => format!("{year}{mark}{}{mark}{}", two(*month), two(*day)),
            };
            let text = format!("x,y\n{},1\n", days.iter().map(row).collect::<Vec<_>>().join(",1\n"));
            assert_eq!(with(&text, |csv| csv.dates = Some(order)).unwrap(), expected, "{order:?} {mark}");
            assert_eq!(shown("a.csv", &text), expected, "{order:?} {mark}");
        }
    }
}

#[test]
fn guesses_are_told_and_can_be_overruled() {
    let text = "price;born\n1,5;31.12.2026\n12;01.02.2026\n";
    assert_eq!(shown("a.csv", text), "price:Float64|born:Date32\n1.5|2026-12-31\n12.0|2026-02-01");
    let source = told(text);
    assert!(source.contains("decimal commas in `price` (`decimal = \".\"` leaves them text)"), "{source}");
    assert!(source.contains("dates with the day first in `born` (`dates = \"mdy\"` says otherwise)"), "{source}");
    let plain = with(text, |csv| (csv.decimal, csv.dates) = (Some('.'), Some(DateOrder::YearFirst))).unwrap();
    assert_eq!(plain, "price:Utf8|born:Utf8\n1,5|31.12.2026\n12|01.02.2026");
    // Two meanings.
    let text = "price;born\n1,500;03.04.2026\n12;01.02.2026\n";
    assert_eq!(shown("a.csv", text), "price:Utf8|born:Utf8\n1,500|03.04.2026\n12|01.02.2026");
    let source = told(text);
    assert!(source.contains("`price` as text, of which `decimal` and `thousands` make numbers"), "{source}");
    assert!(source.contains("`born` as text, of which `dates = \"dmy\"` or `\"mdy\"` makes dates"), "{source}");
    let set = |csv: &mut CsvOptions| (csv.thousands, csv.dates) = (Some(','), Some(DateOrder::MonthFirst));
    assert_eq!(with(text, set).unwrap(), "price:Int64|born:Date32\n1500|2026-03-04\n12|2026-01-02");
    let set = |csv: &mut CsvOptions| csv.thousands = Some('.');
    assert_eq!(with("price;x\n1.500,5;1\n", set).unwrap(), "price:Float64|x:Int64\n1500.5|1");
    assert!(!told("a,b\n1.5,2026-01-31\n").contains("as text"));
}

#[test]
fn a_late_value_takes_a_guess_back() {
    let mut text = String::from("n;s\n");
    // More than the sample.
    while text.len() < 65 * 1024 * 1024 {
        text.push_str("1234,5;abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz\n");
    }
    text.push_str("1.5;x\n");
    let (_made, spec) = one("a.csv", text);
    let loaded = load(&spec).unwrap();
    let salver_datasets::Content::Resident { schema, .. } = &loaded.content else { panic!() };
    assert_eq!(schema.field(0).data_type(), &DataType::Utf8);
}

#[test]
fn what_contradicts_a_setting_is_an_error() {
    let commas = |csv: &mut CsvOptions| csv.decimal = Some(',');
    let wrong = with("price;x\n1,5;1\n2.5;1\n", commas).unwrap_err();
    assert_eq!(wrong.code, Code::Source);
    assert!(
        wrong.message.contains("a.csv` line 3: column `price`: `2.5` is not a number as `decimal = \",\"`"),
        "{wrong:?}"
    );
    assert!(wrong.hint.unwrap().contains("declare `price` as text"));
    // Versions and addresses are text in any case.
    assert_eq!(with("v;x\n1.5;2\n1.6;3\n", commas).unwrap(), "v:Utf8|x:Int64\n1.5|2\n1.6|3");
    assert_eq!(with("v;x\n10.0.0.1;2,5\nlocal;3\n", commas).unwrap(), "v:Utf8|x:Float64\n10.0.0.1|2.5\nlocal|3.0");
    let days = |csv: &mut CsvOptions| csv.dates = Some(DateOrder::DayFirst);
    let wrong = with("born,x\n12/31/2026,1\n31/12/2026,1\n", days).unwrap_err();
    let expected = "a.csv` line 2: column `born`: `12/31/2026` is not a date as `dates = \"dmy\"` says";
    assert!(wrong.message.contains(expected), "{wrong:?}");
    // Declared columns.
    let (_made, mut spec) = one("a.csv", "born;price\n31.12.2026;1,5\n12/31/2026;2\n");
    spec.schema = vec![column("born", DataType::Date32)];
    spec.csv.dates = Some(DateOrder::DayFirst);
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("line 3: column `born`: `12/31/2026` is not a date as `dates"), "{wrong:?}");
    spec.schema = vec![column("born", DataType::Utf8)];
    assert_eq!(show(&load(&spec).unwrap()), "born:Utf8|price:Float64\n31.12.2026|1.5\n12/31/2026|2.0");
    let (_made, mut spec) = one("a.csv", "born;price\n01.02.2026;1,234\n");
    spec.schema = vec![column("born", DataType::Date32)];
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("line 2: column `born`: `01.02.2026` is not Date32"), "{wrong:?}");
    assert!(wrong.hint.unwrap().contains("`dates = \"dmy\"`"));
    spec.schema = vec![column("price", DataType::Float32)];
    assert!(load(&spec).unwrap_err().hint.unwrap().contains("`decimal` and `thousands`"));
}

#[test]
fn every_file_has_its_own_form() {
    let made = Made::new();
    made.file("1.csv", "x;d\n1,5;31.01.2026\n");
    made.file("2.csv", "x;d\n2.25;2026-02-01\n");
    let spec = made.spec(&["*.csv"]);
    assert_eq!(show(&load(&spec).unwrap()), "x:Float64|d:Date32\n1.5|2026-01-31\n2.25|2026-02-01");
    // Where one file does not say, all are as they stand.
    made.file("3.csv", "x;d\n1,250;02.01.2026\n");
    let expected = "x:Utf8|d:Utf8\n1,5|31.01.2026\n2.25|2026-02-01\n1,250|02.01.2026";
    assert_eq!(show(&load(&spec).unwrap()), expected);
}

/// `1.234` is one and a fraction, or more than a thousand: the dataset tells, or it is text.
#[test]
fn points_in_groups_are_read_as_the_rest_of_the_dataset() {
    let made = Made::new();
    made.file("1.csv", "x;y\n1.234;1.5\n12.500;2\n");
    let spec = made.spec(&["*.csv"]);
    assert_eq!(show(&load(&spec).unwrap()), "x:Float64|y:Float64\n1.234|1.5\n12.5|2.0");
    // The same column has decimal commas in another file.
    made.file("2.csv", "x;y\n1.234,5;3\n");
    assert_eq!(show(&load(&spec).unwrap()), "x:Float64|y:Float64\n1234.0|1.5\n12500.0|2.0\n1234.5|3.0");
    // Another column has, of the same file or of another.
    for (name, bytes, expected) in [
        ("a.csv", "x;y\n1.234;1,5\n", "x:Utf8|y:Float64\n1.234|1.5"),
        ("a.csv", "x;y\n1.234;1,5\n1.5;2\n", "x:Float64|y:Float64\n1.234|1.5\n1.5|2.0"),
        ("a.csv", "x;y\n0.125;1,5\n", "x:Float64|y:Float64\n0.125|1.5"),
    ] {
        let (_made, spec) = one(name, bytes);
        assert_eq!(show(&load(&spec).unwrap()), expected, "{bytes:?}");
    }
    let told = told("x;y\n1.234;1,5\n");
    assert!(told.contains("`x` as text, of which `decimal` and `thousands` make numbers"), "{told}");
    // What is declared as a number is not read by chance.
    let (_made, mut spec) = one("a.csv", "x;y\n1.234;1,5\n");
    spec.schema = vec![column("x", DataType::Float64)];
    let refused = load(&spec).unwrap_err();
    assert!(refused.message.contains("column `x` has numbers such as `1.234`"), "{refused:?}");
    assert!(refused.hint.unwrap().contains("set `decimal`"));
    spec.csv.decimal = Some(',');
    spec.csv.thousands = Some('.');
    assert_eq!(show(&load(&spec).unwrap()), "x:Float64|y:Float64\n1234.0|1.5");
    // The rows behind those that are looked at first decide, too.
    let many: String = (0..40_000).map(|_| "1.234;1\n").collect();
    let (_made, spec) = one("a.csv", format!("x;y\n{many}1.5;2,5\n"));
    assert!(show(&load(&spec).unwrap()).starts_with("x:Float64|y:Float64\n1.234|1.0\n"));
    let (_made, spec) = one("a.csv", format!("x;y\n{many}1.235;2,5\n"));
    assert!(show(&load(&spec).unwrap()).starts_with("x:Utf8|y:Float64\n1.234|1.0\n"));
}

#[test]
fn dates_among_declared_timestamps_are_midnights() {
    let bytes = "at\n2024-01-01 10:00:00\n2024-01-02\n9999-12-31\n2024-01-01T10:00:00+02:00\n";
    let (_made, mut spec) = one("a.csv", bytes);
    spec.schema = vec![column("at", DataType::Timestamp(arrow::datatypes::TimeUnit::Microsecond, None))];
    assert_eq!(
        show(&load(&spec).unwrap()),
        "at:Timestamp(µs)\n2024-01-01T10:00:00\n2024-01-02T00:00:00\n9999-12-31T00:00:00\n2024-01-01T08:00:00"
    );
    let (_made, mut wrong) = one("a.csv", format!("{bytes}2024-02-30\n"));
    wrong.schema = spec.schema;
    let refused = load(&wrong).unwrap_err();
    assert!(refused.message.contains("line 6: column `at`: `2024-02-30`"), "{}", refused.message);
}
