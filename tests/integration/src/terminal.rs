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
    pieces: mpsc::UnboundedReceiver<String>,
    seen: String,
    screen: avt::Terminal,
    /// As the terminal was before the program.
    modes: rustix::termios::Termios,
}

const ROWS: u16 = 24;
const COLUMNS: u16 = 60;
/// Lines that are kept of those that left the screen.
const SCROLLED: usize = 1000;

impl Terminal {
    /// Starts `command` with standard input, output and error at a terminal.
    pub fn start(what: &str, command: Command) -> Self {
        Self::start_within(what, command, COLUMNS)
    }

    /// The same at a terminal of so many columns.
    pub fn start_within(what: &str, mut command: Command, columns: u16) -> Self {
        let size = Winsize {
            ws_row: ROWS,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(Some(&size), None).expect("open a terminal");
        let modes = rustix::termios::tcgetattr(&pair.master).expect("the modes of a terminal");
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
            modes,
            what: what.to_owned(),
            child,
            keyboard: File::from(pair.master),
            pieces: watch(screen),
            seen: String::new(),
            screen: avt::Terminal::with_scrollback(columns.into(), ROWS.into(), Some(SCROLLED))
                .expect("a size"),
        }
    }

    /// Waits until the screen is as `is_right` wants it; its lines, without blanks
    /// at their ends.
    pub async fn screen(&mut self, is_right: impl Fn(&[String]) -> bool) -> Vec<String> {
        let rows = |screen: &avt::Terminal| {
            let rows = screen.screen().visible_lines();
            rows.map(|row| row.text().trim_end().to_owned()).collect()
        };
        self.until(rows, is_right).await
    }

    /// Waits until everything that was written, also what left the screen, is as
    /// `is_right` wants it; its lines, those that the terminal broke in one piece.
    pub async fn written(&mut self, is_right: impl Fn(&[String]) -> bool) -> Vec<String> {
        let text = |screen: &avt::Terminal| screen.screen().text();
        self.until(text, is_right).await
    }

    async fn until(
        &mut self,
        lines: impl Fn(&avt::Terminal) -> Vec<String>,
        is_right: impl Fn(&[String]) -> bool,
    ) -> Vec<String> {
        let what = format!("the screen of {}", self.what);
        within(&what, async {
            loop {
                let lines = lines(&self.screen);
                if is_right(&lines) {
                    return lines;
                }
                let piece = self.pieces.recv().await;
                let piece = piece.unwrap_or_else(|| panic!("the end, with {lines:#?}"));
                self.show(&piece);
            }
        })
        .await
    }

    fn show(&mut self, piece: &str) {
        self.screen.feed(piece);
        self.seen.push_str(piece);
    }

    /// What a terminal's Ctrl-C sends while a program does not read keys itself.
    pub fn interrupt(&self) {
        self.signal(Signal::SIGINT);
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = self.child.id().expect("it runs");
        kill(Pid::from_raw(pid.cast_signed()), signal).expect("send a signal");
    }

    /// Has it stopped and continued, as a shell does: with the modes that the shell had.
    pub fn stop_and_continue(&self) {
        self.signal(Signal::SIGSTOP);
        self.set_modes();
        self.signal(Signal::SIGCONT);
    }

    fn set_modes(&self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        tcsetattr(&self.keyboard, OptionalActions::Now, &self.modes).expect("set a terminal");
    }

    /// Whether it shows what is typed.
    pub fn echoes(&self) -> bool {
        let modes = rustix::termios::tcgetattr(&self.keyboard).expect("the modes of a terminal");
        let echo = rustix::termios::LocalModes::ECHO;
        modes.local_modes.contains(echo)
    }

    /// Waits for the program's end: its exit code, and whether it left the terminal as it was:
    /// what is typed is shown, line by line, the cursor is to be seen, pastes are not marked.
    pub async fn left(mut self) -> (Option<i32>, bool) {
        let code = self.ended().await;
        let modes = rustix::termios::tcgetattr(&self.keyboard).expect("the modes of a terminal");
        let is_as_it_was = modes.local_modes == self.modes.local_modes
            && modes.input_modes == self.modes.input_modes;
        let is_off = |on: &str, off: &str| self.seen.rfind(on) <= self.seen.rfind(off);
        let is_sane = is_off("\u{1b}[?2004h", "\u{1b}[?2004l")
            && is_off("\u{1b}[?25l", "\u{1b}[?25h")
            && is_off("\u{1b}[?1049h", "\u{1b}[?1049l")
            && is_off("\u{1b}[?2026h", "\u{1b}[?2026l");
        (code, is_as_it_was && is_sane)
    }

    /// Makes the terminal so wide, which breaks its lines anew; the program is told as
    /// the kernel tells it.
    pub fn resize(&mut self, columns: u16) {
        while let Ok(piece) = self.pieces.try_recv() {
            self.show(&piece);
        }
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
        self.screen.resize(columns.into(), ROWS.into());
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
                self.show(&piece);
            }
        })
        .await
    }

    /// Types a line.
    pub fn type_line(&mut self, line: &str) {
        writeln!(self.keyboard, "{line}").expect("type");
    }

    /// Waits for the program's end: its exit code, and everything that it wrote, the
    /// lines that the terminal broke in one piece.
    pub async fn lines(mut self) -> (Option<i32>, Vec<String>) {
        let code = self.ended().await;
        (code, self.screen.screen().text())
    }

    /// Waits for the program's end: its exit code, and what was to be seen.
    pub async fn end(mut self) -> (Option<i32>, String) {
        let code = self.ended().await;
        (code, self.seen)
    }

    async fn ended(&mut self) -> Option<i32> {
        let what = format!("the end of {}", self.what);
        within(&what, async {
            while let Some(piece) = self.pieces.recv().await {
                self.show(&piece);
            }
            let status = self.child.wait().await.expect("wait for a program");
            status.code()
        })
        .await
    }
}

/// What comes to be seen. Reading from a terminal that nobody has any more is
/// an error (EIO), which is its end.
fn watch(mut screen: File) -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        // The beginning of a character that is not whole yet.
        let mut begun = Vec::new();
        while let Ok(read @ 1..) = screen.read(&mut buffer) {
            begun.extend_from_slice(&buffer[..read]);
            let rest = match std::str::from_utf8(&begun) {
                Err(error) if error.error_len().is_none() => begun.split_off(error.valid_up_to()),
                _ => Vec::new(),
            };
            let whole = std::mem::replace(&mut begun, rest);
            let piece = String::from_utf8_lossy(&whole).into_owned();
            if sender.send(piece).is_err() {
                return;
            }
        }
    });
    receiver
}
