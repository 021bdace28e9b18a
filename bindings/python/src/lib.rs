//! Undertone's native module for Python.
//!
//! Columns of data are read, randomised and counted here (`policy`, `release`, `tally`), without Python's lock. Use cases are the
//! library's: `ask`, `design` and `fusion` build its requests and give back its answers, so that Python and the command
//! line can never disagree. Only the console script runs a command line (`command`). The package's Python files make all
//! of them pleasant.

mod arrow;
mod ask;
mod cells;
mod command;
mod design;
mod draw;
mod errors;
mod fit;
mod fusion;
mod hitters;
mod kernel;
mod ledger;
mod plan;
mod plan_tally;
mod policy;
mod regress;
mod release;
mod source;
mod survey;
mod tally;

use pyo3::prelude::*;

/// Undertone's native module; use the package `undertone`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::arrow::{ArrowArray, ArrowStream};
    #[pymodule_export]
    use super::ask::{
        audit, check_prior, compliance, compose, estimate, mix, relate, risk_picture, show,
        together, transfer, verify,
    };
    #[pymodule_export]
    use super::command::main;
    #[pymodule_export]
    use super::design::{curve, design, policy_make, watchdog};
    #[pymodule_export]
    use super::fit::{check_found, count, fit_counts, fit_mixture};
    #[pymodule_export]
    use super::fusion::{fusion_columns, fusion_design, fusion_evaluate, fusion_train};
    #[pymodule_export]
    use super::hitters::{HittersPlan, HittersReports, hitters_design};
    #[pymodule_export]
    use super::kernel::{
        Report, draw, lip_consequence, odds_nats, parse_epsilon, policy_from_bytes,
    };
    #[pymodule_export]
    use super::ledger::{Ledger, report_from};
    #[pymodule_export]
    use super::plan::{plan_design, plan_size, plan_verify};
    #[pymodule_export]
    use super::plan_tally::{PlanTally, estimate_responses};
    #[pymodule_export]
    use super::policy::Policy;
    #[pymodule_export]
    use super::regress::{formula_columns, regress};
    #[pymodule_export]
    use super::release::{Release, kept_beside};
    #[pymodule_export]
    use super::survey::{correlate, crosstab, estimate_sample, grouped_estimate, perturb};
    #[pymodule_export]
    use super::tally::Tally;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::describe(module)
    }
}

/// Version and build, for people who report a problem.
fn describe(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("target", env!("UNDERTONE_TARGET"))?;
    module.add("profile", env!("UNDERTONE_PROFILE"))?;
    module.add("rustc", env!("UNDERTONE_RUSTC"))?;
    module.add("commit", env!("UNDERTONE_COMMIT"))
}
