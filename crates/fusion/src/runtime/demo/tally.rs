//! What a demonstration has seen: shares of errors, and how sure they are.

/// Fewer draws than this say next to nothing of how they spread.
const FEW: u64 = 10;

/// What has been seen so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// Epochs so far.
    pub epochs: u64,
    /// Decisions of the centre that were wrong.
    pub wrong_public: u64,
    /// Private values so far whose epochs are over.
    pub secrets: u64,
    /// How many of them the attacker guessed wrong.
    pub wrong_private: u64,
    /// How often the centre errs: the error of its rule under the shipped maps or, where hypotheses move, the mean over
    /// [`Tally::drawn`] paths of a centre that remembers.
    pub expected_public: f64,
    /// Paths drawn to find that, and its standard error; `None` where it was computed.
    pub drawn: Option<(u32, f64)>,
    /// How often the centre would err without hearing anything.
    pub blind_public: f64,
    /// No attacker errs less often than this about G: a consequence of the certificate.
    pub least_private: f64,
    /// The error of guessing G without hearing anything.
    pub blind_private: f64,
    /// For how many epochs a private value stays the same, or a path of both hypotheses lasts.
    pub epochs_per_secret: u32,
    /// Wrong decisions in the path of hypotheses that move, and the sum and sum of squares over the paths that are over.
    pub(super) paths: (u64, u64, u128),
}

impl Tally {
    /// The share of wrong decisions about H.
    pub fn error_public(&self) -> f64 {
        self.wrong_public as f64 / self.epochs.max(1) as f64
    }

    /// The share of wrong guesses of G.
    pub fn error_private(&self) -> f64 {
        self.wrong_private as f64 / self.secrets.max(1) as f64
    }

    /// The standard error of [`Tally::error_public`]: over epochs that are drawn one by one or, where hypotheses move, over
    /// paths, because the epochs of one resemble each other. `None` for fewer than ten.
    pub fn spread_public(&self) -> Option<f64> {
        if self.drawn.is_none() {
            return spread(self.error_public(), self.epochs);
        }
        let (count, length) = (self.secrets as f64, f64::from(self.epochs_per_secret));
        let (_, sum, squares) = self.paths;
        let mean = sum as f64 / count;
        let variance = (squares as f64 / count - mean * mean).max(0.0) / (count - 1.0);
        (self.secrets >= FEW).then(|| variance.sqrt() / length)
    }

    /// The standard error of [`Tally::error_private`]; `None` for fewer than ten.
    pub fn spread_private(&self) -> Option<f64> {
        spread(self.error_private(), self.secrets)
    }

    /// One decision more, perhaps the last of a path.
    pub(super) fn decided(&mut self, wrong: bool, last: bool) {
        self.epochs += 1;
        self.wrong_public += u64::from(wrong);
        self.paths.0 += u64::from(wrong);
        if last {
            let (wrong, sum, squares) = self.paths;
            self.paths = (0, sum + wrong, squares + u128::from(wrong).pow(2));
        }
    }
}

/// The standard error of a share of so many independent draws, if they are not too few.
fn spread(share: f64, draws: u64) -> Option<f64> {
    (draws >= FEW).then(|| (share * (1.0 - share) / draws as f64).sqrt())
}
