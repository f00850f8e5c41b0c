//! A program at a terminal: somebody sees what it writes, and types.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use crate::within;

/// A started program with a terminal of its own, killed when dropped.
pub struct Terminal {
    what: String,
    child: Child,
    keyboard: File,
    pieces: mpsc::UnboundedReceiver<Vec<u8>>,
    seen: String,
    screen: vt100::Parser,
}

const ROWS: u16 = 24;
const COLUMNS: u16 = 60;

impl Terminal {
    /// Starts `command` with standard input, output and error at a terminal.
    pub fn start(what: &str, mut command: Command) -> Self {
        let size = Winsize {
            ws_row: ROWS,
            ws_col: COLUMNS,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(Some(&size), None).expect("open a terminal");
        let side = |side: &OwnedFd| side.try_clone().expect("another descriptor of it");
        let child = command
            .stdin(side(&pair.slave))
            .stdout(side(&pair.slave))
            .stderr(pair.slave)
            .spawn()
            .expect("start a program");
        // The terminal ends with the last descriptor of its other side.
        drop(command);
        let screen = File::from(side(&pair.master));
        Self {
            what: what.to_owned(),
            child,
            keyboard: File::from(pair.master),
            pieces: watch(screen),
            seen: String::new(),
            screen: vt100::Parser::new(ROWS, COLUMNS, 0),
        }
    }

    /// Waits until the screen is as `is_right` wants it; its lines, without blanks
    /// at their ends.
    pub async fn screen(&mut self, is_right: impl Fn(&[String]) -> bool) -> Vec<String> {
        let what = format!("the screen of {}", self.what);
        within(&what, async {
            loop {
                let (_, columns) = self.screen.screen().size();
                let lines: Vec<String> = self.screen.screen().rows(0, columns).collect();
                if is_right(&lines) {
                    return lines;
                }
                let piece = self.pieces.recv().await;
                let piece = piece.unwrap_or_else(|| panic!("the end, with {lines:#?}"));
                self.screen.process(&piece);
                self.seen.push_str(&String::from_utf8_lossy(&piece));
            }
        })
        .await
    }

    /// What a terminal's Ctrl-C sends while a program does not read keys itself.
    pub fn interrupt(&self) {
        let pid = self.child.id().expect("it runs");
        kill(Pid::from_raw(pid.cast_signed()), Signal::SIGINT).expect("interrupt");
    }

    /// Makes the terminal so wide; the program is told as the kernel tells it.
    pub fn resize(&mut self, columns: u16) {
        let size = rustix::termios::Winsize {
            ws_row: ROWS,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        rustix::termios::tcsetwinsize(&self.keyboard, size).expect("another size");
        // The terminal controls nobody's session, so the kernel sends no signal.
        let pid = self.child.id().expect("it runs");
        kill(Pid::from_raw(pid.cast_signed()), Signal::SIGWINCH).expect("tell the program");
        self.screen.screen_mut().set_size(ROWS, columns);
    }

    /// Pastes `text` as a terminal does that was asked to mark what is pasted.
    pub fn paste(&mut self, text: &str) {
        self.type_keys(&format!("\u{1b}[200~{text}\u{1b}[201~"));
    }

    /// Types `keys` as they are.
    pub fn type_keys(&mut self, keys: &str) {
        write!(self.keyboard, "{keys}").expect("type");
    }

    /// Waits until `text` is to be seen after what was seen before.
    pub async fn see(&mut self, text: &str) -> String {
        let what = format!("{text:?} from {}", self.what);
        within(&what, async {
            loop {
                if let Some(start) = self.seen.find(text) {
                    let rest = self.seen.split_off(start + text.len());
                    return std::mem::replace(&mut self.seen, rest);
                }
                let piece = self.pieces.recv().await;
                let piece = piece.unwrap_or_else(|| panic!("the end, not {what}: {}", self.seen));
                self.screen.process(&piece);
                self.seen.push_str(&String::from_utf8_lossy(&piece));
            }
        })
        .await
    }

    /// Types a line.
    pub fn type_line(&mut self, line: &str) {
        writeln!(self.keyboard, "{line}").expect("type");
    }

    /// Waits for the program's end: its exit code, and what was to be seen.
    pub async fn end(mut self) -> (Option<i32>, String) {
        let what = format!("the end of {}", self.what);
        within(&what, async {
            while let Some(piece) = self.pieces.recv().await {
                self.seen.push_str(&String::from_utf8_lossy(&piece));
            }
            let status = self.child.wait().await.expect("wait for a program");
            (status.code(), self.seen)
        })
        .await
    }
}

/// What comes to be seen. Reading from a terminal that nobody has any more is
/// an error (EIO), which is its end.
fn watch(mut screen: File) -> mpsc::UnboundedReceiver<Vec<u8>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = screen.read(&mut buffer) {
            if sender.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}
