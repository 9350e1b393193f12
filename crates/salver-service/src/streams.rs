//! Which streams there are: for who appends, for who reads, by name and by topic.

use salver_model::{Caller, Code, Error, Result};

use crate::served_stream::{Appender, Consumer, ServedStream, WaitPermit};
use crate::service::Service;

impl Service {
    /// Returns the stream called `name`, to append to.
    ///
    /// # Errors
    /// Returns `UnknownStream`, and `StreamUnavailable` when it could not be opened.
    pub fn appender(&self, name: &str) -> Result<&Appender> {
        self.stream(name).map(|stream| &stream.appender)
    }

    /// Returns the stream called `name`, to read from.
    ///
    /// # Errors
    /// Returns the errors of [`Service::appender`].
    pub fn consumer(&self, name: &str) -> Result<&Consumer> {
        self.stream(name).map(|stream| &stream.consumer)
    }

    /// Returns the appender and the consumer of the stream whose name or whose topic in Kafka is `topic`; `None` if
    /// there is none. A stream's name goes before another's topic.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when it could not be opened.
    pub fn topic(&self, topic: &str) -> Result<Option<(&Appender, &Consumer)>> {
        let named = self.streams().iter().find(|stream| stream.spec().name.as_str() == topic);
        let found = named.or_else(|| self.streams().iter().find(|stream| stream.spec().topic() == topic));
        let Some(found) = found else { return Ok(None) };
        found.consumer.available()?;
        Ok(Some((&found.appender, &found.consumer)))
    }

    /// Returns every stream, also those that could not be opened.
    pub fn consumers(&self) -> impl Iterator<Item = &Consumer> {
        self.streams().iter().map(|stream| &stream.consumer)
    }

    /// Acquires a permit for a response to `caller` that waits for events.
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
        Ok(WaitPermit::new(share))
    }

    fn stream(&self, name: &str) -> Result<&ServedStream> {
        let found = self.streams().iter().find(|stream| stream.spec().name.as_str() == name).ok_or_else(|| {
            let names = self.streams().iter().map(|stream| stream.spec().name.as_str());
            let hint = salver_model::suggest::hint(name, names);
            Error::new(Code::UnknownStream, format!("no stream `{name}`"))
                .with_hint("declare it as [[stream]] in the configuration")
                .with_hint_if(hint)
        })?;
        found.consumer.available().map(|()| found)
    }
}
