//! A small network whose maps are written by hand.

use undertone_design::Channel;
use undertone_fusion::design::Budgets;
use undertone_fusion::runtime::{SensorReport, TokenKind};
use undertone_fusion::{Bundle, ExactModel, Maps, Model, Origin};

/// Three sensors with three readings and three outputs, of which the last is never sent; certified
/// for `epochs` epochs.
pub(crate) fn network(epochs: u32) -> Bundle {
    networks(epochs, "a test")
}

/// The same with another source, and so another id.
pub(crate) fn networks(epochs: u32, source: &str) -> Bundle {
    let given = vec![
        vec![vec![0.7, 0.2, 0.1], vec![0.5, 0.3, 0.2]],
        vec![vec![0.2, 0.3, 0.5], vec![0.1, 0.2, 0.7]],
    ];
    let model = Model::independent(vec![vec![0.3, 0.2], vec![0.2, 0.3]], vec![given; 3]).unwrap();
    let exact = ExactModel::new(&model).unwrap();
    let rows = vec![vec![0.8, 0.2, 0.0], vec![0.5, 0.5, 0.0], vec![0.2, 0.8, 0.0]];
    let maps = Maps::same(&model, &Channel::new(rows).unwrap()).unwrap();
    let budgets = Budgets { epochs, ..Budgets::new(f64::INFINITY, 1.5).unwrap() };
    let origin = Origin { method: "hand".into(), source: source.into(), ..Origin::default() };
    Bundle::ship(&exact, &maps, budgets, &origin).unwrap()
}

/// A report as an honest sensor would write it.
pub(crate) fn report(bundle: &Bundle, sensor: u16, epoch: u64, token: u32) -> SensorReport {
    let mut prefix = [0; 8];
    for (at, byte) in prefix.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&bundle.id()[2 * at..2 * at + 2], 16).unwrap();
    }
    SensorReport { bundle: prefix, sensor, epoch, kind: TokenKind::Drawn, token }
}
