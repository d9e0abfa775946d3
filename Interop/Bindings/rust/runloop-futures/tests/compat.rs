//! What is written for the traits of futures-io works on a stream of ours.

use futures_io::{AsyncRead, AsyncWrite};
use runloop::linux::Stream;
use runloop::RunLoop;
use runloop_futures::Compat;
use std::future::Future;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Sends bytes, closes, and reads up to the end, knowing nothing but the traits.
struct Exchange<S> {
    stream: S,
    left: &'static [u8],
    is_closed: bool,
    answer: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Future for Exchange<S> {
    type Output = io::Result<Vec<u8>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            let stream = Pin::new(&mut this.stream);
            let mut chunk = [0; 3];
            let count = if !this.left.is_empty() {
                match stream.poll_write(context, this.left) {
                    Poll::Ready(Ok(count)) => this.left = &this.left[count..],
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => return Poll::Pending,
                }
                continue;
            } else if !this.is_closed {
                match stream.poll_close(context) {
                    Poll::Ready(Ok(())) => this.is_closed = true,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => return Poll::Pending,
                }
                continue;
            } else {
                match stream.poll_read(context, &mut chunk) {
                    Poll::Ready(Ok(count)) => count,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => return Poll::Pending,
                }
            };
            if count == 0 {
                return Poll::Ready(Ok(std::mem::take(&mut this.answer)));
            }
            this.answer.extend_from_slice(&chunk[..count]);
        }
    }
}

#[test]
fn a_stream_is_written_closed_and_read_by_the_traits_of_futures_io() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let peer = std::thread::spawn(move || {
        let mut request = String::new();
        theirs.read_to_string(&mut request).unwrap();
        theirs.write_all(request.to_uppercase().as_bytes()).unwrap();
    });
    let run_loop = RunLoop::current().unwrap();
    let stream = Compat(Stream::new(ours).unwrap());
    let exchange = Exchange { stream, left: b"request", is_closed: false, answer: Vec::new() };
    assert_eq!(run_loop.block_on(exchange).unwrap().unwrap(), b"REQUEST");
    peer.join().unwrap();
}
