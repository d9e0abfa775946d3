use runloop::linux::{Command, Stdio};
use runloop::RunLoop;

async fn shout() -> std::io::Result<()> {
    let mut child = Command::new("tr")
        .args(["a-z", "A-Z"])
        .descriptor(0, Stdio::ToChild)
        .descriptor(1, Stdio::FromChild)
        .start()?;
    let mut input = child.writer(0).unwrap();
    let mut output = child.reader(1).unwrap();
    input.write_all(b"hello\n").await?;
    drop(input);
    while let Some(line) = output.line().await? {
        println!("said {line}");
    }
    println!("ended: {:?}", child.end().await.end);
    Ok(())
}

fn main() -> std::io::Result<()> {
    RunLoop::current()?.block_on(shout())?
}
