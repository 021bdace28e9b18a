//! Golden values of learning from samples.
use undertone_core::Alphabet;
use undertone_design::Channel;
use undertone_fusion::learn::centralised::{Criterion, Projection};
use undertone_fusion::learn::leakage;
use undertone_fusion::learn::release::Release;
use undertone_fusion::learn::risks;
use undertone_fusion::{Hypothesis, Maps, Sample, Samples};
use undertone_testkit::golden::assert_golden;

/// The specification's eight samples of two sensors with three readings each.
fn tiny() -> Samples {
    let readings = [[0, 1], [2, 0], [1, 1], [0, 2], [2, 2], [1, 0], [0, 0], [2, 1]];
    let h = [0, 1, 1, 0, 1, 0, 0, 1];
    let g = [0, 1, 0, 1, 1, 0, 1, 0];
    let sample = |i: usize| Sample { public: h[i], private: g[i], readings: readings[i].to_vec() };
    let sensors = ["a", "b"].map(|name| (name.to_owned(), Alphabet::indices(3).unwrap()));
    let (public, private) = (Hypothesis::indexed("h", 2), Hypothesis::indexed("g", 2));
    Samples::new(public, private, sensors.to_vec(), (0..8).map(sample).collect()).unwrap()
}

fn tiny_maps() -> Maps {
    let first = vec![vec![0.8, 0.2], vec![0.5, 0.5], vec![0.3, 0.7]];
    let second = vec![vec![0.6, 0.4], vec![0.5, 0.5], vec![0.2, 0.8]];
    Maps::new(vec![Channel::new(first).unwrap(), Channel::new(second).unwrap()]).unwrap()
}

#[test]
fn the_risk_of_the_centre_and_the_gap_of_the_adversary() {
    let (risk, adversaries) = risks(&tiny(), &tiny_maps(), 0.1).unwrap();
    assert_golden("I32", risk);
    // I34: the primal-dual gap is below 1e-9.
    assert_eq!(adversaries.len(), 1);
    let gap = adversaries[0].risk - adversaries[0].dual;
    assert!(gap.abs() < 1e-9, "{gap}");
    assert!(adversaries[0].risk < 2f64.ln());
}

#[test]
fn leakage_averaged_over_the_maps() {
    let averaged = leakage::averaged(&tiny(), &Release::Maps(tiny_maps())).unwrap().unwrap();
    assert_golden("I35", averaged);
}

#[test]
fn projections() {
    let rows =
        [[1, 2, 0], [2, 1, 1], [3, 3, 1], [4, 2, 3], [5, 5, 2], [6, 4, 4], [7, 7, 3], [8, 5, 6]];
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.map(f64::from).to_vec()).collect();
    let (hh, gg) = ([0, 0, 0, 1, 1, 1, 1, 0], [vec![0, 1, 0, 1, 0, 1, 0, 1]]);
    let top = |criterion| {
        let found = Projection::fit(&rows, &hh, &gg, criterion, 1.0, 1).unwrap();
        assert_eq!(found.directions().len(), 1);
        found.values()[0]
    };
    assert_golden("I36", top(Criterion::Dca));
    assert_golden("I38", top(Criterion::Ruca { price: 10.0 }));
    // No price is DCA; an infinite one is MDR, whose eigenvalue is price times as large.
    assert!((top(Criterion::Ruca { price: 0.0 }) - top(Criterion::Dca)).abs() < 1e-12);
    let far = Projection::fit(&rows, &hh, &gg, Criterion::Ruca { price: 1e9 }, 1.0, 1);
    let mdr = Projection::fit(&rows, &hh, &gg, Criterion::Mdr, 1e-9, 1);
    let (far, mdr) = (far.unwrap(), mdr.unwrap());
    // Both end in the null space of the private scatter.
    assert!(mdr.values()[0] > 1e6 && far.values()[0] < 0.32);
}
