//! Abbreviations of time zones, with fixed offsets for standard and for summer time: `CET` is an hour east of Greenwich
//! in July too, unlike local time in Berlin.

/// Minutes east of Greenwich, and the abbreviations for them: PostgreSQL's set `Default`, without those whose offset
/// has changed over the years.
const ABBREVIATIONS: &[(i32, &[&str])] = &[
    (-600, &["HST", "TAHT"]),
    (-570, &["MART"]),
    (-540, &["AKST", "GAMT"]),
    (-480, &["AKDT", "PST"]),
    (-420, &["MST", "PDT"]),
    (-360, &["CST", "GALT", "MDT"]),
    (-300, &["ACT", "CDT", "COT", "EST", "PET"]),
    (-240, &["AMT", "AST", "BOT", "EDT"]),
    (-210, &["NFT", "NST"]),
    (-180, &["ADT", "BRA", "BRT", "CLST", "GFT", "PMST", "PYST", "UYT", "WGT"]),
    (-150, &["NDT"]),
    (-120, &["BRST", "FNT", "PMDT", "UYST", "WGST"]),
    (-60, &["AZOT", "EGT", "FNST"]),
    (0, &["AZOST", "EGST", "GMT", "UCT", "UT", "UTC", "WET", "Z", "ZULU"]),
    (60, &["BST", "CET", "MET", "MEZ", "WAT", "WETDST"]),
    (120, &["BDST", "CEST", "CETDST", "EET", "IST", "MEST", "MESZ", "METDST", "SAST"]),
    (180, &["EAT", "EEST", "EETDST", "FET", "IDT"]),
    (210, &["IRT"]),
    (240, &["MSD", "MUT", "RET", "SCT"]),
    (270, &["AFT"]),
    (300, &["MUST", "MVT", "PKT", "TFT", "TJT", "UZT"]),
    (345, &["NPT"]),
    (360, &["ALMT", "BDT", "BTT", "KGST", "PKST", "UZST", "XJT", "YEKST"]),
    (390, &["MMT"]),
    (420, &["ALMST", "CXT", "ICT", "WAST"]),
    (480, &["AWST", "BNT", "BORT", "CCT", "HKT", "MYT", "PHT", "WADT"]),
    (525, &["ACWST"]),
    (540, &["AWSST", "JAYT", "JST", "KST", "PWT", "ULAST", "WDT"]),
    (570, &["ACST", "CAST"]),
    (600, &["AEST", "CHUT", "DDUT", "KDT", "LIGT", "MPT", "PGT", "TRUT", "YAPT"]),
    (630, &["ACDT", "ACSST", "CADT", "LHST", "SADT"]),
    (660, &["AEDT", "AESST", "PONT", "VUT"]),
    (720, &["FJT", "GILT", "MHT", "NZST", "NZT", "TVT", "WAKT", "WFT"]),
    (765, &["CHAST"]),
    (780, &["FJST", "NZDT", "TOT"]),
    (825, &["CHADT"]),
];

/// Returns the offset of an abbreviation in any case, such as `+01:00`.
pub(crate) fn offset_of(name: &str) -> Option<String> {
    let found = ABBREVIATIONS.iter().find(|(_, names)| names.iter().any(|own| own.eq_ignore_ascii_case(name)));
    found.map(|(minutes, _)| {
        let (sign, size) = (if *minutes < 0 { '-' } else { '+' }, minutes.abs());
        format!("{sign}{:02}:{:02}", size / 60, size % 60)
    })
}
