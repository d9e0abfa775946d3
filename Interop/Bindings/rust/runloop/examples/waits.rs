//! Waits for a socket so many times, for what another thread sends after each wait has begun: for a count of the system calls.
use runloop::{AsyncFd, RunLoop};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

fn main() -> std::io::Result<()> {
    let count: usize = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(100);
    let run_loop = RunLoop::current()?;
    let handle = run_loop.handle();
    let (ours, mut theirs) = UnixStream::pair()?;
    let socket = AsyncFd::new(ours)?;
    let peer = std::thread::spawn(move || {
        for _ in 0..count {
            while !handle.is_waiting() {
                std::thread::yield_now();
            }
            theirs.write_all(b"x").unwrap();
            theirs.read_exact(&mut [0]).unwrap();
        }
    });
    run_loop.block_on(async {
        for _ in 0..count {
            socket.readable().await?;
            socket.get_ref().read_exact(&mut [0])?;
            socket.get_ref().write_all(b"y")?;
        }
        std::io::Result::Ok(())
    })??;
    peer.join().unwrap();
    println!("{count} waits");
    Ok(())
}
