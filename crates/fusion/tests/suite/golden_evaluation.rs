//! Golden values of the evaluation.
use crate::common::{bell, ga, indep_first, table_iv, threshold};
use undertone_design::Channel;
use undertone_fusion::{Evaluation, Maps};
use undertone_testkit::channel::{channel, response};
use undertone_testkit::golden::assert_golden;

#[test]
fn one_sensor_that_reveals_everything() {
    assert_golden("I01", bell(0, 0)[5]);
    let model = ga(1);
    let seen = Evaluation::new(&model, &Maps::identity(&model).unwrap()).unwrap();
    assert_golden("I02", seen.error_public);
    assert_golden("I03", seen.error_private);
    assert_golden("I04", seen.public_information);
    assert_golden("I06", seen.information.nats);
    assert_eq!(seen.ldp, vec![f64::INFINITY]);
}

#[test]
fn six_sensors_with_thresholds() {
    let model = ga(6);
    let seen = Evaluation::new(&model, &Maps::same(&model, &threshold()).unwrap()).unwrap();
    assert_golden("I07", seen.error_public);
    assert_golden("I08", seen.error_private);
    assert_golden("I10", seen.public_information);
    assert_golden("I11", seen.private_information);
}

#[test]
fn six_sensors_with_randomised_response() {
    let model = ga(6);
    let map = threshold().then(&channel(&response(1.0))).unwrap();
    let seen = Evaluation::new(&model, &Maps::same(&model, &map).unwrap()).unwrap();
    assert_golden("I12", seen.error_public);
    assert_golden("I13", seen.error_private);
    assert_golden("I15", seen.sensor_information[0]);
    assert!(seen.ldp.iter().all(|nats| (nats - 1.0).abs() < 1e-12));
    let model = indep_first();
    let map = threshold().then(&channel(&response(2.0))).unwrap();
    let seen = Evaluation::new(&model, &Maps::same(&model, &map).unwrap()).unwrap();
    assert_golden("I16", seen.error_public);
}

#[test]
fn table_iv_with_signs() {
    let model = table_iv();
    let row = |x: i32| if x >= 0 { vec![0.0, 1.0] } else { vec![1.0, 0.0] };
    let map = Channel::new((-5..=5).map(row).collect()).unwrap();
    let seen = Evaluation::new(&model, &Maps::same(&model, &map).unwrap()).unwrap();
    assert_golden("I39", seen.error_public);
    assert_golden("I41", seen.sensor_information[0]);
}
