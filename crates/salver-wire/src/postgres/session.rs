//! What a connection keeps between messages: its transaction, prepared statements, portals and settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use salver_model::Error;
use salver_model::limits::{PORTALS_MAX, PREPARED_STATEMENTS_MAX, SESSION_BYTES_MAX};
use salver_service::reception::{Reception, Visitor};

use super::command::{Command, Savepoint};
use super::known_descriptions::KnownDescriptions;
use super::portal::Portal;
use super::prepared::Prepared;
use super::refusal::{
    DUPLICATE_CURSOR, DUPLICATE_STATEMENT, IN_FAILED_TRANSACTION, LIMIT_EXCEEDED, NO_TRANSACTION, Refusal,
    UNKNOWN_CURSOR, UNKNOWN_SAVEPOINT, UNKNOWN_STATEMENT,
};
use super::session_settings::SessionSettings;
use super::transaction::Transaction;

/// A session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) reception: Arc<dyn Reception>,
    pub(super) visitor: Visitor,
    pub(super) settings: SessionSettings,
    pub(super) transaction: Transaction,
    pub(super) descriptions: KnownDescriptions,
    statements: BTreeMap<String, Arc<Prepared>>,
    portals: BTreeMap<String, Portal>,
    /// Name of the statement that was prepared last, until it is planned, or bound before that.
    pub(super) unplanned: Option<String>,
    /// Names of the places in the transaction, the latest last.
    savepoints: Vec<String>,
}

impl Session {
    pub(super) fn new(reception: Arc<dyn Reception>, visitor: Visitor, settings: SessionSettings) -> Self {
        let (statements, portals) = (BTreeMap::new(), BTreeMap::new());
        let transaction = Transaction::Idle;
        let descriptions = KnownDescriptions::default();
        let (unplanned, savepoints) = (None, Vec::new());
        Self { reception, visitor, settings, transaction, descriptions, statements, portals, unplanned, savepoints }
    }

    /// Returns what the client is told of an error of the statement `text`.
    pub(super) fn refusal(&self, error: Error, text: &str) -> Refusal {
        Refusal::of(self.reception.disclose(error), text)
    }

    /// Keeps a prepared statement. The one without a name takes the place of an earlier one.
    ///
    /// # Errors
    /// `42P05` for a name that is taken, `54000` if there are too many.
    pub(super) fn keep_statement(&mut self, name: String, prepared: Prepared) -> Result<(), Refusal> {
        self.statements
            .remove("")
            .filter(|_| !name.is_empty())
            .map(|unnamed| self.statements.insert(String::new(), unnamed));
        if self.statements.contains_key(&name) {
            return Err(Refusal::new(DUPLICATE_STATEMENT, format!("prepared statement \"{name}\" already exists")));
        }
        if self.statements.len() >= PREPARED_STATEMENTS_MAX {
            let message = format!("a connection has {PREPARED_STATEMENTS_MAX} prepared statements at most");
            return Err(Refusal::new(LIMIT_EXCEEDED, message).with_hint("close those that are done, or `DISCARD ALL`"));
        }
        self.check_bytes(name.len() + prepared.bytes())?;
        self.statements.insert(name, Arc::new(prepared));
        Ok(())
    }

    /// Keeps what was found out of a prepared statement.
    ///
    /// # Errors
    /// `54000` if there is too much of it, with which the statement is closed.
    pub(super) fn keep_planned(&mut self, name: &str, prepared: Prepared) -> Result<&Arc<Prepared>, Refusal> {
        self.statements.remove(name);
        self.check_bytes(name.len() + prepared.bytes())?;
        Ok(self.statements.entry(name.to_owned()).or_insert(Arc::new(prepared)))
    }

    /// Returns a prepared statement.
    ///
    /// # Errors
    /// `26000` if there is none of that name.
    pub(super) fn statement(&self, name: &str) -> Result<&Arc<Prepared>, Refusal> {
        self.statements.get(name).ok_or_else(|| {
            let named = if name.is_empty() {
                "unnamed prepared statement".to_owned()
            } else {
                format!("prepared statement \"{name}\"")
            };
            Refusal::new(UNKNOWN_STATEMENT, format!("{named} does not exist"))
        })
    }

    /// Closes a prepared statement, if there is one of that name.
    pub(super) fn close_statement(&mut self, name: &str) -> bool {
        self.statements.remove(name).is_some()
    }

    /// Closes all prepared statements.
    pub(super) fn close_statements(&mut self) {
        self.statements.clear();
    }

    /// Keeps a portal. The one without a name takes the place of an earlier one.
    ///
    /// # Errors
    /// `42P03` for a name that is taken, `54000` if there are too many.
    pub(super) fn keep_portal(&mut self, name: String, portal: Portal) -> Result<(), Refusal> {
        if name.is_empty() {
            self.portals.remove("");
        }
        if self.portals.contains_key(&name) {
            return Err(Refusal::new(DUPLICATE_CURSOR, format!("cursor \"{name}\" already exists")));
        }
        if self.portals.len() >= PORTALS_MAX {
            let message = format!("a connection has {PORTALS_MAX} cursors at most");
            return Err(Refusal::new(LIMIT_EXCEEDED, message).with_hint("close those that are done"));
        }
        self.check_bytes(name.len() + portal.bytes())?;
        self.portals.insert(name, portal);
        Ok(())
    }

    /// Returns a portal.
    ///
    /// # Errors
    /// `34000` if there is none of that name.
    pub(super) fn portal(&self, name: &str) -> Result<&Portal, Refusal> {
        self.portals.get(name).ok_or_else(|| no_portal(name))
    }

    /// Takes a portal out while it runs.
    ///
    /// # Errors
    /// `34000` if there is none of that name.
    pub(super) fn take_portal(&mut self, name: &str) -> Result<Portal, Refusal> {
        self.portals.remove(name).ok_or_else(|| no_portal(name))
    }

    /// Puts a portal back that was taken out.
    pub(super) fn put_portal(&mut self, name: &str, portal: Portal) {
        self.portals.insert(name.to_owned(), portal);
    }

    /// Closes a portal, if there is one of that name.
    pub(super) fn close_portal(&mut self, name: &str) -> bool {
        self.portals.remove(name).is_some()
    }

    /// Closes all portals.
    pub(super) fn close_portals(&mut self) {
        self.portals.clear();
    }

    /// Ends the transaction: what was to live until then is closed.
    pub(super) fn end_transaction(&mut self) {
        self.transaction = Transaction::Idle;
        self.savepoints.clear();
        self.portals.retain(|_, portal| portal.is_held);
    }

    /// Refuses everything that a failed transaction does not let through.
    ///
    /// # Errors
    /// `25P02`.
    pub(super) fn check_transaction(&self, command: &Command) -> Result<(), Refusal> {
        if self.transaction != Transaction::Failed || command.ends_transaction() {
            return Ok(());
        }
        let message = "current transaction is aborted, commands ignored until end of transaction block";
        Err(Refusal::new(IN_FAILED_TRANSACTION, message))
    }

    /// Marks or forgets a place in the transaction, or goes back to it. Returns the tag of the statement.
    ///
    /// # Errors
    /// `25P01` outside of a transaction, `3B001` if there is no such place, `54000` if there are too many.
    pub(super) fn savepoint(&mut self, step: Savepoint, name: &str) -> Result<&'static str, Refusal> {
        let tag = match step {
            Savepoint::Mark => "SAVEPOINT",
            Savepoint::Release => "RELEASE",
            Savepoint::GoBack => "ROLLBACK",
        };
        if self.transaction == Transaction::Idle {
            return Err(Refusal::new(NO_TRANSACTION, format!("{tag} of a savepoint needs a transaction")));
        }
        if step == Savepoint::Mark {
            if self.savepoints.len() >= PORTALS_MAX {
                let message = format!("a transaction has {PORTALS_MAX} savepoints at most");
                return Err(Refusal::new(LIMIT_EXCEEDED, message).with_hint("release those that are done"));
            }
            self.check_bytes(name.len())?;
            self.savepoints.push(name.to_owned());
            return Ok(tag);
        }
        let at = self
            .savepoints
            .iter()
            .rposition(|own| own == name)
            .ok_or_else(|| Refusal::new(UNKNOWN_SAVEPOINT, format!("savepoint \"{name}\" does not exist")))?;
        self.savepoints.truncate(at);
        if step == Savepoint::GoBack {
            self.savepoints.push(name.to_owned());
            self.transaction = Transaction::Open;
        }
        Ok(tag)
    }

    /// Ends a group of messages, which outside of a transaction is one by itself.
    pub(super) fn end_group(&mut self) {
        if self.transaction == Transaction::Idle {
            self.end_transaction();
        }
    }

    /// Says that a statement was refused, with which a transaction fails.
    pub(super) fn fail(&mut self) {
        if self.transaction == Transaction::Open {
            self.transaction = Transaction::Failed;
        }
    }

    /// Checks that there is memory for `more` bytes of statements and portals.
    fn check_bytes(&self, more: usize) -> Result<(), Refusal> {
        let statements: usize = self.statements.iter().map(|(name, own)| name.len() + own.bytes()).sum();
        let portals: usize = self.portals.iter().map(|(name, own)| name.len() + own.bytes()).sum();
        let savepoints: usize = self.savepoints.iter().map(String::len).sum();
        if statements + portals + savepoints + more <= SESSION_BYTES_MAX {
            return Ok(());
        }
        let message = format!("the statements and parameters of a connection have {SESSION_BYTES_MAX} bytes at most");
        Err(Refusal::new(LIMIT_EXCEEDED, message).with_hint("close those that are done"))
    }
}

fn no_portal(name: &str) -> Refusal {
    Refusal::new(UNKNOWN_CURSOR, format!("portal \"{name}\" does not exist"))
}
