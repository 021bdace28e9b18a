//! Models as JSON.

use serde::Deserialize;
use serde_json::Value;
use undertone_core::{Alphabet, Object};
use undertone_design::{Distribution, Error};

use super::{Atom, Hypothesis, MAX_VALUES, Model, Point, Sensor};
use crate::time::Chain;

/// A model file: either `hypotheses` with each sensor's `given`, or `points` of a joint law.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModel {
    #[serde(default)]
    hypotheses: Option<Vec<Vec<f64>>>,
    #[serde(default)]
    points: Option<Vec<Object<RawPoint>>>,
    #[serde(default)]
    public: Object<RawHypothesis>,
    #[serde(default)]
    private: Object<RawHypothesis>,
    sensors: Vec<Object<RawSensor>>,
    /// How the hypotheses move from one epoch to the next.
    #[serde(default)]
    transition: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawHypothesis {
    name: Option<String>,
    values: Option<Vec<String>>,
    components: Option<Vec<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPoint {
    p: f64,
    public: usize,
    private: usize,
    readings: Vec<usize>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct RawSensor {
    #[serde(default)]
    name: Option<String>,
    /// P(x|h,g), indexed by h, g and x.
    #[serde(default)]
    given: Option<Vec<Vec<Vec<f64>>>>,
    /// What the readings are called.
    #[serde(default)]
    readings: Option<Vec<String>>,
    /// How many readings there are, where `given` does not say so.
    #[serde(default)]
    size: Option<usize>,
    /// How many such sensors there are; their names are numbered.
    #[serde(default)]
    count: Option<usize>,
}

/// The most sensors a file can ask for by number.
const MAX_SENSORS: usize = 1 << 12;

/// Writes out sensors of which there are several.
fn numbered(sensors: Vec<Object<RawSensor>>) -> Result<Vec<RawSensor>, Error> {
    let mut all = Vec::with_capacity(sensors.len());
    for (t, Object(sensor)) in sensors.into_iter().enumerate() {
        let count = sensor.count.unwrap_or(1);
        let name = sensor.name.clone().unwrap_or_else(|| t.to_string());
        if count == 0 || count > MAX_SENSORS - all.len() {
            let problem = format!(
                "has a `count` of {count}: give 1 or more, and at most {MAX_SENSORS} sensors in all"
            );
            return Err(Error::other(format!("sensor {name}"), problem));
        }
        if sensor.count.is_none() {
            all.push(sensor);
            continue;
        }
        all.extend(
            (1..=count).map(|n| RawSensor { name: Some(format!("{name}-{n}")), ..sensor.clone() }),
        );
    }
    Ok(all)
}

/// Reads a model from JSON.
///
/// `{"hypotheses": [[P(h,g)..]..], "sensors": [{"given": [[[P(x|h,g)..]..]..]}..]}` for sensors that
/// are independent given (H,G), or `{"points": [{"p": .., "public": h, "private": g, "readings":
/// [x..]}..], "sensors": [{"size": n}..]}` for any joint law. `public` and `private` may give a
/// `name`, the `values`' names, or (for a vector of hypotheses) the sizes of its `components`;
/// a sensor may have a `name` and names for its `readings`, and stands for `count` alike.
/// A `transition` says how the hypotheses move (see [`read_moving`]); the model itself is that of the first epoch.
pub fn read(text: &str) -> Result<Model, Error> {
    Ok(read_moving(text)?.0)
}

/// Reads a model and, if it has a `transition`, how its hypotheses move: `{"public": M, "private": M}`, each `"persists"`,
/// `"fresh"` (drawn anew given the other one's new value) or a matrix, or one matrix over all pairs (h,g), those of the same
/// h together.
pub fn read_moving(text: &str) -> Result<(Model, Option<Chain>), Error> {
    let Object::<RawModel>(raw) = serde_json::from_str(text).map_err(|error| {
        let expected = "{\"hypotheses\": [[P(h,g)...]...], \"sensors\": [{\"given\": \
                        [[[P(x|h,g)...]...]...]}...]}";
        Error::other("model", format!("{error}; expected {expected}"))
    })?;
    let sensors = numbered(raw.sensors)?;
    let model = match (raw.hypotheses, raw.points) {
        (Some(hypotheses), None) => {
            let (h, g) = shape(&hypotheses)?;
            let public = raw.public.0.read("public", h)?;
            let private = raw.private.0.read("private", g)?;
            let sensor = |(t, sensor): (usize, RawSensor)| {
                let name = sensor.name.unwrap_or_else(|| t.to_string());
                let given = sensor.given.ok_or_else(|| {
                    Error::other(format!("sensor {name}"), "has no `given`: give P(x|h,g)")
                })?;
                if sensor.size.is_some() {
                    let problem = "has a `size` beside `given`: leave it out";
                    return Err(Error::other(format!("sensor {name}"), problem));
                }
                let readings = sensor.readings.map(Alphabet::names).transpose();
                let readings = readings.map_err(|error| {
                    Error::other(format!("sensor {name}: readings"), error.to_string())
                })?;
                Ok((name, readings, given))
            };
            let sensors =
                sensors.into_iter().enumerate().map(sensor).collect::<Result<_, Error>>()?;
            independent((public, private), hypotheses, sensors)
        }
        (None, Some(points)) => {
            let most = |label: fn(&RawPoint) -> usize| {
                points.iter().map(|Object(point)| label(point)).max().unwrap_or(0)
            };
            let public =
                raw.public.0.read("public", most(|point| point.public).saturating_add(1))?;
            let private =
                raw.private.0.read("private", most(|point| point.private).saturating_add(1))?;
            let sensor = |(t, sensor): (usize, RawSensor)| {
                let name = sensor.name.unwrap_or_else(|| t.to_string());
                let readings = match (sensor.readings, sensor.size, sensor.given) {
                    (Some(names), None, None) => Alphabet::names(names),
                    (None, Some(size), None) => Alphabet::indices(size),
                    _ => {
                        let problem = "beside `points`, a sensor has either `readings` (names) or \
                                       a `size`";
                        return Err(Error::other(format!("sensor {name}"), problem));
                    }
                };
                let readings = readings
                    .map_err(|error| Error::other(format!("sensor {name}"), error.to_string()))?;
                Ok((name, readings))
            };
            let sensors =
                sensors.into_iter().enumerate().map(sensor).collect::<Result<_, Error>>()?;
            let point = |Object(point): Object<RawPoint>| Point {
                weight: point.p,
                public: point.public,
                private: point.private,
                readings: point.readings,
            };
            let points: Vec<Point> = points.into_iter().map(point).collect();
            Model::joint(public, private, sensors, &points)
        }
        _ => Err(Error::other("model", "give either `hypotheses` or `points`, and not both")),
    }?;
    let chain = raw.transition.map(|value| Chain::read(&model, &value)).transpose()?;
    Ok((model, chain))
}

impl RawHypothesis {
    fn read(self, default: &str, size: usize) -> Result<Hypothesis, Error> {
        let name = self.name.unwrap_or_else(|| default.into());
        if size > MAX_VALUES {
            return Err(Error::TooLarge {
                what: format!("hypothesis {name}"),
                size,
                limit: MAX_VALUES,
                fix: "merge values that need not be told apart".into(),
            });
        }
        let hypothesis = match (self.values, self.components) {
            (Some(values), None) => Hypothesis::named(&name, values),
            (None, Some(components)) => Hypothesis::vector(&name, components)?,
            (None, None) => Hypothesis::indexed(&name, size),
            (Some(_), Some(_)) => {
                return Err(Error::other(name, "give `values` or `components`, not both"));
            }
        };
        if hypothesis.size() == size {
            Ok(hypothesis)
        } else {
            Err(Error::Size {
                what: format!("hypothesis {name}"),
                expected: size,
                found: hypothesis.size(),
            })
        }
    }
}

/// |H| and |G|, if every row has as many columns as the first.
pub(super) fn shape(hypotheses: &[Vec<f64>]) -> Result<(usize, usize), Error> {
    let columns = hypotheses.first().map_or(0, Vec::len);
    if columns == 0 {
        return Err(Error::Empty { what: "hypotheses".into() });
    }
    match hypotheses.iter().position(|row| row.len() != columns) {
        None => Ok((hypotheses.len(), columns)),
        Some(h) => Err(Error::Size {
            what: format!("hypotheses[{h}]"),
            expected: columns,
            found: hypotheses[h].len(),
        }),
    }
}

type Given = (String, Option<Alphabet>, Vec<Vec<Vec<f64>>>);

/// Sensors independent given (H,G).
pub(super) fn independent(
    (public, private): (Hypothesis, Hypothesis),
    hypotheses: Vec<Vec<f64>>,
    sensors: Vec<Given>,
) -> Result<Model, Error> {
    let cells: Vec<f64> = hypotheses.concat();
    let law = Distribution::new("hypotheses", cells)?;
    let columns = private.size();
    let atom = |k: usize| Atom { weight: law[k], public: k / columns, private: k % columns };
    let atoms: Vec<Atom> = (0..law.len()).map(atom).collect();
    let sensor = |(name, readings, given): Given| {
        let what = format!("sensor {name}: given");
        if given.len() != public.size() {
            return Err(Error::Size { what, expected: public.size(), found: given.len() });
        }
        let mut rows = Vec::new();
        for (h, laws) in given.into_iter().enumerate() {
            if laws.len() != columns {
                let what = format!("{what}[{h}]");
                return Err(Error::Size { what, expected: columns, found: laws.len() });
            }
            for (g, law) in laws.into_iter().enumerate() {
                rows.push(Distribution::new(&format!("{what}[{h}][{g}]"), law)?);
            }
        }
        let size = rows.first().map_or(0, Distribution::len);
        let readings = match readings {
            Some(readings) => readings,
            None => {
                Alphabet::indices(size).map_err(|error| Error::other(what, error.to_string()))?
            }
        };
        let row_of = (0..rows.len() as u32).collect();
        Sensor::new(name, readings, rows, row_of)
    };
    let sensors = sensors.into_iter().map(sensor).collect::<Result<_, _>>()?;
    Model::new(public, private, atoms, sensors)
}
