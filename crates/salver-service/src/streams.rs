//! Which streams there are: for who appends, for who reads, by name and by topic.

use salver_model::{Caller, Code, Error, Permission, Result};

use crate::access;
use crate::rights::WaitPermit;
use crate::served_stream::{Appender, Consumer, ServedStream};
use crate::service::Service;

impl Service {
    /// Returns the stream called `name`, to append to for `caller`.
    ///
    /// # Errors
    /// Returns `UnknownStream`, `Forbidden`, and `StreamUnavailable` when it could not be opened.
    pub fn appender(&self, caller: &Caller, name: &str) -> Result<&Appender> {
        self.stream(caller, Permission::Append, name).map(|stream| &stream.appender)
    }

    /// Returns the stream called `name`, to read from for `caller`.
    ///
    /// # Errors
    /// Returns the errors of [`Service::appender`].
    pub fn consumer(&self, caller: &Caller, name: &str) -> Result<&Consumer> {
        self.stream(caller, Permission::Consume, name).map(|stream| &stream.consumer)
    }

    /// Returns the appender and the consumer of the stream whose name or whose topic in Kafka is `topic`; `None` if
    /// there is none, or none of which the caller may know. A stream's name goes before another's topic.
    ///
    /// # Errors
    /// Returns `Forbidden`, and `StreamUnavailable` when it could not be opened.
    pub fn topic(
        &self,
        caller: &Caller,
        permission: Permission,
        topic: &str,
    ) -> Result<Option<(&Appender, &Consumer)>> {
        let named = self.streams().iter().find(|stream| stream.spec().name.as_str() == topic);
        let found = named.or_else(|| self.streams().iter().find(|stream| stream.spec().topic() == topic));
        let is_seen = |stream: &&ServedStream| access::knows(caller, stream.spec().name.as_str());
        let Some(found) = found.filter(is_seen) else { return Ok(None) };
        access::check(caller, permission, found.spec().name.as_str(), || unknown(caller, self.streams(), topic))?;
        found.consumer.available()?;
        Ok(Some((&found.appender, &found.consumer)))
    }

    /// Returns every stream, also those that could not be opened, whoever may read it.
    pub fn all_consumers(&self) -> impl Iterator<Item = &Consumer> {
        self.streams().iter().map(|stream| &stream.consumer)
    }

    /// Returns every stream that `caller` may read or append to.
    pub fn consumers<'a>(&'a self, caller: &'a Caller) -> impl Iterator<Item = &'a Consumer> {
        self.streams().iter().filter(|stream| is_known(caller, stream)).map(|stream| &stream.consumer)
    }

    /// Acquires a permit for a response to `caller` that waits for events, under the rights of this service.
    ///
    /// # Errors
    /// Returns `Overloaded` when the caller holds as many as allowed.
    pub fn wait_permit(&self, caller: &Caller) -> Result<WaitPermit> {
        let share = self.waits().try_take(&caller.holder()).ok_or_else(|| {
            let waiting = self.waits().taken().taken;
            Error::new(Code::Overloaded, format!("{waiting} answers wait for events already")).with_hint(
                "end some of them; half of `limits.connections_max` may, and three quarters of these be one's",
            )
        })?;
        Ok(WaitPermit::new(share, self.own_rights(), self.rights()))
    }

    fn stream(&self, caller: &Caller, permission: Permission, name: &str) -> Result<&ServedStream> {
        let absent = || unknown(caller, self.streams(), name);
        let found = self.streams().iter().find(|stream| stream.spec().name.as_str() == name).ok_or_else(absent)?;
        access::check(caller, permission, name, absent)?;
        found.consumer.available().map(|()| found)
    }
}

/// Returns whether the caller may do anything with the events of a stream.
fn is_known(caller: &Caller, stream: &ServedStream) -> bool {
    let name = stream.spec().name.as_str();
    caller.may(Permission::Append, name) || caller.may(Permission::Consume, name)
}

fn unknown(caller: &Caller, streams: &[ServedStream], name: &str) -> Error {
    let known = streams.iter().filter(|stream| is_known(caller, stream));
    let hint = salver_model::suggest::hint(name, known.map(|stream| stream.spec().name.as_str()));
    Error::new(Code::UnknownStream, format!("no stream `{name}`"))
        .with_hint("declare it as [[stream]] in the configuration")
        .with_hint_if(hint)
}
