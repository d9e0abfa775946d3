use super::io::{AsyncRead, AsyncWrite};
use super::reader::{Reader, ReaderConfig};
use super::writer::{Writer, WriterConfig};
use crate::error::{check, Result};
use runloop_sys as sys;
use std::io;
use std::os::raw::c_char;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// A socket in both directions. Its halves may be taken apart, for two futures; the socket is closed with the last of them.
pub struct Stream {
    /// What the peer sends.
    pub reader: Reader,
    /// What is sent to the peer.
    pub writer: Writer,
}

impl Stream {
    /// For a connected socket.
    pub fn new(io: impl Into<OwnedFd>) -> Result<Stream> {
        Stream::with_limits(io, ReaderConfig::default(), WriterConfig::default())
    }

    /// The same with limits. If both have an idle limit, what is sent postpones that of the reader, too.
    pub fn with_limits(io: impl Into<OwnedFd>, read: ReaderConfig, write: WriterConfig) -> Result<Stream> {
        let io = Rc::new(io.into());
        let writer = Writer::shared(io.clone(), write)?;
        let other = Some(&writer).filter(|_| read.idle > Duration::ZERO && write.idle > Duration::ZERO);
        let reader = Reader::shared(io, read, other)?;
        Ok(Stream { reader, writer })
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.reader).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(context)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_close(context)
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

/// The port of a TCP socket.
pub fn local_port(socket: &impl AsFd) -> Result<u16> {
    // SAFETY: the descriptor is open.
    let port = unsafe { sys::runloop_socket_get_port(socket.as_fd().as_raw_fd(), false) };
    check("the socket has no port", port).map(|port| port as u16)
}

/// The address of a socket: "127.0.0.1:80", "[::1]:80", "/run/x", "@abstract" or "".
pub fn local_address(socket: &impl AsFd) -> Result<String> {
    address(socket.as_fd(), false)
}

/// That of the other end.
pub fn peer_address(socket: &impl AsFd) -> Result<String> {
    address(socket.as_fd(), true)
}

/// The process at the other end of a Unix socket.
#[derive(Debug)]
pub struct Peer {
    /// Its number when it connected or listened. `None`: unknown.
    pub pid: Option<u32>,
    /// Its effective user at that time, which is what to decide by.
    pub uid: u32,
    /// Its effective group.
    pub gid: u32,
    /// A pidfd of it. `None` before Linux 6.5, and if it was reaped.
    pub process: Option<OwnedFd>,
}

/// The process at the other end of a Unix socket. Fails with EAFNOSUPPORT for another one, and with EMFILE.
pub fn peer(socket: &impl AsFd) -> Result<Peer> {
    let mut peer = sys::runloop_peer { pid: 0, uid: 0, gid: 0, pidfd: -1 };
    // SAFETY: the descriptor is open, and the peer is written to.
    let code = unsafe { sys::runloop_socket_get_peer(socket.as_fd().as_raw_fd(), &mut peer) };
    check("the socket has no known peer", code)?;
    Ok(Peer {
        pid: (peer.pid > 0).then_some(peer.pid as u32),
        uid: peer.uid,
        gid: peer.gid,
        // SAFETY: the pidfd is the caller's.
        process: (peer.pidfd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(peer.pidfd) }),
    })
}

fn address(socket: BorrowedFd<'_>, of_peer: bool) -> Result<String> {
    let mut text = [0u8; 128];
    // SAFETY: the descriptor is open, and the buffer as long as is said.
    let length = unsafe {
        sys::runloop_socket_get_address(
            socket.as_raw_fd(),
            of_peer,
            text.as_mut_ptr().cast::<c_char>(),
            text.len(),
        )
    };
    let length = check("the socket has no address", length)? as usize;
    Ok(String::from_utf8_lossy(&text[..length]).into_owned())
}
