//! Undertone's estimators: mergeable tallies of reports, and answers with intervals. No solver.
