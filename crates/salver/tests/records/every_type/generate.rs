//! Values of each kind of type, as SQL: the edges, and some between them that are others with each `SEED`.

use std::fmt::Write as _;

use salver_testkit::servers::Kind;

/// How many values stand between the edges.
const BETWEEN: usize = 4;

/// Numbers that look like chance, the same for each seed.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    /// Chance for the type of this name.
    pub(super) fn of(name: &str) -> Self {
        let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(13);
        let mixed = name.bytes().fold(seed, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        Self(mixed | 1)
    }

    fn next(&mut self) -> u64 {
        // xorshift
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn digits(&mut self, count: usize) -> String {
        (0..count).map(|_| char::from(b'0' + (self.below(10) as u8))).collect()
    }
}

/// Whole numbers from `least` to `most`.
pub(super) fn whole(chance: &mut Chance, least: i128, most: i128) -> Vec<String> {
    let mut all = vec![least, least + 1, most, most - 1, 0, 1];
    if least < 0 {
        all.push(-1);
    }
    // 2^53 + 1 is no float.
    all.extend([9_007_199_254_740_993, 2_147_483_648].into_iter().filter(|number| *number < most));
    for _ in 0..BETWEEN {
        // Of every length, not of the longest ones only.
        let number = i128::from(chance.next() >> chance.below(60)) % (most + 1);
        all.push(number);
        all.push((-number).max(least));
    }
    all.iter().map(|number| format!("({number})")).collect()
}

/// Decimals of `precision` digits, `scale` of them behind the point.
pub(super) fn decimals(chance: &mut Chance, precision: usize, scale: usize) -> Vec<String> {
    let of = |digits: &str| {
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let whole = if whole.is_empty() { "0" } else { whole };
        if scale == 0 { whole.to_owned() } else { format!("{whole}.{fraction}") }
    };
    let most = of(&"9".repeat(precision));
    let least = of(&format!("{}1", "0".repeat(precision - 1)));
    let mut all = vec![format!("-{most}"), most, format!("-{least}"), least, "0".to_owned()];
    // In another order as texts.
    all.extend([9, 10].map(|digits: u32| of(&format!("{digits:0>precision$}"))));
    for _ in 0..BETWEEN {
        let digits = 1 + chance.below(precision as u64) as usize;
        let number = of(&format!("{:0>precision$}", chance.digits(digits)));
        all.push(format!("-{number}"));
        all.push(number);
    }
    all
}

/// Finite floats, written with `digits` digits.
pub(super) fn floats(chance: &mut Chance, digits: usize, most: &str, least: &str) -> Vec<String> {
    let mut all: Vec<String> =
        ["0.1", "-0.1", "1.5", "3", "16777217", "0.3", "100000", "123456789.125"].map(str::to_owned).to_vec();
    all.extend([most.to_owned(), format!("-{most}"), least.to_owned(), format!("-{least}"), "0.0".to_owned()]);
    for _ in 0..BETWEEN {
        let (exponent, sign) = (chance.below(60) as i64 - 30, if chance.below(2) == 0 { "-" } else { "" });
        all.push(format!("{sign}{}.{}e{exponent}", 1 + chance.below(9), chance.digits(digits - 1)));
    }
    all
}

/// Texts with at most `most` characters.
pub(super) fn texts(chance: &mut Chance, kind: Kind, most: usize) -> Vec<String> {
    // A character of every plane.
    let planes: String = (0..=16_u32).filter_map(|plane| char::from_u32(plane * 0x1_0000 + 0x0_A7FD)).collect();
    let mut all: Vec<String> = [
        "",
        "a",
        "A",
        "b",
        "é",
        "e\u{301}",
        "ß",
        "ss",
        "𝄞",
        "\u{10FFFF}",
        "\u{FFFD}",
        "null",
        "NULL",
        "true",
        "1",
        "10",
        "1e5",
        "it's",
        "\"q\"",
        "a\\b",
        "a\nb",
        "a\tb",
        "a\r\nb",
        "a,b;c",
        "</p>",
        "\u{2028}",
        "\u{FEFF}x",
        "\u{1}",
        "'",
        "%_",
        "عرب",
        "👩‍👩‍👧",
        &planes,
    ]
    .map(str::to_owned)
    .to_vec();
    // PostgreSQL has no NUL; MariaDB compares as if there were no blank at the end.
    if kind != Kind::Postgres {
        all.push("a\0b".to_owned());
    }
    if kind != Kind::Mariadb {
        all.push("b ".to_owned());
    }
    for _ in 0..BETWEEN {
        let length = 1 + chance.below(8) as usize;
        let random = |chance: &mut Chance| loop {
            if let Some(c) = char::from_u32(chance.below(0x11_0000) as u32)
                && !c.is_control()
            {
                return c;
            }
        };
        all.push((0..length).map(|_| random(chance)).collect());
    }
    all.retain(|text| text.chars().count() <= most);
    all.iter().map(|text| text_of(kind, text)).collect()
}

/// A text as SQL, whatever is in it.
pub(super) fn text_of(kind: Kind, text: &str) -> String {
    let hex = hex(text.as_bytes());
    match kind {
        Kind::Sqlite => format!("cast(x'{hex}' as text)"),
        Kind::Mariadb => format!("convert(x'{hex}' using utf8mb4)"),
        Kind::Postgres => format!("convert_from(decode('{hex}', 'hex'), 'UTF8')"),
    }
}

/// Bytes, at most `most` of them.
pub(super) fn bytes(chance: &mut Chance, kind: Kind, most: usize) -> Vec<String> {
    let mut all: Vec<Vec<u8>> =
        vec![vec![], vec![0], vec![0, 0], vec![0xff], b"AP8=".to_vec(), b"a'b\\".to_vec(), vec![0xfb, 0xff, 0xfe]];
    for _ in 0..BETWEEN {
        let length = 1 + chance.below(40) as usize;
        all.push((0..length).map(|_| chance.below(256) as u8).collect());
    }
    all.retain(|bytes| bytes.len() <= most);
    let of = |bytes: &Vec<u8>| match kind {
        Kind::Postgres => format!("decode('{}', 'hex')", hex(bytes)),
        _ => format!("x'{}'", hex(bytes)),
    };
    all.iter().map(of).collect()
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("text");
    }
    text
}

/// Days of the years `from` to 9999, without quotes.
pub(super) fn days(chance: &mut Chance, from: u64) -> Vec<String> {
    let mut all: Vec<String> =
        ["9999-12-31", "1970-01-01", "1969-12-31", "2024-02-29", "1900-03-01", "2000-02-29", "1582-10-10"]
            .map(str::to_owned)
            .to_vec();
    all.push(format!("{from:04}-01-01"));
    for _ in 0..BETWEEN {
        let year = from + chance.below(10_000 - from);
        all.push(format!("{year:04}-{:02}-{:02}", 1 + chance.below(12), 1 + chance.below(28)));
    }
    all
}

/// Times of day with `digits` digits behind the point.
pub(super) fn times(chance: &mut Chance, digits: usize) -> Vec<String> {
    let point = |fraction: &str| if digits == 0 { String::new() } else { format!(".{}", &fraction[..digits]) };
    let mut all = vec![format!("23:59:59{}", point("999999")), "00:00:00".to_owned(), "12:30:00".to_owned()];
    all.push(format!("00:00:00{}", point("100000")));
    for _ in 0..BETWEEN {
        let (hour, minute, second) = (chance.below(24), chance.below(60), chance.below(60));
        all.push(format!("{hour:02}:{minute:02}:{second:02}{}", point(&chance.digits(6))));
    }
    all
}

/// Moments: days with times.
pub(super) fn moments(chance: &mut Chance, from: u64, digits: usize) -> Vec<String> {
    let (days, times) = (days(chance, from), times(chance, digits));
    days.iter().zip(times.iter().cycle()).map(|(day, time)| format!("{day} {time}")).collect()
}

/// UUIDs.
pub(super) fn uuids(chance: &mut Chance) -> Vec<String> {
    let mut all =
        vec!["00000000-0000-0000-0000-000000000000".to_owned(), "ffffffff-ffff-ffff-ffff-ffffffffffff".into()];
    for _ in 0..BETWEEN {
        let hex = format!("{:016x}{:016x}", chance.next(), chance.next());
        all.push(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]));
    }
    all
}

/// The values as quoted literals.
pub(super) fn quoted(values: Vec<String>) -> Vec<String> {
    values.into_iter().map(|value| format!("'{}'", value.replace('\'', "''"))).collect()
}
