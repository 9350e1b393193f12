//! The table of all settings. The parser's known keys, `salver config example`, the reference page and the suggestions
//! are all derived from it; a setting that is not here does not exist.

mod table;

pub use table::SETTINGS;

/// Section of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// `[server]`
    Server,
    /// `[wire]`
    Wire,
    /// `[cluster]`
    Cluster,
    /// `[auth]`
    Auth,
    /// `[[role]]`
    Role,
    /// `[[access]]`
    Access,
    /// `[[limit]]`
    Limit,
    /// `[limits]`
    Limits,
    /// `[compat]`
    Compat,
    /// `[[dataset]]`
    Dataset,
    /// One column of a dataset's `schema`.
    Column,
    /// `[[dataset.relation]]`
    Relation,
    /// `[[store]]`
    Store,
    /// `[[database]]`
    Database,
    /// `[[database.rule]]`
    Rule,
    /// `[[database.check]]`
    Check,
    /// `[[stream]]`
    Stream,
    /// `[[function]]`
    Function,
    /// `[[view]]`
    View,
    /// `[[query]]`
    Query,
    /// `[[query.parameter]]`
    Parameter,
}

impl Section {
    /// Every section, in the order of the reference.
    pub const ALL: [Self; 21] = [
        Self::Server,
        Self::Wire,
        Self::Cluster,
        Self::Auth,
        Self::Role,
        Self::Access,
        Self::Limit,
        Self::Limits,
        Self::Compat,
        Self::Dataset,
        Self::Column,
        Self::Relation,
        Self::Store,
        Self::Database,
        Self::Rule,
        Self::Check,
        Self::Stream,
        Self::Function,
        Self::View,
        Self::Query,
        Self::Parameter,
    ];

    /// Returns its header in the file.
    #[must_use]
    pub fn header(self) -> &'static str {
        match self {
            Self::Server => "[server]",
            Self::Wire => "[wire]",
            Self::Cluster => "[cluster]",
            Self::Auth => "[auth]",
            Self::Role => "[[role]]",
            Self::Access => "[[access]]",
            Self::Limit => "[[limit]]",
            Self::Limits => "[limits]",
            Self::Compat => "[compat]",
            Self::Dataset => "[[dataset]]",
            Self::Column => "[[dataset.schema]]",
            Self::Relation => "[[dataset.relation]]",
            Self::Store => "[[store]]",
            Self::Database => "[[database]]",
            Self::Rule => "[[database.rule]]",
            Self::Check => "[[database.check]]",
            Self::Stream => "[[stream]]",
            Self::Function => "[[function]]",
            Self::View => "[[view]]",
            Self::Query => "[[query]]",
            Self::Parameter => "[[query.parameter]]",
        }
    }

    /// Returns its key at the top of the file; `None` for parts of another section.
    #[must_use]
    pub fn key(self) -> Option<&'static str> {
        match self {
            Self::Server => Some("server"),
            Self::Wire => Some("wire"),
            Self::Cluster => Some("cluster"),
            Self::Auth => Some("auth"),
            Self::Role => Some("role"),
            Self::Access => Some("access"),
            Self::Limit => Some("limit"),
            Self::Limits => Some("limits"),
            Self::Compat => Some("compat"),
            Self::Dataset => Some("dataset"),
            Self::Store => Some("store"),
            Self::Database => Some("database"),
            Self::Stream => Some("stream"),
            Self::Function => Some("function"),
            Self::View => Some("view"),
            Self::Query => Some("query"),
            Self::Column | Self::Relation | Self::Rule | Self::Check | Self::Parameter => None,
        }
    }

    /// Returns its description.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::Server => "The server itself.",
            Self::Wire => "Protocols beside HTTP. What `[auth]`, `[[access]]` and the limits say holds for them, too.",
            Self::Cluster => {
                "Other machines that answer large SQL statements, in a program that was built with the feature \
                 `ballista`. Without `engine` there are none."
            }
            Self::Auth => {
                "How callers prove who they are; without a way here everybody is let in. Health, readiness and version \
                 are told to anybody. Passwords, keys and tokens travel as they are: put TLS before the server."
            }
            Self::Role => "A group of callers, for `[[access]]` and `[[limit]]`. Repeat it for each.",
            Self::Access => {
                "Who may do what with which entries. The first rule that is about the caller, the entry and what is \
                 asked decides; where there are rules and none is about it, the answer is no."
            }
            Self::Limit => {
                "How much a caller may ask for. For each quantity, the first limit that is about the caller and names \
                 it decides; `[limits]` bounds all. A caller is who is known by name, else an address (an IPv6 network \
                 of 64 bits). `/health` has no limits."
            }
            Self::Limits => "Bounds on what requests may take.",
            Self::Compat => "Behaviour of other systems, for their clients.",
            Self::Dataset => "One entry made of files. Repeat it for each.",
            Self::Column => "One declared column. Declare all of a dataset's columns or none.",
            Self::Relation => "A link to the key of another dataset, that GraphQL follows in both directions.",
            Self::Store => "A key-value view of a dataset at `/api/kv/{store}/{key}`.",
            Self::Database => "A database, whose tables become entries. Repeat it for each.",
            Self::Rule => "What is there for whom: tables, columns and rows of a database. All rules that apply hold.",
            Self::Check => "What values must be like to be written to a database.",
            Self::Stream => "A stream, which takes events and is an entry itself. Repeat it for each.",
            Self::Function => "A file of R or Python whose functions answer requests. Repeat it for each.",
            Self::View => "A view: an entry whose rows a query gives. Repeat it for each.",
            Self::Query => "A named query: a statement that requests run by its name. Repeat it for each.",
            Self::Parameter => "A parameter of a named query.",
        }
    }

    /// Returns whether it occurs at most once.
    #[must_use]
    pub fn is_single(self) -> bool {
        matches!(self, Self::Server | Self::Wire | Self::Cluster | Self::Auth | Self::Limits | Self::Compat)
    }

    /// Returns its key at the top of the file if its tables declare entries by name, which variables name, too.
    #[must_use]
    pub fn named_key(self) -> Option<&'static str> {
        let is_named = matches!(
            self,
            Self::Dataset | Self::Store | Self::Database | Self::Stream | Self::Function | Self::View | Self::Query
        );
        self.key().filter(|_| is_named)
    }

    /// Returns its settings, in order.
    pub fn settings(self) -> impl Iterator<Item = &'static Setting> + Clone {
        SETTINGS.iter().filter(move |setting| setting.section == self)
    }

    /// Returns its setting called `key`.
    #[must_use]
    pub fn setting(self, key: &str) -> Option<&'static Setting> {
        self.settings().find(|setting| setting.key == key)
    }
}

/// Kind of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// `true` or `false`.
    Bool,
    /// An integer, at least the given one.
    Count(u64),
    /// A size: an integer number of bytes, or text with a unit like `"64MiB"`.
    Bytes,
    /// A duration: an integer number of milliseconds, or text with a unit like `"30s"`.
    Milliseconds,
    /// Text.
    Text,
    /// A path or an address, which is not empty: an empty path would stand for a directory nobody named.
    Location,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A text, or a list of texts.
    Texts,
    /// A table of texts.
    Pairs,
    /// A list of tables, each of this section.
    Tables(Section),
}

impl SettingKind {
    /// Returns a description of the kind.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Count(0) => "a whole number".to_owned(),
            Self::Count(least) => format!("a whole number from {least} on"),
            Self::Bytes => "a whole number of bytes, or a size like \"64MiB\"".to_owned(),
            Self::Milliseconds => "a whole number of milliseconds, or a time like \"30s\"".to_owned(),
            Self::Text => "a text".to_owned(),
            Self::Location => "a path or an address".to_owned(),
            Self::Choice(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("one of {}", quoted.join(", "))
            }
            Self::Texts => "a text or a list of texts".to_owned(),
            Self::Pairs => "a table of texts".to_owned(),
            Self::Tables(_) => "a list of tables".to_owned(),
        }
    }
}

/// When a changed setting takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// At a reload.
    Reload,
    /// At a reload where the entry it is of is new, else at a restart.
    ReloadOfNew,
    /// At a restart.
    Restart,
}

impl Effect {
    /// Returns a description.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Reload => "at a reload",
            Self::ReloadOfNew => "at a reload for a new one, else at a restart",
            Self::Restart => "at a restart",
        }
    }
}

/// Setting of the table.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Section of the setting.
    pub section: Section,
    /// Key of the setting.
    pub key: &'static str,
    /// Kind of its value.
    pub kind: SettingKind,
    /// Default, in TOML; empty when there is none.
    pub default: &'static str,
    /// Another value, in TOML.
    pub example: &'static str,
    /// Description.
    pub help: &'static str,
    /// When a change of it takes effect.
    pub effect: Effect,
    /// Release that introduced it.
    pub since: &'static str,
    /// Former names, and names in other systems; using one is a mistake that suggests this key.
    pub old: &'static [&'static str],
}

impl Setting {
    /// Returns its environment variable, if it has one; `NAME` in that of an entry stands for the entry's name.
    #[must_use]
    pub fn variable(&self) -> Option<String> {
        let key = self.key.to_uppercase();
        if let Some(section) = self.section.named_key() {
            return Some(format!("SALVER_{}__NAME__{key}", section.to_uppercase()));
        }
        let section = self.section.key().filter(|_| self.section.is_single())?;
        Some(format!("SALVER_{}_{key}", section.to_uppercase()))
    }

    /// Returns its key with its section: `server.listen`.
    #[must_use]
    pub fn path(&self) -> String {
        match self.section {
            Section::Column => format!("dataset.schema.{}", self.key),
            Section::Relation => format!("dataset.relation.{}", self.key),
            Section::Rule => format!("database.rule.{}", self.key),
            Section::Check => format!("database.check.{}", self.key),
            Section::Parameter => format!("query.parameter.{}", self.key),
            section => format!("{}.{}", section.key().unwrap_or_default(), self.key),
        }
    }
}
