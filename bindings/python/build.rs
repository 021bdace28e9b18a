//! Build metadata: what compiled this, for which machine, from which commit.

use std::process::Command;

fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output().ok().filter(|o| o.status.success());
    output.map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
}

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let rustc = said(&variable("RUSTC"), &["--version"]);
    println!("cargo::rustc-env=UNDERTONE_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=UNDERTONE_PROFILE={}", variable("PROFILE"));
    println!("cargo::rustc-env=UNDERTONE_RUSTC={rustc}");
    // Set by `bindings/python/build`; asking git here would rebuild at every commit.
    println!("cargo::rustc-env=UNDERTONE_COMMIT={}", variable("UNDERTONE_COMMIT"));
    println!("cargo::rerun-if-env-changed=UNDERTONE_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
}
