//! How far user code is kept from the machine it runs on.

/// Level of a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxLevel {
    /// The code may do what the server may.
    Off,
    /// What breaks no ordinary program: no new privileges, no core dumps.
    #[default]
    Basic,
    /// As [`Self::Basic`], in a user namespace of its own, without capabilities.
    Strict,
}

impl SandboxLevel {
    /// Every level, in the order of the settings.
    pub const ALL: [Self; 3] = [Self::Off, Self::Basic, Self::Strict];

    /// Returns its word in the settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Basic => "basic",
            Self::Strict => "strict",
        }
    }
}

/// Sandbox of the processes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxSpec {
    /// Level of the sandbox.
    pub level: SandboxLevel,
    /// User the processes run as; `None` for the server's.
    pub run_as: Option<String>,
    /// Whether the processes have a network.
    pub network: bool,
    /// Most open files of a process; `None` for as many as the server may have.
    pub open_files_max: Option<u64>,
    /// Most processes and threads; `None` for no bound.
    pub processes_max: Option<u64>,
}

impl Default for SandboxSpec {
    fn default() -> Self {
        Self { level: SandboxLevel::default(), run_as: None, network: true, open_files_max: None, processes_max: None }
    }
}

impl SandboxSpec {
    /// Returns whether the code must not reach through the server what the kernel keeps from itself.
    #[must_use]
    pub fn is_apart(&self) -> bool {
        self.level == SandboxLevel::Strict || self.run_as.is_some() || !self.network
    }
}
