//! The sandbox of a file's processes: how they are started so that they are kept from the rest of the machine.
//!
//! What needs no rights is set between fork and exec (`Confinement`). Namespaces and bounds in them are set by the
//! programs of util-linux, each of which becomes the next, so that the process that was started is the one that runs
//! the code. Which way works here is found out once, before the file is loaded, with a program that does nothing.

mod account;
mod directory;
mod probe;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use salver_model::spec::{FunctionSpec, SandboxLevel, SandboxSpec};
use salver_model::{Code, Error, Result};

pub(crate) use self::account::Account;
pub(crate) use self::directory::give_socket;
use crate::process::{Confinement, confine};

/// User id of the superuser.
const ROOT: u32 = 0;

/// How the processes of a file are started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sandbox {
    confinement: Confinement,
    /// Other user that the processes run as.
    pub(crate) account: Option<Account>,
    /// Programs that start the program, with their arguments.
    wrapper: Vec<OsString>,
    /// Whether the wrapper changes the user.
    is_user_wrapped: bool,
    /// Directory of that user's own.
    pub(crate) private: Option<PathBuf>,
}

impl Sandbox {
    /// Finds the way in which the processes of `spec` can be started as its settings demand, and prepares `directory`,
    /// with sockets and program files, for them. Blocks for some milliseconds if there is something to find out.
    ///
    /// # Errors
    /// `EntryUnavailable` when there is no such way.
    pub(crate) fn prepare(spec: &FunctionSpec, directory: &Path) -> Result<Self> {
        let own = directory::owner(directory).map_err(|error| unprepared(spec, error))?;
        let asked = &spec.sandbox;
        let account = match &asked.run_as {
            Some(name) => account_of(spec, name, own)?,
            None => None,
        };
        if own == ROOT && account.is_none() {
            if asked.processes_max.is_some() {
                return Err(refused(spec, "`processes_max` does not bound the superuser")
                    .with_hint("set `run_as`, or run the server as another user"));
            }
            if asked.is_apart() {
                let entry = &spec.name;
                let why = "the server runs as root, whose files a sandbox does not protect: set `run_as`";
                tracing::warn!(target: "function", %entry, "{why}");
            }
        }
        let mut found = Self::ways(asked, own, account);
        if found.len() == 1 && found.iter().all(|way| way.wrapper.is_empty() && way.account.is_none()) {
            return Ok(found.swap_remove(0));
        }
        let mut reasons = Vec::new();
        for way in found {
            match probe::works(&way) {
                Ok(()) => return way.prepared(directory).map_err(|error| unprepared(spec, error)),
                Err(reason) => reasons.push(reason),
            }
        }
        reasons.dedup();
        Err(refused(spec, &format!("its sandbox can't be made: {}", reasons.join("; "))).with_hint(hint(asked)))
    }

    /// Returns the ways in which the demands may be met, the best first.
    fn ways(asked: &SandboxSpec, own: u32, account: Option<Account>) -> Vec<Self> {
        let confinement =
            Confinement { is_deprived: asked.level != SandboxLevel::Off, open_files_max: asked.open_files_max };
        let plain = Self { confinement, account, ..Self::default() };
        let is_strict = asked.level == SandboxLevel::Strict;
        if asked.network && !is_strict && asked.processes_max.is_none() {
            return vec![plain];
        }
        let mut inside = Wrapper::default();
        inside.program("unshare", ["--user", "--map-current-user"]);
        inside.namespaces(asked);
        if own == ROOT && plain.account.is_none() {
            inside.program("setpriv", ["--bounding-set=-all", "--inh-caps=-all"]);
        }
        if let Some(processes) = asked.processes_max {
            // Within the namespace, where only its own processes count.
            inside.program("prlimit", [format!("--nproc={processes}:{processes}")]);
        }
        let mut ways = vec![Self { wrapper: inside.words(), ..plain.clone() }];
        if own == ROOT && !is_strict && asked.processes_max.is_none() {
            // The superuser needs no user namespace to cut the network.
            let mut outside = Wrapper::default();
            outside.program::<&str>("unshare", []);
            outside.namespaces(asked);
            outside.program("setpriv", ["--bounding-set=-all", "--inh-caps=-all"]);
            if let Some(account) = &plain.account {
                let (user, group) = (format!("--reuid={}", account.user), format!("--regid={}", account.group));
                outside.options([user.as_str(), group.as_str(), "--clear-groups"]);
            }
            ways.push(Self { wrapper: outside.words(), is_user_wrapped: true, ..plain });
        }
        ways
    }

    /// Returns the command that starts `program`, to which its arguments are added.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut words = self.wrapper.iter().map(OsString::as_os_str).chain([program.as_os_str()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        if let Some(account) = self.account.as_ref().filter(|_| !self.is_user_wrapped) {
            // This also leaves all other groups.
            command.uid(account.user).gid(account.group);
        }
        confine(&mut command, self.confinement);
        command
    }

    /// Returns whether other programs start the program.
    pub(crate) fn is_wrapped(&self) -> bool {
        !self.wrapper.is_empty()
    }

    /// Opens the directory to the user.
    fn prepared(mut self, directory: &Path) -> std::io::Result<Self> {
        if let Some(account) = &self.account {
            self.private = Some(directory::open_to(directory, account)?);
        }
        Ok(self)
    }
}

/// Command line of programs that start each other.
#[derive(Debug, Default)]
struct Wrapper(Vec<OsString>);

impl Wrapper {
    /// Adds a program.
    fn program<W: Into<OsString>>(&mut self, name: &str, options: impl IntoIterator<Item = W>) {
        if !self.0.is_empty() {
            self.0.push("--".into());
        }
        self.0.push(name.into());
        self.options(options);
    }

    /// Adds options to the last program.
    fn options<W: Into<OsString>>(&mut self, options: impl IntoIterator<Item = W>) {
        self.0.extend(options.into_iter().map(Into::into));
    }

    /// Adds the namespaces that are asked for, beside that of users.
    fn namespaces(&mut self, asked: &SandboxSpec) {
        self.options((!asked.network).then_some("--net"));
        self.options((asked.level == SandboxLevel::Strict).then_some("--ipc"));
    }

    /// Returns the words before the program.
    fn words(mut self) -> Vec<OsString> {
        self.0.push("--".into());
        self.0
    }
}

/// Checks that the user is there that the processes of `spec` are to run as, and may read the file.
///
/// # Errors
/// `EntryUnavailable`.
pub fn check_account(spec: &FunctionSpec) -> Result<()> {
    let Some(name) = spec.sandbox.run_as.as_deref() else { return Ok(()) };
    if find_account(spec, name)?.may_read(&spec.file) == Some(false) {
        let why = format!("`{name}` can't read the file `{}`", spec.file.display());
        return Err(refused(spec, &why).with_hint("let that user read it, and enter the directories it is in"));
    }
    Ok(())
}

fn find_account(spec: &FunctionSpec, name: &str) -> Result<Account> {
    Account::find(name).map_err(|reason| refused(spec, &reason).with_hint("create the user, or correct `run_as`"))
}

/// Returns the user to change to; `None` if the server runs as that user.
fn account_of(spec: &FunctionSpec, name: &str, own: u32) -> Result<Option<Account>> {
    let account = find_account(spec, name)?;
    if account.user == own {
        return Ok(None);
    }
    if own != ROOT {
        return Err(refused(spec, "only a server that runs as root can run code as another user")
            .with_hint("leave `run_as` out, or start the server as root"));
    }
    Ok(Some(account))
}

/// Returns what an operator can do about a sandbox that can't be made.
fn hint(asked: &SandboxSpec) -> &'static str {
    let needs_namespaces = !asked.network || asked.level == SandboxLevel::Strict || asked.processes_max.is_some();
    if needs_namespaces {
        "install util-linux 2.36 or later, and allow user namespaces (in containers: a seccomp profile with `unshare`; \
         Debian: `kernel.unprivileged_userns_clone`; Ubuntu: `kernel.apparmor_restrict_unprivileged_userns`); or leave \
         out `network = false`, `processes_max` and `sandbox = \"strict\"`"
    } else {
        "let the server change users and end their processes (CAP_SETUID, CAP_SETGID, CAP_KILL), or leave out `run_as`"
    }
}

fn refused(spec: &FunctionSpec, why: &str) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{}` can't be run: {why}", spec.name))
}

fn unprepared(spec: &FunctionSpec, error: std::io::Error) -> Error {
    refused(spec, "the directory of its sockets can't be prepared")
        .with_hint("see the cause in the server's log")
        .with_source(error)
}

#[cfg(test)]
mod tests {
    use salver_model::spec::{SandboxLevel, SandboxSpec};

    use super::{Account, Sandbox};

    fn ways(own: u32, other: Option<u32>, set: impl FnOnce(&mut SandboxSpec)) -> Vec<String> {
        let mut asked = SandboxSpec::default();
        set(&mut asked);
        let account = other.map(|user| Account { user, group: user + 1, ..Account::default() });
        let ways = Sandbox::ways(&asked, own, account);
        let line = |way: Sandbox| way.wrapper.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ");
        ways.into_iter().map(line).collect()
    }

    #[test]
    fn what_starts_a_program() {
        let no_network = |asked: &mut SandboxSpec| asked.network = false;
        let strict = |asked: &mut SandboxSpec| asked.level = SandboxLevel::Strict;
        let few = |asked: &mut SandboxSpec| asked.processes_max = Some(9);
        assert_eq!(ways(0, None, |_| {}), [""]);
        assert_eq!(ways(1000, None, |asked| asked.level = SandboxLevel::Off), [""]);
        assert_eq!(ways(1000, None, no_network), ["unshare --user --map-current-user --net --"]);
        assert_eq!(ways(1000, None, strict), ["unshare --user --map-current-user --ipc --"]);
        let bounded = ["unshare --user --map-current-user -- prlimit --nproc=9:9 --"];
        assert_eq!(ways(1000, None, few), bounded);
        assert_eq!(ways(0, Some(7), few), bounded);
        let bare = "setpriv --bounding-set=-all --inh-caps=-all";
        let own_root = format!("unshare --user --map-current-user --net -- {bare} --");
        assert_eq!(ways(0, None, no_network), [own_root, format!("unshare --net -- {bare} --")]);
        let other = format!("unshare --net -- {bare} --reuid=7 --regid=8 --clear-groups --");
        assert_eq!(ways(0, Some(7), no_network), ["unshare --user --map-current-user --net --".to_owned(), other]);
        assert_eq!(ways(0, Some(7), strict), ["unshare --user --map-current-user --ipc --"]);
    }
}
