//! What the feature `linux` has: signals, children, changes of files, streams, listeners and connections.
#![cfg(feature = "linux")]

mod common;
use common::{in_process, on_thread};
use runloop::linux::*;
use runloop::{sleep, Mode, RunLoop};
use std::cell::RefCell;
use std::fs::File;
use std::future::Future;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

const EMSGSIZE: i32 = 90;
const ETIMEDOUT: i32 = 110;
const SIGUSR1: i32 = 10;
const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;
const LONG: Duration = Duration::from_secs(60);

/// Awaits a future that can fail on a thread of its own.
fn block_on<T: Send>(body: impl FnOnce(RunLoop) -> Pin<Box<dyn Future<Output = io::Result<T>>>> + Send) -> T {
    on_thread(|run_loop| {
        let future = body(run_loop.clone());
        run_loop.block_on(future).unwrap().unwrap()
    })
}

/// Polls a future once, and drops it.
async fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    struct Once<F>(Pin<Box<F>>);
    impl<F: Future> Future for Once<F> {
        type Output = Option<F::Output>;
        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
            match self.0.as_mut().poll(context) {
                Poll::Ready(value) => Poll::Ready(Some(value)),
                Poll::Pending => Poll::Ready(None),
            }
        }
    }
    Once(Box::pin(future)).await
}

fn raise(number: i32) {
    extern "C" {
        fn raise(number: i32) -> i32;
    }
    // SAFETY: a signal that is caught.
    assert_eq!(unsafe { raise(number) }, 0);
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("runloop-rust-{}-{name}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn signals_are_kept_while_nobody_waits_and_keep_no_mode_from_being_empty() {
    block_on(|run_loop| {
        Box::pin(async move {
            let mut signals = Signals::new(SIGUSR1)?;
            assert!(signals.is_caught());
            raise(SIGUSR1);
            let arrival = signals.next().await?;
            assert_eq!((arrival.number, arrival.pid), (SIGUSR1, std::process::id() as i32));
            let in_common = Mode::new("in common")?;
            run_loop.add_common_mode(in_common)?;
            assert!(poll_once(signals.next()).await.is_none());
            assert!(run_loop.is_empty(in_common));
            raise(SIGUSR1);
            assert_eq!(signals.next().await?.count, 1);
            assert_eq!(Signals::new(SIGKILL).map(drop).unwrap_err().raw_os_error(), Some(22));
            Ok(())
        })
    });
}

#[test]
fn a_child_has_what_its_command_says_and_its_end_is_awaited_before_and_after_it() {
    block_on(|_| {
        Box::pin(async {
            let mut child = Command::new("sh")
                .args(["-c", "cat; echo $WORD; pwd >&2; exit 3"])
                .environment([("WORD", "hello"), ("PATH", "/usr/bin:/bin")])
                .current_dir("/")
                .descriptor(0, Stdio::ToChild)
                .descriptor(1, Stdio::FromChild)
                .descriptor(2, Stdio::Same(1))
                .start()?;
            let (mut input, mut output) = (child.writer(0).unwrap(), child.reader(1).unwrap());
            assert!(child.writer(0).is_none() && child.reader(2).is_none());
            input.write_all(b"line\n").await?;
            input.close().await?;
            assert!(input.write_all(b"more").await.is_err());
            assert_eq!(output.line().await?.as_deref(), Some("line"));
            assert_eq!(output.to_end(1000).await?, b"hello\n/\n");
            assert_eq!(child.end().await.end, End::Exited(3));
            assert!(!child.end().await.is_success());
            assert_eq!(child.exit(), Some(child.end().await));
            Ok(())
        })
    });
}

#[test]
fn a_program_is_run_to_its_end_by_a_loop_and_by_a_thread() {
    let shell = |script: &str| Command::new("sh").args(["-c", script]);
    let config = RunConfig { input: Some(b"b\na\n".to_vec()), ..RunConfig::default() };
    let script = "sort; echo error >&2; exit 3";
    let blocking = shell(script).run_blocking(config.clone()).unwrap();
    assert_eq!(blocking.output.bytes, b"a\nb\n");
    assert_eq!(
        (blocking.error.bytes.as_slice(), blocking.error.end),
        (b"error\n".as_slice(), OutputEnd::Complete)
    );
    assert_eq!((blocking.exit.end, blocking.input_left, blocking.timed_out), (End::Exited(3), 0, false));
    block_on(|_| {
        Box::pin(async move {
            let outcome = shell(script).run(config).await?;
            assert_eq!((outcome.output, outcome.error), (blocking.output, blocking.error));
            let much = "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero";
            let limit = RunConfig { limit: 10, ..RunConfig::default() };
            let outcome = shell(much).run(limit.clone()).await?;
            assert_eq!((outcome.output.dropped, outcome.output.end), (299_990, OutputEnd::OverLimit));
            assert_eq!((outcome.error.dropped, outcome.exit.is_success()), (299_990, true));
            let closed = Command::new("yes").run(RunConfig { excess: Excess::Close, ..limit }).await?;
            assert_eq!(closed.exit.end, End::Signalled { number: 13, dumped_core: false });
            let cut = RunConfig { output_limit: Duration::from_millis(10), ..RunConfig::default() };
            let outcome = shell("sleep 1000 & echo $!").run(cut).await?;
            assert_eq!(outcome.output.end, OutputEnd::CutOff);
            let pid = String::from_utf8(outcome.output.bytes).unwrap();
            shell(&format!("kill -9 {pid}")).run(RunConfig::default()).await?;
            let late = RunConfig { timeout: Some(Duration::from_millis(20)), ..RunConfig::default() };
            let outcome = Command::new("sleep").arg("1000").run(late).await?;
            assert_eq!((outcome.timed_out, outcome.exit.is_success()), (true, false));
            let error = Command::new("true").descriptor(5, Stdio::FromChild).run(RunConfig::default()).await;
            assert_eq!(error.unwrap_err().raw_os_error(), Some(22));
            let error = Command::new("/no/program").run(RunConfig::default()).await.unwrap_err();
            assert!(error.to_string().contains("/no/program"));
            // Dropped, it is ended: its pipe has an end when the shell and its child are gone.
            let (reader, writer) = UnixStream::pair()?;
            let dropped =
                shell("sleep 1000 & wait").group(Group::New).descriptor(5, Stdio::From(writer.into()));
            assert!(poll_once(dropped.run(RunConfig::default())).await.is_none());
            assert_eq!(Reader::new(reader, ReaderConfig::default())?.to_end(1).await?, b"");
            Ok(())
        })
    });
}

#[test]
#[ignore = "In a process of its own: it writes to standard error."]
fn waits_for_a_child_that_nobody_reads() {
    block_on(|_| {
        Box::pin(async move {
            let mut child = Command::new("head")
                .args(["-c", "300000", "/dev/zero"])
                .descriptor(1, Stdio::FromChild)
                .start()?;
            // A reader that has not read yet doesn't count.
            let mut output = child.reader(1).unwrap();
            let mut end = Box::pin(child.end());
            let until = std::time::Instant::now() + Duration::from_secs(4);
            while std::time::Instant::now() < until {
                assert!(poll_once(&mut end).await.is_none());
                sleep(Duration::from_millis(100)).await.unwrap();
            }
            drop(end);
            assert_eq!(output.to_end(1 << 20).await?.len(), 300_000);
            assert!(child.end().await.is_success());
            Ok(())
        })
    });
}

#[test]
fn a_child_whose_pipe_is_full_and_that_nobody_reads_is_named_while_its_end_is_awaited() {
    let output = in_process("waits_for_a_child_that_nobody_reads");
    assert!(output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("descriptor 1 is a pipe that is full, with 65536 bytes"), "{errors}");
}

#[test]
fn a_child_has_a_terminal_whose_end_is_no_error() {
    block_on(|_| {
        Box::pin(async {
            let mut child = Command::new("sh")
                .args(["-c", "stty size; read word; printf $word"])
                .descriptor(0, Stdio::Terminal { rows: 33, columns: 77 })
                .descriptor(1, Stdio::Same(0))
                .start()?;
            let (mut input, mut output) = (child.writer(0).unwrap(), child.reader(0).unwrap());
            assert_eq!(output.line().await?.as_deref(), Some("33 77"));
            child.set_terminal_size(50, 132)?;
            input.write_all(b"last\n").await?;
            assert_eq!(output.line().await?.as_deref(), Some("last"));
            assert_eq!(output.line().await?.as_deref(), Some("last"));
            assert_eq!(output.line().await?, None);
            assert!(child.end().await.is_success());
            drop((input, output));
            assert_eq!(child.set_terminal_size(1, 1).unwrap_err().raw_os_error(), Some(25));
            Ok(())
        })
    });
}

#[test]
fn a_child_that_cannot_be_started_is_an_error_with_its_path() {
    on_thread(|_| {
        let error =
            Command::new("/no/such/program").descriptor(1, Stdio::FromChild).start().map(drop).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(2));
        assert!(error.to_string().contains("(/no/such/program)"), "{error}");
        let error = Command::new("with\0zero").start().map(drop).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    });
}

#[test]
fn a_child_whose_pipes_cannot_be_served_is_not_left() {
    on_thread(|_| {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let error = Command::new("sh")
            .args(["-c", "exec cat <&4"]) // Until the other pipe is closed.
            .descriptor(1, Stdio::FromChild)
            .descriptor(3, Stdio::From(theirs.into()))
            .descriptor(4, Stdio::ToChild)
            .limits_of_pipes(ReaderConfig { limit: 0, ..ReaderConfig::default() }, WriterConfig::default())
            .start()
            .map(drop)
            .unwrap_err();
        assert_eq!(error.raw_os_error(), Some(22));
        ours.set_read_timeout(Some(LONG)).unwrap();
        assert_eq!(ours.read(&mut [0]).unwrap(), 0); // Nobody has the other end.
    });
}

#[test]
fn a_child_is_signalled_and_ended_politely_and_reaped_if_it_is_let_go_of() {
    block_on(|_| {
        Box::pin(async {
            let signalled = Command::new("sleep").arg("60").start()?;
            signalled.send_signal(SIGTERM)?;
            assert_eq!(signalled.end().await.end, End::Signalled { number: SIGTERM, dumped_core: false });
            let script = "trap '' TERM; echo; while :; do sleep 1; done";
            let mut stubborn = Command::new("sh")
                .args(["-c", script])
                .descriptor(1, Stdio::FromChild)
                .group(Group::New)
                .start()?;
            stubborn.reader(1).unwrap().line().await?;
            stubborn.end_by(&[(SIGTERM, Duration::from_millis(20)), (SIGKILL, Duration::ZERO)], true)?;
            assert_eq!(stubborn.end().await.end, End::Signalled { number: SIGKILL, dumped_core: false });
            assert_eq!(stubborn.send_signal(SIGTERM).unwrap_err().raw_os_error(), Some(3));
            let forgotten = Command::new("true").start()?;
            let entry = format!("/proc/{}", forgotten.pid());
            drop(forgotten);
            let begin = std::time::Instant::now();
            while std::path::Path::new(&entry).exists() {
                assert!(begin.elapsed() < LONG);
                sleep(Duration::from_millis(1)).await.unwrap();
            }
            Ok(())
        })
    });
}

#[test]
fn changes_are_kept_while_nobody_waits() {
    let folder = Folder::new("changes");
    let path = folder.0.clone();
    block_on(|_| {
        Box::pin(async move {
            let mut changes = Changes::new(&path, ChangesConfig::new(Scope::Directory))?;
            File::create(path.join("first"))?;
            let change = changes.next().await?.remove(0);
            assert_eq!((change.kind, change.path), (ChangeKind::Created, path.join("first")));
            std::fs::rename(path.join("first"), path.join("second"))?;
            loop {
                let found = changes.next().await?;
                if let Some(moved) = found.iter().find(|change| change.kind == ChangeKind::Moved) {
                    assert_eq!(moved.from.as_deref(), Some(path.join("first").as_path()));
                    break;
                }
            }
            assert!(Changes::new("", ChangesConfig::new(Scope::File)).is_err());
            Ok(())
        })
    });
}

/// Answers each line of a connection in upper case.
async fn answer(mut listener: Listener) -> io::Result<()> {
    let mut stream = Stream::new(listener.accept().await?)?;
    while let Some(line) = stream.reader.line().await? {
        stream.writer.write_all((line.to_uppercase() + "\n").as_bytes()).await?;
    }
    stream.writer.close().await
}

#[test]
fn connections_are_accepted_and_made_and_lines_go_there_and_back() {
    block_on(|run_loop| {
        Box::pin(async move {
            let listener = Listener::tcp("127.0.0.1", 0)?;
            let port = local_port(&listener)?;
            run_loop.spawn(async { answer(listener).await.unwrap() })?;
            let socket = Connect::tcp("localhost", port).within(LONG).connect().await?;
            assert_eq!(peer_address(&socket)?, format!("127.0.0.1:{port}"));
            assert!(peer(&socket).is_err());
            let (here, _there) = std::os::unix::net::UnixStream::pair().unwrap();
            assert_eq!(peer(&here)?.pid, Some(std::process::id()));
            let mut stream = Stream::new(socket)?;
            stream.writer.write_all(b"one\r\ntwo\nlast").await?;
            stream.writer.close().await?;
            assert_eq!(stream.reader.line().await?.as_deref(), Some("ONE"));
            let mut two = [0; 2];
            assert_eq!(stream.reader.read(&mut two).await?, 2);
            assert_eq!(&two, b"TW");
            assert_eq!(stream.reader.exactly(2).await?, b"O\n");
            assert_eq!(stream.reader.line().await?.as_deref(), Some("LAST"));
            assert_eq!(stream.reader.line().await?, None);
            assert_eq!(stream.reader.read(&mut two).await?, 0);
            let error = Connect::unix("/no/such/path").connect().await.unwrap_err();
            assert_eq!((error.raw_os_error(), error.failures().len()), (Some(2), 1));
            assert_eq!(error.failures()[0].0, "/no/such/path");
            assert_eq!(Connect::tcp("host", 0).connect().await.unwrap_err().raw_os_error(), Some(22));
            Ok(())
        })
    });
}

#[test]
fn a_reader_that_waits_too_long_is_told_so_and_one_that_does_not_wait_is_not() {
    block_on(|_| {
        Box::pin(async {
            let (ours, mut theirs) = UnixStream::pair()?;
            let config =
                ReaderConfig { limit: 16, idle: Duration::from_millis(20), ..ReaderConfig::default() };
            let mut reader = Reader::new(ours, config)?;
            assert!(poll_once(reader.line()).await.is_none());
            sleep(Duration::from_millis(50)).await.unwrap();
            theirs.write_all(b"kept\n")?;
            assert_eq!(reader.line().await?.as_deref(), Some("kept"));
            assert_eq!(reader.line().await.unwrap_err().raw_os_error(), Some(ETIMEDOUT));
            let (ours, mut theirs) = UnixStream::pair()?;
            let mut exchange = Reader::new(ours, ReaderConfig::default())?;
            let deadline = std::time::Instant::now() + Duration::from_millis(20);
            exchange.set_deadline(Some(deadline))?;
            theirs.write_all(b"begun")?;
            assert_eq!(exchange.line().await.unwrap_err().raw_os_error(), Some(ETIMEDOUT));
            assert!(std::time::Instant::now() >= deadline);
            let (ours, mut theirs) = UnixStream::pair()?;
            let mut reader = Reader::new(ours, ReaderConfig { limit: 16, ..ReaderConfig::default() })?;
            theirs.write_all(b"more than sixteen bytes")?;
            assert_eq!(reader.line().await.unwrap_err().raw_os_error(), Some(EMSGSIZE));
            Ok(())
        })
    });
}

#[test]
fn a_read_that_is_polled_and_left_gives_what_it_took_to_the_next_one() {
    block_on(|run_loop| {
        Box::pin(async move {
            let (ours, mut theirs) = UnixStream::pair()?;
            let mut reader = Reader::new(ours, ReaderConfig::default())?;
            theirs.write_all(b"spli")?;
            let mut end = theirs.try_clone()?;
            run_loop.spawn(async move {
                sleep(Duration::from_millis(5)).await.unwrap();
                end.write_all(b"t\n").unwrap();
            })?;
            assert_eq!(reader.line().await?.as_deref(), Some("split"));
            let mut buffer = [0; 100];
            struct Started<'a>(&'a mut Reader, &'a mut [u8]);
            impl Future for Started<'_> {
                type Output = Poll<io::Result<usize>>;
                fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                    let this = &mut *self;
                    Poll::Ready(Pin::new(&mut *this.0).poll_read(context, this.1))
                }
            }
            assert!(Started(&mut reader, &mut buffer).await.is_pending());
            theirs.write_all(b"begin")?;
            sleep(Duration::from_millis(5)).await.unwrap();
            theirs.write_all(b"ning\nrest")?;
            assert_eq!(reader.line().await?.as_deref(), Some("beginning"));
            let mut everything = Box::pin(reader.to_end(100));
            assert!(poll_once(&mut everything).await.is_none());
            theirs.write_all(b" and")?;
            sleep(Duration::from_millis(5)).await.unwrap();
            assert!(poll_once(&mut everything).await.is_none());
            drop(everything);
            theirs.write_all(b" more")?;
            drop(theirs);
            assert_eq!(reader.to_end(12).await.unwrap_err().raw_os_error(), Some(EMSGSIZE));
            assert_eq!(reader.to_end(13).await?, b"rest and more");
            Ok(())
        })
    });
}

#[test]
fn a_read_of_nothing_is_ready_at_once_and_takes_nothing() {
    block_on(|_| {
        Box::pin(async {
            let (ours, mut theirs) = UnixStream::pair()?;
            let mut reader = Reader::new(ours, ReaderConfig { limit: 4, ..ReaderConfig::default() })?;
            assert_eq!(poll_once(reader.read(&mut [])).await.transpose()?, Some(0));
            assert_eq!(poll_once(reader.exactly(0)).await.transpose()?, Some(Vec::new()));
            theirs.write_all(b"longer")?;
            assert_eq!(reader.line().await.unwrap_err().raw_os_error(), Some(EMSGSIZE));
            assert_eq!(reader.read(&mut []).await?, 0);
            assert_eq!(reader.exactly(4).await?, b"long");
            assert_eq!(reader.read(&mut []).await?, 0);
            assert_eq!(reader.read(&mut [0]).await.unwrap_err().raw_os_error(), Some(EMSGSIZE));
            Ok(())
        })
    });
}

#[test]
fn a_writer_waits_for_a_slow_peer_and_hears_of_one_that_is_gone() {
    block_on(|run_loop| {
        Box::pin(async move {
            let (ours, mut theirs) = UnixStream::pair()?;
            let mut writer = Writer::new(ours, WriterConfig { limit: 1000, ..WriterConfig::default() })?;
            let order = Rc::new(RefCell::new(Vec::new()));
            let noted = order.clone();
            // The peer reads nothing before the writer has to wait for it.
            let (waits, has_to_read) = std::sync::mpsc::channel();
            let reading = std::thread::spawn(move || {
                has_to_read.recv().unwrap();
                let mut all = vec![0; 2 << 20];
                theirs.read_exact(&mut all).map(|()| theirs)
            });
            run_loop.spawn(async move {
                sleep(Duration::ZERO).await.unwrap();
                noted.borrow_mut().push("beside");
                waits.send(()).unwrap();
            })?;
            writer.write_all(&vec![b'x'; 2 << 20]).await?;
            writer.flush().await?;
            order.borrow_mut().push("written");
            assert_eq!((writer.waiting(), order.borrow().join(" ")), (0, "beside written".to_owned()));
            drop(reading.join().unwrap()?);
            assert_eq!(writer.write_all(b"more").await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
            Ok(())
        })
    });
}

#[test]
fn what_a_dropped_task_waits_for_is_closed() {
    block_on(|_| {
        Box::pin(async {
            let folder = Folder::new("dropped");
            let path = folder.0.join("socket");
            let mut listener = Listener::unix(&path, 0o600)?;
            assert!(poll_once(listener.accept()).await.is_none());
            let first = Connect::unix(&path).connect().await?;
            drop(listener);
            assert!(!path.exists());
            let mut stream = Stream::new(first)?;
            assert!(stream.reader.line().await.map_or(true, |line| line.is_none()));
            assert!(poll_once(Connect::tcp("127.0.0.1", 1).connect()).await.is_none());
            Ok(())
        })
    });
}
