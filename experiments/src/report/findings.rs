//! The ten findings that matter most to somebody who wants to use the papers. Each is a claim of the report; the
//! words here carry no numbers, the run has them.

/// A finding: a claim, and the verdict without which it would not be one.
pub struct Finding {
    /// The claim, as in the record.
    pub id: &'static str,
    /// The verdict that makes it a finding.
    pub verdict: &'static str,
    /// What follows, in plain words.
    pub says: &'static str,
}

const fn finding(id: &'static str, verdict: &'static str, says: &'static str) -> Finding {
    Finding { id, verdict, says }
}

/// All of them.
pub const FINDINGS: [Finding; 10] = [
    finding(
        "jlt18-fig-7/theorem-2-gives-everybody-an-epsilon-lip-mechanism",
        "false",
        "The \"optimal\" randomised response of two papers leaks more than it promises wherever one answer is rare; the right optimum is another one.",
    ),
    finding(
        "ours-optimum/and-never-better-than-the-best-ldp-channel-at-2epsilon",
        "reproduced",
        "A promise of LIP never buys more than one of LDP at twice the level: comparing both at the same level flatters LIP.",
    ),
    finding(
        "ours-repetition/n-releases-of-epsilon-lip-are-nepsilon-lip",
        "false",
        "Levels of LIP do not add up over releases; what does add up is the LDP that the mechanisms attain.",
    ),
    finding(
        "jlt18-fig-6/p1-01-epsilon-2-opt-lip-has-better-utility-and-stronger",
        "false",
        "LIP at half the level cannot beat LDP: the curves that do are those of the formula that leaks too much.",
    ),
    finding(
        "jstl21-fig-9/corollary-10-used-as-a-mechanism-is-epsilon-10-lip",
        "false",
        "Gaussian noise chosen per value leaks far more than it claims; a floor under the noise mends it and leaves little of the gain.",
    ),
    finding(
        "jstl21-fig-10/26-b-x-x-p-x-epsilon-is-epsilon-lip",
        "ill-defined",
        "The scale of Laplace noise per value rests on a constant that is never defined, and its natural readings fail.",
    ),
    finding(
        "st20-fig-8/18b-with-a-large-gives-information-privacy",
        "false",
        "An adversary trained on samples certifies nothing: the constraint is met on the samples and missed by the law.",
    ),
    finding(
        "st20-table-2/one-hot-bits-as-sensors-give-every-feature-epsilon-ld",
        "false",
        "Treating the bits of a one-hot vector as separate sensors gives a feature twice the LDP level that is reported.",
    ),
    finding(
        "zds22-fig-2/after-merging-there-is-a-chance-that-the-budget-is-not",
        "reproduced",
        "The watchdog may miss its own budget, as its authors say; it is not rare, and a repair costs little.",
    ),
    finding(
        "zds22-fig-2/a-low-utility-at-epsilon-u-6-is-due-to-a-very-strict",
        "false",
        "Where the watchdog tells nothing, the cause is that it merges everything: several groups within the same budgets tell far more.",
    ),
];
