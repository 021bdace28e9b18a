//! The binary `undertone`.

use std::process::ExitCode;

fn main() -> ExitCode {
    undertone_cli::main_from(std::env::args_os()).into()
}
