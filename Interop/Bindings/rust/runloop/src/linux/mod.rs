//! Signals, children, changes of files, streams, listeners and connections, as futures on the thread's loop. With the feature `linux`, which
//! needs librunloop-linux.
//!
//! What holds for all of them: they belong to the thread that made them, whose loop serves them in its common modes; they are neither `Send` nor
//! `Sync`. A future that is dropped waits no more, and loses nothing. Nothing is read or accepted while nobody waits for it, so an idle limit
//! counts only then.

mod arrivals;
mod changes;
mod child;
mod command;
mod connect;
mod io;
mod listener;
mod object;
mod reader;
mod run;
mod signals;
mod stream;
mod writer;

pub use changes::{Change, ChangeKind, Changes, ChangesConfig, Scope};
pub use child::{Child, End, Exit};
pub use command::{Command, Group, Stdio};
pub use connect::{Connect, ConnectError};
pub use io::{AsyncRead, AsyncWrite};
pub use listener::Listener;
pub use reader::{Reader, ReaderConfig};
pub use run::{Excess, Outcome, Output, OutputEnd, RunConfig};
pub use signals::{Arrival, Signals};
pub use stream::{local_address, local_port, peer, peer_address, Peer, Stream};
pub use writer::{Writer, WriterConfig};

/// For the first process of a container, whose id is 1, in the first lines of `main`: the program is executed once more as a child of this
/// process, which from then on reaps orphans, passes on signals, and ends as the program does. Returns in the new process. No status that
/// somebody in the program waits for is taken. An error (EBUSY) if there are other threads already.
pub fn reap_orphans() -> crate::Result<()> {
    crate::error::check("runloop_reap_orphans", unsafe { runloop_sys::runloop_reap_orphans() }).map(|_| ())
}
