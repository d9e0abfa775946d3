use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Reads without waiting: of the same shape as the trait of the crate `futures-io`, on which this crate does not depend. The crate
/// `runloop-futures` makes one of the other.
pub trait AsyncRead {
    /// Reads into `buffer`: how many bytes, 0 at the end, or an error. If there is nothing yet, what polled last is woken when there is.
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>>;
}

/// Writes without waiting: of the same shape as the trait of the crate `futures-io`.
pub trait AsyncWrite {
    /// Writes some of `bytes`: how many are sent or will be. If there is no space, what polled last is woken when there is.
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;
    /// Until nothing waits.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// Until all was sent, and the end was signalled to the peer.
    fn poll_close(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>>;
}
