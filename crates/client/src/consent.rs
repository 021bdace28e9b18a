//! What a person agrees to.

use undertone_core::{Context, Nats, Policy, Ratio, Strength};

/// Three numbers, in nats; `None` sets no limit. A policy is accepted if all that apply hold, judged
/// by what it *attains* without any δ, never by what it claims:
///
/// * `ldp`: the attained LDP of the input is at most this.
/// * `lip`: the attained two-sided LIP of the input, over every prior of the policy's context, is at
///   most this. A policy without a known context is judged by LDP alone; if `ldp` sets no limit, its
///   LDP is held against this number, because LDP bounds LIP under every prior.
/// * `secret`: the attained LDP of the named secret is at most this. For a policy that does not know
///   that secret the LDP of the input takes its place, which bounds every secret behind the input.
///
/// The defaults are ln 3, 2 ln 3 and none. LIP at ε implies LDP at 2ε, so the second never refuses
/// what the first accepts under a full-support prior; it is there for policies whose prior is
/// unknown or believed by nobody.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Consent {
    /// The most belief about the input may change.
    pub lip: Option<Nats>,
    /// The most two likelihoods of one report may differ.
    pub ldp: Option<Nats>,
    /// The same for a secret behind the input.
    pub secret: Option<SecretConsent>,
}

/// The third number: which secret, and how much of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecretConsent {
    /// The secret's name, as policies write it.
    pub name: String,
    /// The most two likelihoods of one report may differ between two values of it.
    pub ldp: Nats,
}

/// ln 3, rounded up as policies print it.
const LN_3: Nats = Nats::from_units(10_986_122_887);
/// 2 ln 3, rounded up.
const TWO_LN_3: Nats = Nats::from_units(21_972_245_774);

impl Default for Consent {
    fn default() -> Self {
        Self { lip: Some(LN_3), ldp: Some(TWO_LN_3), secret: None }
    }
}

/// A policy leaks more than the person agreed to.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AboveConsent {
    /// More LDP.
    #[error("this policy attains an LDP of {}, and you agreed to {allowed} nats", shown(*attained))]
    Ldp {
        /// What it attains; `None` if nothing bounds it.
        attained: Option<Nats>,
        /// What was agreed to.
        allowed: Nats,
    },
    /// More LIP.
    #[error("this policy attains a LIP of {}, and you agreed to {allowed} nats", shown(*attained))]
    Lip {
        /// What it attains; `None` if nothing bounds it.
        attained: Option<Nats>,
        /// What was agreed to.
        allowed: Nats,
    },
    /// More about the secret.
    #[error(
        "this policy attains an LDP of {} about {name:?}, and you agreed to {allowed} nats",
        shown(*attained)
    )]
    Secret {
        /// The secret.
        name: String,
        /// What it attains; `None` if nothing bounds it.
        attained: Option<Nats>,
        /// What was agreed to.
        allowed: Nats,
    },
}

fn shown(attained: Option<Nats>) -> String {
    attained.map_or("no finite level".into(), |nats| format!("{nats} nats"))
}

impl Consent {
    /// Whether a verified policy stays within all numbers.
    pub fn check(&self, policy: &Policy) -> Result<(), AboveConsent> {
        let input = &policy.certificate().input;
        let attained = input.ldp.ratio.ln_up();
        if let Some(allowed) = self.ldp
            && exceeds(attained, allowed)
        {
            return Err(AboveConsent::Ldp { attained, allowed });
        }
        // Without a context LDP stands in for LIP, unless it was judged by itself already.
        let lip = match (input.lip(), self.ldp) {
            (Some(lip), _) => Some(lip.ln_up()),
            (None, None) => Some(attained),
            (None, Some(_)) => None,
        };
        if let (Some(attained), Some(allowed)) = (lip, self.lip)
            && exceeds(attained, allowed)
        {
            return Err(AboveConsent::Lip { attained, allowed });
        }
        if let Some(SecretConsent { name, ldp: allowed }) = &self.secret {
            let (attained, allowed) = (about_secret(policy, name).ln_up(), *allowed);
            if exceeds(attained, allowed) {
                return Err(AboveConsent::Secret { name: name.clone(), attained, allowed });
            }
        }
        Ok(())
    }
}

/// A missing bound exceeds everything.
fn exceeds(attained: Option<Nats>, allowed: Nats) -> bool {
    attained.is_none_or(|attained| attained > allowed)
}

/// The LDP of the named secret, or of the input behind which any secret stands.
fn about_secret(policy: &Policy, name: &str) -> Ratio {
    let of = |strength: &Strength| strength.ldp.ratio;
    match (policy.draft().context(), &policy.certificate().secret) {
        (Context::Secret(secret), Some(strength)) if secret.name() == name => of(strength),
        _ => of(&policy.certificate().input),
    }
}
