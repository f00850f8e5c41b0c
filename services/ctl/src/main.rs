//! openclawctl(1): see the library.

fn main() -> std::process::ExitCode {
    openclawctl::main()
}
