//! What Linux has, in futures.
use crate::driver::{expect, own, scenarios, Failure, Outcome, ECHILD};
use crate::futures::{block_on, both};
use runloop::linux::*;
use std::fs::{self, File};
use std::future::Future;
use std::io::{Read, Write};
use std::os::unix::io::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

scenarios! {
    "a signal": a_signal,
    "a child": a_child,
    "a child that is ended": a_child_that_is_ended,
    "watched changes": watched_changes,
    "lines of a pipe": lines_of_a_pipe,
    "a stream": a_stream,
    "a connection": a_connection,
    "a unix connection": a_unix_connection,
}

extern "C" {
    fn raise(number: i32) -> i32;
    fn kill(pid: i32, number: i32) -> i32;
    fn pipe2(ends: *mut i32, flags: i32) -> i32;
}

const SIGKILL: i32 = 9;
const SIGUSR1: i32 = 10;
const SIGTERM: i32 = 15;
const O_CLOEXEC: i32 = 0o2000000;

fn a_signal() -> Outcome {
    block_on(async {
        let mut signals = Signals::new(SIGUSR1)?;
        // SAFETY: a signal that is caught.
        own(|| unsafe { raise(SIGUSR1) });
        let arrival = signals.next().await?;
        expect(arrival.number == SIGUSR1 && arrival.count == 1)
    })
}

/// The end, or the error of which it says that there was one.
async fn end_of(child: &Child) -> Outcome<End> {
    match child.end().await.end {
        End::Unknown => Err(Failure::Told(ECHILD)),
        end => Ok(end),
    }
}

fn a_child() -> Outcome {
    block_on(async {
        let mut child =
            Command::new("/bin/cat").descriptor(0, Stdio::ToChild).descriptor(1, Stdio::FromChild).start()?;
        let (mut input, mut output) =
            (child.writer(0).ok_or(Failure::Lost)?, child.reader(1).ok_or(Failure::Lost)?);
        input.write_all(b"hello\n").await?;
        input.close().await?;
        expect(output.to_end(100).await? == b"hello\n")?;
        expect(end_of(&child).await? == End::Exited(0))
    })
}

fn a_child_that_is_ended() -> Outcome {
    block_on(async {
        let child = Command::new("/bin/sleep").arg("60").start()?;
        let ended = child.end_by(&[(SIGTERM, Duration::from_secs(60)), (SIGKILL, Duration::ZERO)], false);
        if ended.is_err() {
            // SAFETY: a child that has not been waited for.
            own(|| unsafe { kill(child.pid(), SIGKILL) });
        }
        let end = end_of(&child).await;
        ended?;
        expect(end? == End::Signalled { number: SIGTERM, dumped_core: false })
    })
}

/// A folder, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let path = std::env::temp_dir().join(format!("runloop-faults-{}", std::process::id()));
        own(|| fs::create_dir(&path).expect("a new folder"));
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        own(|| fs::remove_dir_all(&self.0).expect("a folder that can be removed"));
    }
}

fn watched_changes() -> Outcome {
    let folder = Folder::new();
    own(|| fs::create_dir(folder.0.join("inner")).expect("a new folder"));
    block_on(async {
        let mut changes = Changes::new(&folder.0, ChangesConfig::new(Scope::Tree))?;
        own(|| File::create(folder.0.join("inner/news")).expect("a new file"));
        for change in changes.next().await? {
            if let ChangeKind::Failed(number) = change.kind {
                return Err(Failure::Told(number));
            }
        }
        Ok(())
    })
}

fn make_pipe() -> (OwnedFd, OwnedFd) {
    let mut ends = [-1; 2];
    // SAFETY: the kernel opens both for us.
    unsafe {
        assert_eq!(own(|| pipe2(ends.as_mut_ptr(), O_CLOEXEC)), 0);
        (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
    }
}

fn lines_of_a_pipe() -> Outcome {
    let (from, to) = make_pipe();
    block_on(async {
        let mut reader = Reader::new(from, ReaderConfig::default())?;
        let mut writer = Writer::new(to, WriterConfig::default())?;
        writer.write_all(b"one\ntwo\n").await?;
        expect(reader.line().await?.as_deref() == Some("one"))?;
        writer.close().await?;
        expect(reader.line().await?.as_deref() == Some("two"))?;
        expect(reader.line().await?.is_none())
    })
}

fn a_stream() -> Outcome {
    let (ours, mut theirs) = own(|| UnixStream::pair().expect("a pair of sockets"));
    block_on(async {
        let idle = Duration::from_secs(60);
        let reads = ReaderConfig { idle, ..ReaderConfig::default() };
        let mut stream = Stream::with_limits(ours, reads, WriterConfig { idle, ..WriterConfig::default() })?;
        stream.writer.write_all(b"hello").await?;
        stream.writer.flush().await?;
        let mut bytes = [0; 8];
        expect(own(|| theirs.read(&mut bytes).expect("a socket that has bytes")) == 5)?;
        own(|| theirs.write_all(b"answer").expect("a socket that takes bytes"));
        expect(stream.reader.exactly(6).await? == b"answer")
    })
}

/// A byte from a connection to what the listener accepts.
async fn exchange(
    mut listener: Listener,
    connecting: impl Future<Output = std::result::Result<OwnedFd, ConnectError>>,
) -> Outcome {
    let serving = async {
        let mut stream = Stream::new(listener.accept().await?)?;
        expect(stream.reader.exactly(1).await? == b"a")
    };
    let asking = async {
        let mut stream = Stream::new(connecting.await?)?;
        stream.writer.write_all(b"a").await?;
        Ok(stream.writer.close().await?)
    };
    both(serving, asking).await
}

fn a_connection() -> Outcome {
    block_on(async {
        let listener = Listener::tcp("127.0.0.1", 0)?;
        let port = local_port(&listener)?;
        let connecting = Connect::tcp("127.0.0.1", port).within(Duration::from_secs(2)).connect();
        exchange(listener, connecting).await
    })
}

fn a_unix_connection() -> Outcome {
    let folder = Folder::new();
    block_on(async {
        let path = folder.0.join("socket");
        let listener = Listener::unix(&path, 0o600)?;
        exchange(listener, Connect::unix(&path).connect()).await
    })
}
