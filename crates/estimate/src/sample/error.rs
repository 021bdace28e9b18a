//! Why a sample's design was refused.

/// A weight, stratum, cluster, population or margin that cannot be used; rows are counted from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// No rows at all.
    #[error("there are no rows: an estimate needs at least one")]
    NoRows,
    /// A list that is not as long as there are rows.
    #[error("there are {found} {what} for {expected} rows: give one per row")]
    Size {
        /// Which list.
        what: &'static str,
        /// How many rows there are.
        expected: usize,
        /// How many entries it has.
        found: usize,
    },
    /// A weight of nought or below, or none.
    #[error(
        "row {row} has weight {value}: weights must be above nought; leave out rows that stand for nobody"
    )]
    Weight {
        /// Which row, from 0.
        row: usize,
        /// Its weight.
        value: f64,
    },
    /// A stratum whose variance cannot be known.
    #[error(
        "stratum {stratum:?} has one {unit}: its variance cannot be estimated from one; merge it with the stratum most like it"
    )]
    LoneUnit {
        /// The stratum's name.
        stratum: String,
        /// What units are.
        unit: &'static str,
    },
    /// Clusters without strata of which there is one.
    #[error(
        "all rows are in one cluster: the variance cannot be estimated from one; leave out the clusters, or name the column that has them"
    )]
    OneCluster,
    /// A population smaller than its sample.
    #[error(
        "a population of {people} has fewer people than the sample's {rows} rows: give the size of the whole population"
    )]
    Population {
        /// The population's size.
        people: u64,
        /// The sample's.
        rows: usize,
    },
    /// A margin that cannot be met.
    #[error("margin {margin:?}: {problem}")]
    Margin {
        /// Its name.
        margin: String,
        /// What is wrong, and what to do.
        problem: String,
    },
}
