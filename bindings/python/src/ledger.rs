//! One person's budget and consent, over everything released about a datum.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand_core::CryptoRng;
use undertone_core as core;
use undertone_design::protection;

use crate::draw::generator;
use crate::errors::{failed, guarded};
use crate::kernel::{Bytes, Report, symbol};
use crate::policy::Policy;

/// One person's budget for each datum, in nats of LDP, and what that person agrees to over everything released
/// about a datum. It remembers what it draws, so that what several releases tell together is exact.
#[pyclass(frozen, module = "undertone")]
pub(crate) struct Ledger {
    state: Mutex<State>,
    consent: core::Consent,
}

struct State {
    ledger: core::Ledger,
    past: BTreeMap<String, Vec<Kept>>,
}

/// What is left of a release.
struct Kept {
    release: core::Release,
    policy: Option<Py<Policy>>,
    report: Option<core::Report>,
}

type Earlier<'a, 'py> = Option<&'a Bound<'py, Policy>>;

/// Nats of a number or a text, which Python may write with an exponent.
fn nats(what: &str, value: &Bound<'_, PyAny>) -> PyResult<core::Nats> {
    let text = value.str()?;
    let text = text.to_cow()?;
    protection::nats(&text).map_err(|error| failed(format!("{what} is {text}: {error}")))
}

#[pymethods]
impl Ledger {
    /// A budget for each datum, and limits on everything released about one: `lip`, `ldp`, and `secrets`, a
    /// dictionary of names and levels. Numbers of nats, or decimal text. Without limits the budget alone decides.
    #[new]
    #[pyo3(signature = (budget, *, lip = None, ldp = None, secrets = None))]
    fn new(
        budget: &Bound<'_, PyAny>,
        lip: Option<&Bound<'_, PyAny>>,
        ldp: Option<&Bound<'_, PyAny>>,
        secrets: Option<BTreeMap<String, Bound<'_, PyAny>>>,
    ) -> PyResult<Self> {
        guarded(|| {
            let secret = |(name, level): (String, Bound<'_, PyAny>)| {
                let ldp = nats(&format!("the limit of secret {name}"), &level)?;
                Ok(core::SecretConsent { name, ldp })
            };
            let consent = core::Consent {
                lip: lip.map(|level| nats("lip", level)).transpose()?,
                ldp: ldp.map(|level| nats("ldp", level)).transpose()?,
                secrets: secrets.into_iter().flatten().map(secret).collect::<PyResult<_>>()?,
            };
            let ledger = core::Ledger::new(nats("budget", budget)?);
            Ok(Self { state: Mutex::new(State { ledger, past: BTreeMap::new() }), consent })
        })
    }

    /// Asks to answer about a datum: "fresh" spends the budget, "repeat" means that the earlier answer is to be sent
    /// again, at no cost. Raises when the budget is exhausted or more would be told than was agreed to.
    /// `earlier` is the policy of an earlier answer that was not drawn here.
    #[pyo3(signature = (datum, policy, earlier = None))]
    fn request(
        &self,
        datum: &str,
        policy: &Bound<'_, Policy>,
        earlier: Earlier<'_, '_>,
    ) -> PyResult<&'static str> {
        guarded(|| {
            let id = policy.get().0.policy.id();
            let known = |kept: &Kept| kept.release.policy == id;
            if self.state()?.past.get(datum).is_some_and(|past| past.iter().any(known)) {
                return Ok("repeat");
            }
            self.spend(datum, policy, earlier).map(|()| "fresh")
        })
    }

    /// Always a new answer: spends the budget, or raises.
    #[pyo3(signature = (datum, policy, earlier = None))]
    fn spend(
        &self,
        datum: &str,
        policy: &Bound<'_, Policy>,
        earlier: Earlier<'_, '_>,
    ) -> PyResult<()> {
        guarded(|| {
            let mut state = self.state()?;
            let _permit = state.permit(datum, policy, earlier, &self.consent)?;
            state.note(datum, policy, None, false);
            Ok(())
        })
    }

    /// Spends the budget, draws one report for the input with this index, and remembers it.
    #[pyo3(signature = (datum, policy, index, earlier = None))]
    fn report(
        &self,
        datum: &str,
        policy: &Bound<'_, Policy>,
        index: usize,
        earlier: Earlier<'_, '_>,
    ) -> PyResult<Report> {
        guarded(|| self.drawn(datum, policy, index, earlier, &mut generator(None).map_err(failed)?))
    }

    /// Notes an answer that was given elsewhere, and charges it whether or not the budget allows it: with its report, with
    /// its policy alone, or (`kept` false) with nothing but its cost.
    #[pyo3(signature = (datum, policy, report = None, *, kept = true))]
    fn note(
        &self,
        datum: &str,
        policy: &Bound<'_, Policy>,
        report: Option<&Bound<'_, Report>>,
        kept: bool,
    ) -> PyResult<()> {
        guarded(|| {
            let report = report.map(|report| report.get().0.clone());
            if let Some(report) = &report {
                policy.get().0.policy.accepts(report).map_err(failed)?;
            }
            let mut state = self.state()?;
            state.note(datum, policy, report, kept);
            state.charge();
            Ok(())
        })
    }

    /// What everything released about a datum would attain at worst with one more answer: `exact`, `ldp`, `lip`, `secrets`,
    /// `claims`; levels in printed nats, "unbounded" where there is no bound.
    fn standing<'py>(
        &self,
        py: Python<'py>,
        datum: &str,
        policy: &Bound<'py, Policy>,
    ) -> PyResult<Bound<'py, PyDict>> {
        guarded(|| {
            let state = self.state()?;
            let standing = state.sequence(datum, None).after(&policy.get().0.policy);
            let level = |ratio: core::Ratio| {
                ratio.ln_up().map_or("unbounded".into(), |nats| nats.to_string())
            };
            let found = PyDict::new(py);
            found.set_item("exact", standing.exact)?;
            found.set_item("ldp", level(standing.ldp))?;
            found.set_item("lip", standing.lip.map(level))?;
            let secrets: BTreeMap<String, String> =
                standing.secrets.into_iter().map(|(name, ratio)| (name, level(ratio))).collect();
            found.set_item("secrets", secrets)?;
            found.set_item("claims", standing.claims)?;
            Ok(found)
        })
    }

    /// The nats spent on a datum; `None` where they have no finite sum.
    fn spent(&self, datum: &str) -> PyResult<Option<String>> {
        guarded(|| Ok(self.state()?.ledger.spent(datum).map(|nats| nats.to_string())))
    }
}

impl Ledger {
    fn drawn(
        &self,
        datum: &str,
        policy: &Bound<'_, Policy>,
        index: usize,
        earlier: Earlier<'_, '_>,
        rng: &mut impl CryptoRng,
    ) -> PyResult<Report> {
        let prepared = &policy.get().0;
        let x = symbol(prepared, index)?;
        let mut state = self.state()?;
        let permit = state.permit(datum, policy, earlier, &self.consent)?;
        let report = prepared.policy.randomize(x, permit, rng).map_err(failed)?;
        state.note(datum, policy, Some(report.clone()), true);
        Ok(Report(report))
    }

    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        self.state.lock().map_err(|_| failed("the ledger was left half-written by another thread"))
    }
}

impl State {
    fn permit(
        &mut self,
        datum: &str,
        policy: &Bound<'_, Policy>,
        earlier: Earlier<'_, '_>,
        consent: &core::Consent,
    ) -> PyResult<core::Permit> {
        let mut ledger = self.ledger.clone();
        let past = self.sequence(datum, earlier.map(|policy| &policy.get().0.policy));
        let permit = ledger.spend(datum, &policy.get().0.policy, &past, consent).map_err(failed)?;
        self.ledger = ledger;
        Ok(permit)
    }

    /// Everything released about a datum, as far as it is at hand.
    fn sequence<'a>(
        &'a self,
        datum: &str,
        earlier: Option<&'a core::Policy>,
    ) -> core::Sequence<'a> {
        let mut sequence = core::Sequence::new();
        for Kept { release, policy, report } in self.past.get(datum).into_iter().flatten() {
            let policy = policy.as_ref().map(|policy| &policy.get().0.policy);
            let told = match (policy, report) {
                (Some(policy), Some(report)) => sequence.released(policy, report).is_ok(),
                _ => false,
            };
            match policy.or(earlier.filter(|earlier| earlier.id() == release.policy)) {
                _ if told => {}
                Some(policy) => sequence.untold(policy),
                None => sequence.forgotten(*release),
            }
        }
        sequence
    }

    fn note(
        &mut self,
        datum: &str,
        policy: &Bound<'_, Policy>,
        report: Option<core::Report>,
        kept: bool,
    ) {
        let found = &policy.get().0.policy;
        let release = core::Release { policy: found.id(), cost: found.ldp() };
        let policy = kept.then(|| policy.clone().unbind());
        let kept = Kept { release, policy, report };
        self.past.entry(datum.into()).or_default().push(kept);
    }

    /// Makes the ledger agree with what is noted.
    fn charge(&mut self) {
        let noted = self.past.iter().map(|(datum, past)| {
            (datum.clone(), past.iter().map(|kept| kept.release).collect::<Vec<_>>())
        });
        self.ledger = core::Ledger::restore(self.ledger.budget(), noted);
    }
}

/// A report drawn from given bytes, for tests of other languages: whoever knows them knows the answer.
#[pyfunction]
pub(crate) fn report_from(
    ledger: &Bound<'_, Ledger>,
    datum: &str,
    policy: &Bound<'_, Policy>,
    index: usize,
    stream: &[u8],
) -> PyResult<Report> {
    guarded(|| {
        ledger.get().drawn(datum, policy, index, None, &mut Bytes { bytes: stream, used: 0 })
    })
}
