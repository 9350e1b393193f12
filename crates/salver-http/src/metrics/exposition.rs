//! Prometheus' text format, version 0.0.4
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>).

use std::fmt::{Display, Write};

/// Media type of the format.
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A page of samples.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
    /// Family that the samples belong to.
    family: &'static str,
}

impl Exposition {
    /// Begins the samples of a family. `help` is plain text on one line.
    pub(crate) fn family(&mut self, name: &'static str, kind: &str, help: &str) {
        self.family = name;
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Writes a sample of the family, whose name continues with `suffix`.
    pub(crate) fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        self.text.push_str(self.family);
        self.text.push_str(suffix);
        for (index, (name, value)) in labels.iter().enumerate() {
            self.text.push(if index == 0 { '{' } else { ',' });
            self.text.push_str(name);
            self.text.push_str("=\"");
            for c in value.chars() {
                match c {
                    '\\' => self.text.push_str("\\\\"),
                    '"' => self.text.push_str("\\\""),
                    '\n' => self.text.push_str("\\n"),
                    other => self.text.push(other),
                }
            }
            self.text.push('"');
        }
        self.text.push_str(if labels.is_empty() { " " } else { "} " });
        let _ = writeln!(self.text, "{value}");
    }

    /// Returns the page.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::Exposition;

    #[test]
    fn a_page() {
        let mut out = Exposition::default();
        out.family("a_total", "counter", "What is counted.");
        out.sample("", &[], 1_u64);
        out.sample("", &[("x", "say \"a\\b\"\n"), ("y", "ü")], 2.5);
        let expected = "# HELP a_total What is counted.\n# TYPE a_total counter\na_total 1\n\
                        a_total{x=\"say \\\"a\\\\b\\\"\\n\",y=\"ü\"} 2.5\n";
        assert_eq!(out.finish(), expected);
    }
}
