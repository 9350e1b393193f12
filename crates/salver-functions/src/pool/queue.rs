//! Queue of calls that wait for a worker: callers take turns, each with a FIFO queue.

use std::collections::VecDeque;

use salver_model::Holder;
use tokio::sync::oneshot;

use crate::process::Worker;

/// Channel of a waiting call.
pub(super) type Sender = oneshot::Sender<Worker>;

/// Waiting calls, including cancelled ones.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Callers; the first is the next in turn.
    callers: VecDeque<(Option<Holder>, VecDeque<Sender>)>,
    len: usize,
}

impl Queue {
    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of calls of `holder` that still wait.
    pub(super) fn waiting(&mut self, holder: Option<&Holder>) -> usize {
        let Some((_, own)) = self.callers.iter_mut().find(|(other, _)| other.as_ref() == holder) else { return 0 };
        let before = own.len();
        own.retain(|sender| !sender.is_closed());
        self.len -= before - own.len();
        own.len()
    }

    /// Removes cancelled calls.
    pub(super) fn tidy(&mut self) {
        for (_, own) in &mut self.callers {
            own.retain(|sender| !sender.is_closed());
        }
        self.callers.retain(|(_, own)| !own.is_empty());
        self.len = self.callers.iter().map(|(_, own)| own.len()).sum();
    }

    /// Appends a call to those of `holder`.
    pub(super) fn push(&mut self, holder: Option<Holder>, sender: Sender) {
        self.len += 1;
        match self.callers.iter_mut().find(|(other, _)| *other == holder) {
            Some((_, own)) => own.push_back(sender),
            None => self.callers.push_back((holder, VecDeque::from([sender]))),
        }
    }

    /// Removes the next call in turn.
    pub(super) fn pop(&mut self) -> Option<(Option<Holder>, Sender)> {
        loop {
            let (holder, mut own) = self.callers.pop_front()?;
            let sender = own.pop_front();
            self.len -= usize::from(sender.is_some());
            if !own.is_empty() {
                self.callers.push_back((holder.clone(), own));
            }
            if let Some(sender) = sender {
                return Some((holder, sender));
            }
        }
    }

    /// Puts back a call that could not be served: it is the next again.
    pub(super) fn put_back(&mut self, holder: Option<Holder>, sender: Sender) {
        self.len += 1;
        let own = self.callers.iter().position(|(other, _)| *other == holder).and_then(|at| self.callers.remove(at));
        let (holder, mut own) = own.unwrap_or_else(|| (holder, VecDeque::new()));
        own.push_front(sender);
        self.callers.push_front((holder, own));
    }

    /// Removes all calls.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use salver_model::Holder;
    use tokio::sync::oneshot;

    use super::Queue;

    #[test]
    fn callers_take_turns() {
        let holder = |name: &str| Some(Holder::Identity(name.to_owned()));
        let mut queue = Queue::default();
        let mut kept = Vec::new();
        for name in ["a", "a", "a", "b", "a", "c"] {
            let (sender, receiver) = oneshot::channel();
            queue.push(holder(name), sender);
            kept.push(receiver);
        }
        assert_eq!((queue.len(), queue.waiting(holder("a").as_ref())), (6, 4));
        let (first, sender) = queue.pop().unwrap();
        assert_eq!(first, holder("a"));
        queue.put_back(first, sender);
        drop(kept.remove(1));
        assert_eq!(queue.waiting(holder("a").as_ref()), 3);
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(holder, _)| holder).collect();
        assert_eq!(order, ["a", "b", "c", "a", "a"].map(holder));
        assert_eq!(queue.len(), 0);
    }
}
