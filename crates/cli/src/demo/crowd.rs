//! Simulated people, each with a device of their own, who answer over HTTP.

use std::sync::Mutex;

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_client::{Client, Connection, Delivery, Device, Survey};

use crate::failure::Failure;
use crate::output::progress;

/// People who answer at the same time.
const AT_ONCE: u64 = 16;

/// Lets `users` people answer a yes/no question, of whom a share of `rate` would say yes. Gives how many
/// of them truly did.
///
/// With a seed, people and their noise are repeatable; without one every device draws from the
/// system's generator, as real ones do.
pub(crate) fn answer(
    curator: &Connection,
    survey: &Survey,
    users: u32,
    rate: f64,
    seed: Option<u64>,
) -> Result<u64, Failure> {
    let people = match seed {
        Some(seed) => seed,
        None => {
            let mut bytes = [0; 8];
            getrandom::fill(&mut bytes).map_err(|error| {
                Failure::input(format!("the system's random generator failed: {error}"))
            })?;
            u64::from_be_bytes(bytes)
        }
    };
    let bar = progress(u64::from(users), "answers");
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    let work = |worker: u64| {
        let mut rng = ChaCha12Rng::seed_from_u64(people);
        rng.set_stream(worker);
        let mut yes = 0;
        // One stream per worker and a fixed share of the people: the same crowd every time.
        for _ in (worker..u64::from(users)).step_by(AT_ONCE as usize) {
            let says_yes = f64::from(rng.next_u32()) < rate * 4_294_967_296.0;
            yes += u64::from(says_yes);
            let noise = seed.map(|_| &mut rng);
            if let Err(failure) = one(curator, survey, usize::from(says_yes), noise) {
                let mut first = failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                first.get_or_insert(failure);
                break;
            }
            bar.inc(1);
        }
        yes
    };
    let yes = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE)
            .map(|worker| {
                scope.spawn({
                    let work = &work;
                    move || work(worker)
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(0)).sum()
    });
    bar.finish_and_clear();
    match failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some(failure) => Err(failure),
        None => Ok(yes),
    }
}

/// One person: an empty device, one answer, sent and acknowledged.
fn one(
    curator: &Connection,
    survey: &Survey,
    answer: usize,
    noise: Option<&mut ChaCha12Rng>,
) -> Result<(), Failure> {
    let mut client = Client::with_connection(curator.clone(), Device::memory());
    let symbol = survey.alphabet().symbol(answer).map_err(Failure::input)?;
    let delivery = match noise {
        None => client.answer(survey, symbol).map_err(Failure::input)?.delivery,
        Some(rng) => {
            client.record_with(survey, symbol, rng).map_err(Failure::input)?;
            let flushed = client.flush().map_err(Failure::input)?;
            match flushed {
                flushed if flushed.accepted == 1 => Delivery::Accepted,
                flushed => {
                    return Err(Failure::input(format!("a report was not taken: {flushed:?}")));
                }
            }
        }
    };
    match delivery {
        Delivery::Accepted => Ok(()),
        other => Err(Failure::input(format!("a report was not taken: {other:?}"))),
    }
}
