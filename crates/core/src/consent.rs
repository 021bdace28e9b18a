//! What a person agrees to, held against everything released about one datum.

use crate::nats::Nats;
use crate::sequence::Standing;
use alloc::string::String;
use alloc::vec::Vec;

/// Limits in nats; `None` sets no limit. They bound what everything one device ever releases about one
/// datum *attains* together, without any δ; what policies claim does not matter.
///
/// * `ldp`: any two likelihoods of the whole transcript differ by at most this.
/// * `lip`: belief about the input, under every prior of every context any of the policies declared,
///   rises or falls by at most this from where it was before the first release. Where no policy
///   declared a context and `ldp` sets no limit, LDP is held against this number, because it bounds
///   belief under every prior.
/// * `secrets`: the likelihoods of any two values of a named secret differ by at most this, under
///   every law any of the policies declared for it. A secret that no policy declared is judged by the
///   LDP of the input, which bounds every secret behind it.
///
/// The defaults are ln 3, 2 ln 3 and none. LIP at ε implies LDP at 2ε, so the second never refuses
/// what the first accepts under a full-support prior; it is there for policies whose prior is
/// unknown or believed by nobody.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Consent {
    /// The most belief about the input may change.
    pub lip: Option<Nats>,
    /// The most two likelihoods may differ.
    pub ldp: Option<Nats>,
    /// The most two likelihoods may differ between values of a secret behind the input.
    pub secrets: Vec<SecretConsent>,
}

/// How much of one secret may be told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecretConsent {
    /// The secret's name, as policies write it.
    pub name: String,
    /// The most two likelihoods may differ between two values of it.
    pub ldp: Nats,
}

/// ln 3, rounded up as policies print it.
const LN_3: Nats = Nats::from_units(10_986_122_887);
/// 2 ln 3, rounded up.
const TWO_LN_3: Nats = Nats::from_units(21_972_245_774);

impl Default for Consent {
    fn default() -> Self {
        Self { lip: Some(LN_3), ldp: Some(TWO_LN_3), secrets: Vec::new() }
    }
}

/// Releasing this would tell more than the person agreed to.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AboveConsent {
    /// LDP of the whole transcript would exceed what was agreed to.
    #[error(
        "with this release the LDP of everything released about this datum could reach {}, and you agreed to {allowed} nats",
        shown(*attained)
    )]
    Ldp {
        /// The LDP that could be attained; `None` if nothing bounds it.
        attained: Option<Nats>,
        /// The LDP that was agreed to.
        allowed: Nats,
    },
    /// Belief about the input would change by more than was agreed to.
    #[error(
        "with this release belief about this datum could change by {} in all, and you agreed to {allowed} nats",
        shown(*attained)
    )]
    Lip {
        /// The LIP that could be attained; `None` if nothing bounds it.
        attained: Option<Nats>,
        /// The LIP that was agreed to.
        allowed: Nats,
    },
    /// A named secret would be told about more than was agreed to.
    #[error(
        "with this release the LDP about {name:?} of everything released about this datum could reach {}, and you agreed to {allowed} nats",
        shown(*attained)
    )]
    Secret {
        /// The secret's name.
        name: String,
        /// The LDP about the secret that could be attained; `None` if nothing bounds it.
        attained: Option<Nats>,
        /// The LDP about the secret that was agreed to.
        allowed: Nats,
    },
}

fn shown(attained: Option<Nats>) -> String {
    attained.map_or("no finite level".into(), |nats| alloc::format!("{nats} nats"))
}

impl Consent {
    /// Agreement to anything: for channels one only studies.
    pub const UNLIMITED: Self = Self { lip: None, ldp: None, secrets: Vec::new() };

    /// Whether what is released, the next answer included, stays within all limits whatever that answer will be.
    pub fn check(&self, standing: &Standing) -> Result<(), AboveConsent> {
        let ldp = standing.ldp.ln_up();
        if let Some(allowed) = self.ldp
            && exceeds(ldp, allowed)
        {
            return Err(AboveConsent::Ldp { attained: ldp, allowed });
        }
        // Without a context LDP stands in for LIP, unless it was judged by itself already.
        let lip = match (standing.lip, self.ldp) {
            (Some(lip), _) => Some(lip.ln_up()),
            (None, None) => Some(ldp),
            (None, Some(_)) => None,
        };
        if let (Some(attained), Some(allowed)) = (lip, self.lip)
            && exceeds(attained, allowed)
        {
            return Err(AboveConsent::Lip { attained, allowed });
        }
        for SecretConsent { name, ldp: allowed } in &self.secrets {
            let (attained, allowed) = (standing.about_secret(name).ln_up(), *allowed);
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
