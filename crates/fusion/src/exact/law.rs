//! A network's model as the law of a plan, and back.
//!
//! The variables are the sensors' readings, then G and H. Where the atom decides every reading they have points;
//! elsewhere a tree: the atom is the root, a further variable that is never seen, and everything is given the atom.

use undertone_core::{Alphabet, Law, MASS_ONE, Node, PartsError, Point, Row, SecretVariable};
use undertone_design::Error;

use super::{ExactAtom, ExactModel, ExactSensor};
use crate::Hypothesis;

/// The most points of a plan's law.
const MAX_POINTS: usize = 1 << 16;
/// The most integers of a tree: atoms times all readings and labels.
const MAX_ENTRIES: usize = 1 << 22;

/// G's number among a plan's secrets.
pub(crate) const PRIVATE: usize = 0;
/// H's number.
const PUBLIC: usize = 1;

/// The name of the variable whose values are the atoms.
const SCENARIO: &str = "scenario";

/// The values of a hypothesis that occur, and for each of all its values, which of them it is.
struct Occurring {
    values: Vec<usize>,
    place: Vec<Option<u32>>,
}

impl Occurring {
    fn new(law: &[u64]) -> Self {
        let values: Vec<usize> = (0..law.len()).filter(|&value| law[value] > 0).collect();
        let mut place = vec![None; law.len()];
        values.iter().zip(0..).for_each(|(&value, at)| place[value] = Some(at));
        Self { values, place }
    }

    fn of(&self, value: usize) -> u32 {
        self.place[value].unwrap_or(0)
    }

    fn alphabet(&self, of: &Hypothesis) -> Result<Alphabet, Error> {
        let names = self.values.iter().map(|&value| of.values()[value].as_str());
        Alphabet::names(names)
            .map_err(|error| Error::other(format!("hypothesis {}", of.name()), error.to_string()))
    }
}

fn too_large(what: &str, size: usize, limit: usize) -> Error {
    let fix = "merge readings or values that need not be told apart".into();
    Error::TooLarge { what: format!("the law of the network, in {what},"), size, limit, fix }
}

impl ExactModel {
    fn privates(&self) -> Occurring {
        Occurring::new(&self.private_law())
    }

    fn publics(&self) -> Occurring {
        Occurring::new(&self.label_law(&self.public, |atom| atom.public))
    }

    /// The secrets of a plan: G, H, and the atom where it is a variable. Values that never occur are none of theirs:
    /// no belief in them can move.
    pub(crate) fn secrets(&self) -> Result<Vec<SecretVariable>, Error> {
        let secret = |of: &Hypothesis, values: Occurring| {
            Ok::<_, Error>(SecretVariable { name: of.name().into(), values: values.alphabet(of)? })
        };
        let mut secrets =
            vec![secret(&self.private, self.privates())?, secret(&self.public, self.publics())?];
        if self.decided().is_none() {
            let mut name = SCENARIO.to_owned();
            let hypotheses = [self.private.name(), self.public.name()];
            let taken = |name: &str| {
                hypotheses.contains(&name) || self.sensors.iter().any(|one| one.name == name)
            };
            while taken(&name) {
                name.push('\'');
            }
            let values = Alphabet::indices(self.atoms.len())
                .map_err(|error| Error::other("the model's atoms", error.to_string()))?;
            secrets.push(SecretVariable { name, values });
        }
        Ok(secrets)
    }

    /// The law of readings, G and H as a plan has it. Refuses one that would be too large to write down.
    pub fn law(&self) -> Result<Law, Error> {
        let (privates, publics) = (self.privates(), self.publics());
        if let Some(readings) = self.decided() {
            if self.atoms.len() > MAX_POINTS {
                return Err(too_large("points", self.atoms.len(), MAX_POINTS));
            }
            let point = |(k, atom): (usize, &ExactAtom)| {
                let mut values: Vec<u32> = readings.iter().map(|of| of[k]).collect();
                values.extend([privates.of(atom.private), publics.of(atom.public)]);
                Point { weight: atom.weight, values }
            };
            return Ok(Law::Points(self.atoms.iter().enumerate().map(point).collect()));
        }
        let readings = self.sensors.iter().map(|sensor| sensor.readings.len());
        let width: usize = readings.sum::<usize>() + privates.values.len() + publics.values.len();
        let entries = self.atoms.len().saturating_mul(width);
        if entries > MAX_ENTRIES {
            return Err(too_large("atoms times readings and labels", entries, MAX_ENTRIES));
        }
        let parent = self.sensors.len() as u32 + 2;
        let row = |masses: Vec<u64>| {
            let refuse = |error: PartsError| Error::other("the model's law", error.to_string());
            Row::new(masses).map_err(refuse)
        };
        let given = |rows: Result<Vec<Row>, Error>| Ok(Node::Given { parent, rows: rows? });
        let label = |values: &Occurring, of: fn(&ExactAtom) -> usize| {
            let certain = |atom: &ExactAtom| {
                let mut masses = vec![0; values.values.len()];
                masses[values.of(of(atom)) as usize] = MASS_ONE;
                row(masses)
            };
            given(self.atoms.iter().map(certain).collect())
        };
        let reading = |sensor: &ExactSensor| {
            given((0..self.atoms.len()).map(|k| row(sensor.given(k).to_vec())).collect())
        };
        let mut nodes = self.sensors.iter().map(reading).collect::<Result<Vec<Node>, Error>>()?;
        nodes.push(label(&privates, |atom| atom.private)?);
        nodes.push(label(&publics, |atom| atom.public)?);
        nodes.push(Node::Root(row(self.atoms.iter().map(|atom| atom.weight).collect())?));
        Ok(Law::Tree(nodes))
    }

    /// The model of sensors with these names and readings under the law of a plan, whose secrets are some of the values of
    /// G and H. `None` if the law is none that a network has.
    pub(crate) fn from_law(
        (public, private): (Hypothesis, Hypothesis),
        sensors: Vec<(String, Alphabet)>,
        secrets: &[SecretVariable],
        law: &Law,
    ) -> Option<Self> {
        let count = sensors.len();
        let value_of = |which: usize, of: &Hypothesis, at: usize| {
            let label = secrets.get(which)?.values.label(at);
            of.values().iter().position(|value| *value == label)
        };
        let labels = |g: usize, h: usize| {
            Some((value_of(PRIVATE, &private, g)?, value_of(PUBLIC, &public, h)?))
        };
        let (atoms, laws): (Vec<ExactAtom>, Vec<Vec<Vec<u64>>>) = match law {
            Law::Unknown => return None,
            Law::Points(points) => {
                let atom = |point: &Point| {
                    let [.., g, h] = point.values[..] else { return None };
                    let (private, public) = labels(g as usize, h as usize)?;
                    Some(ExactAtom { weight: point.weight, public, private })
                };
                let certain = |t: usize, size: usize| {
                    let row = |point: &Point| {
                        let mut masses = vec![0; size];
                        *masses.get_mut(*point.values.get(t)? as usize)? = MASS_ONE;
                        Some(masses)
                    };
                    points.iter().map(row).collect::<Option<Vec<Vec<u64>>>>()
                };
                let laws = sensors.iter().enumerate().map(|(t, (_, all))| certain(t, all.len()));
                (points.iter().map(atom).collect::<Option<_>>()?, laws.collect::<Option<_>>()?)
            }
            Law::Tree(nodes) => {
                let Node::Root(weights) = nodes.get(count + 2)? else { return None };
                let rows = |variable: usize| match nodes.get(variable)? {
                    Node::Given { rows, .. } if rows.len() == weights.masses().len() => Some(rows),
                    _ => None,
                };
                let certain = |row: &Row| row.masses().iter().position(|&mass| mass > 0);
                let (privates, publics) = (rows(count + PRIVATE)?, rows(count + PUBLIC)?);
                let labelled = weights.masses().iter().zip(privates.iter().zip(publics));
                let atom = |(&weight, (g, h)): (&u64, (&Row, &Row))| {
                    let (private, public) = labels(certain(g)?, certain(h)?)?;
                    Some(ExactAtom { weight, public, private })
                };
                let masses = |variable: usize| -> Option<Vec<Vec<u64>>> {
                    Some(rows(variable)?.iter().map(|row| row.masses().to_vec()).collect())
                };
                (
                    labelled.map(atom).collect::<Option<_>>()?,
                    (0..count).map(masses).collect::<Option<_>>()?,
                )
            }
        };
        let sensor = |((name, readings), laws): ((String, Alphabet), Vec<Vec<u64>>)| {
            ExactSensor::new(name, readings, laws.into_iter())
        };
        let sensors = sensors.into_iter().zip(laws).map(sensor).collect();
        Some(Self { public, private, atoms, sensors })
    }
}
