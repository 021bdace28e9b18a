//! Regressions against published fits, slow independent ones, and what they refuse.

use std::path::PathBuf;
use undertone_core::{Alphabet, Policy};
use undertone_estimate::regress::{
    Errors, Family, Formula, PredictorLaw, Regression, RegressionFit, TestKind, Variable, Variables,
};
use undertone_estimate::{Correlation, Evidence, EvidenceBuilder, Factor, Sample, SampleDesign};
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::{krr, loose, oue, table};

/// Warner's design and its like: the probability of yes given yes, and given no.
pub(crate) fn yes_no(given_yes: f64, given_no: f64) -> Policy {
    let rows = [vec![1.0 - given_no, given_no], vec![1.0 - given_yes, given_yes]];
    loose(Alphabet::indices(2).unwrap(), None, table(&rows))
}

pub(crate) fn regression(formula: &str) -> Regression {
    Regression::new(Formula::parse(formula).unwrap())
}

pub(crate) fn randomised(policy: &Policy, reports: &[u32]) -> Variable {
    Variable::Randomised { evidence: Evidence::randomised(policy, reports).unwrap(), values: None }
}

pub(crate) fn simple(variables: &Variables) -> Sample {
    Sample::simple(variables.rows())
}

fn estimates(fit: &RegressionFit) -> Vec<f64> {
    fit.coefficients.iter().map(|one| one.estimate).collect()
}

fn standard_errors(fit: &RegressionFit) -> Vec<f64> {
    fit.coefficients.iter().map(|one| one.standard_error).collect()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (one, other) in found.iter().zip(expected) {
        assert!((one - other).abs() <= tolerance, "{found:?} where {expected:?} is expected");
    }
}

/// A survey of `../shared/data`, row by row, without its header; nothing where it is not there.
fn survey(name: &str) -> Option<Vec<Vec<String>>> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let named = std::env::var_os("UNDERTONE_DATA").map(PathBuf::from);
    let folder = [Some(beside), named].into_iter().flatten().find(|folder| folder.exists());
    let Some(text) = folder.and_then(|folder| std::fs::read_to_string(folder.join(name)).ok())
    else {
        println!("skipped: no ../shared/data/{name}");
        return None;
    };
    let cells =
        |line: &str| line.split(',').map(|cell| cell.trim_matches('"').to_owned()).collect();
    Some(text.lines().skip(1).map(cells).collect())
}

/// Rows asked directly and by crosswise questions, as GLMMRR publishes them: complete cases.
fn plagiarism() -> Option<(Variables, Factor)> {
    let rows = survey("surveys/plagiarism.csv")?;
    let crosswise = yes_no(0.25, 0.75);
    let mut builder = EvidenceBuilder::of_policy(&crosswise).unwrap();
    let (clear, randomised) = (builder.clear(), builder.design(&crosswise).unwrap());
    let mut columns = vec![Vec::new(); 4];
    let mut people: Vec<String> = Vec::new();
    let mut codes = Vec::new();
    for row in &rows {
        let places = [3, 6, 5, 4];
        let numbers: Option<Vec<f64>> = places.iter().map(|&at| row[at].parse().ok()).collect();
        let (Some(numbers), Ok(response)) = (numbers, row[2].parse()) else { continue };
        let design = if row[9] == "DQ" { clear } else { randomised };
        builder.push_index(design, response).unwrap();
        columns.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
        let person = people.iter().position(|id| *id == row[0]).unwrap_or_else(|| {
            people.push(row[0].clone());
            people.len() - 1
        });
        codes.push(person as u32);
    }
    let evidence = builder.finish().unwrap();
    let mut variables =
        Variables::new().with("response", Variable::Randomised { evidence, values: None }).unwrap();
    for (name, column) in ["Gender", "RR", "pp", "age"].into_iter().zip(columns) {
        variables = variables.with(name, Variable::Number(column)).unwrap();
    }
    Some((variables, Factor::new(people, codes).unwrap()))
}

/// The maximum of the likelihood that GLMMRR's example stops short of.
#[test]
fn the_plagiarism_survey() {
    let Some((variables, people)) = plagiarism() else { return };
    let asked = regression("response ~ Gender + RR + pp + age");
    let fit = asked.fit(&variables, &simple(&variables)).unwrap();
    assert_eq!((fit.n, fit.family, fit.errors), (802, Family::Logistic, Errors::Expected));
    assert!((fit.log_likelihood.unwrap() + 400.444_595).abs() < 1e-6);
    close(&estimates(&fit), &[0.834954, -0.044124, 1.332362, 2.389940, -0.263068], 1e-6);
    close(&standard_errors(&fit), &[3.0728, 0.51915, 0.52268, 1.08441, 0.13266], 5e-5);
    let observed =
        asked.clone().errors(Errors::Observed).fit(&variables, &simple(&variables)).unwrap();
    assert!((observed.coefficients[3].standard_error - 0.9557).abs() < 5e-5);
    // Several answers of one person are not independent.
    let design = SampleDesign { clusters: Some(people), ..SampleDesign::default() };
    let clustered = asked.fit(&variables, &Sample::new(802, design).unwrap()).unwrap();
    assert_eq!(clustered.errors, Errors::Robust);
    close(&estimates(&clustered), &estimates(&fit), 1e-9);
    println!("clustered {:?}", standard_errors(&clustered));
}

/// The fit of a clear outcome is ordinary logistic regression, here by weighted least squares and Gaussian elimination.
#[test]
fn a_clear_outcome_is_ordinary_logistic_regression() {
    let mut dice = Dice::new(171);
    for round in 0..20 {
        let n = 300;
        let x: Vec<f64> = (0..n).map(|_| dice.between(-2.0, 2.0)).collect();
        let z: Vec<f64> = (0..n).map(|_| f64::from(u8::from(dice.unit() < 0.4))).collect();
        let outcome = |(x, z): (&f64, &f64)| {
            let p = 1.0 / (1.0 + (-(0.3 + 0.8 * x - z)).exp());
            u32::from(dice.unit() < p)
        };
        let y: Vec<u32> = x.iter().zip(&z).map(outcome).collect();
        let rows: Vec<Vec<f64>> = x.iter().zip(&z).map(|(x, z)| vec![1.0, *x, *z, x * z]).collect();
        let (expected, covariance) = slow_logistic(&rows, &y);
        let factor = Factor::new(vec!["no".into(), "yes".into()], y).unwrap();
        let variables = Variables::new()
            .with("y", Variable::Category(factor))
            .unwrap()
            .with("x", Variable::Number(x))
            .unwrap()
            .with("z", Variable::Number(z))
            .unwrap();
        let fit = regression("y ~ x*z").fit(&variables, &simple(&variables)).unwrap();
        close(&estimates(&fit), &expected, 1e-8);
        for (i, one) in fit.coefficients.iter().enumerate() {
            assert!((one.standard_error - covariance[i][i].sqrt()).abs() < 1e-8, "{round}");
        }
    }
}

/// Iterated weighted least squares, and the inverse of the information.
fn slow_logistic(rows: &[Vec<f64>], y: &[u32]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let width = rows[0].len();
    let mut beta = vec![0.0; width];
    loop {
        let mut information = vec![vec![0.0; width]; width];
        let mut score = vec![0.0; width];
        for (row, &y) in rows.iter().zip(y) {
            let eta: f64 = row.iter().zip(&beta).map(|(x, b)| x * b).sum();
            let p = 1.0 / (1.0 + (-eta).exp());
            for i in 0..width {
                score[i] += (f64::from(y) - p) * row[i];
                for j in 0..width {
                    information[i][j] += p * (1.0 - p) * row[i] * row[j];
                }
            }
        }
        let inverse = undertone_numeric::dense::inverse(information).unwrap();
        let step: Vec<f64> =
            inverse.iter().map(|row| row.iter().zip(&score).map(|(a, b)| a * b).sum()).collect();
        beta.iter_mut().zip(&step).for_each(|(b, s)| *b += s);
        if step.iter().all(|step| step.abs() < 1e-12) {
            return (beta, inverse);
        }
    }
}

/// Rows that repeat are summed over once, with the same result as one by one.
#[test]
fn grouped_rows_are_fitted_as_single_ones() {
    let mut dice = Dice::new(172);
    let policy = krr(Alphabet::indices(3).unwrap(), None, "2");
    let n = 2000;
    let group: Vec<u32> = (0..n).map(|_| dice.below(3) as u32).collect();
    let reports: Vec<u32> =
        group.iter().map(|&g| dice.draw(&[1.0, 1.0 + f64::from(g), 1.0]) as u32).collect();
    // Numbers that are alike but for a trace are different rows.
    let jittered: Vec<f64> = group.iter().map(|&g| f64::from(g) + 1e-12 * dice.unit()).collect();
    let plain: Vec<f64> = group.iter().map(|&g| f64::from(g)).collect();
    let fit = |numbers: Vec<f64>| {
        let variables = Variables::new()
            .with("y", randomised(&policy, &reports))
            .unwrap()
            .with("x", Variable::Number(numbers))
            .unwrap();
        regression("y ~ x").with_tests().fit(&variables, &simple(&variables)).unwrap()
    };
    let (one, other) = (fit(plain), fit(jittered));
    close(&estimates(&one), &estimates(&other), 1e-9);
    close(&standard_errors(&one), &standard_errors(&other), 1e-9);
    assert!((one.log_likelihood.unwrap() - other.log_likelihood.unwrap()).abs() < 1e-7);
    assert_eq!((one.tests[0].degrees, one.tests[0].kind), (2, TestKind::LikelihoodRatio));
    assert!((one.tests[0].statistic - other.tests[0].statistic).abs() < 1e-7);
}

/// Derivatives of the whole likelihood, hidden predictors included, against differences: the observed errors are those of the
/// curvature of the log-likelihood, and weights that repeat rows are repeated rows.
#[test]
fn repeated_rows_and_weights() {
    let mut dice = Dice::new(173);
    let policy = yes_no(0.8, 0.2);
    let n = 400;
    let z: Vec<f64> = (0..n).map(|_| dice.between(-1.0, 1.0)).collect();
    let x: Vec<u32> = z.iter().map(|z| u32::from(dice.unit() < 0.5 + 0.2 * z)).collect();
    let y: Vec<u32> =
        x.iter().map(|&x| u32::from(dice.unit() < 0.3 + 0.3 * f64::from(x))).collect();
    let build = |rows: &[usize]| {
        let pick = |codes: &[u32]| rows.iter().map(|&row| codes[row]).collect::<Vec<_>>();
        Variables::new()
            .with("y", randomised(&policy, &pick(&y)))
            .unwrap()
            .with("x", randomised(&policy, &pick(&x)))
            .unwrap()
            .with("z", Variable::Number(rows.iter().map(|&row| z[row]).collect()))
            .unwrap()
    };
    let once: Vec<usize> = (0..n).collect();
    let twice: Vec<usize> = (0..n).chain((0..n).filter(|row| row % 2 == 0)).collect();
    let weights = (0..n).map(|row| if row % 2 == 0 { 2.0 } else { 1.0 }).collect();
    let design = SampleDesign { weights: Some(weights), ..SampleDesign::default() };
    let weighted =
        regression("y ~ x + z").fit(&build(&once), &Sample::new(n, design).unwrap()).unwrap();
    let repeated =
        regression("y ~ x + z").fit(&build(&twice), &Sample::simple(twice.len())).unwrap();
    close(&estimates(&weighted), &estimates(&repeated), 1e-7);
    assert_eq!((weighted.errors, repeated.errors), (Errors::Robust, Errors::Expected));
}

/// With logit, randomised predictors may go with the clear ones; supposed independent of them, coefficients are biased.
#[test]
fn the_law_of_randomised_predictors_matters() {
    let mut dice = Dice::new(174);
    let n = 40_000;
    let policy = yes_no(0.8, 0.2);
    let (mut z, mut reports, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let own = normal(&mut dice);
        let x = u32::from(dice.unit() < 1.0 / (1.0 + (-own).exp()));
        let report = u32::from(dice.unit() < if x == 1 { 0.8 } else { 0.2 });
        y.push(1.0 + f64::from(x) + 0.5 * own + normal(&mut dice));
        z.push(own);
        reports.push(report);
    }
    let variables = Variables::new()
        .with("y", Variable::Number(y))
        .unwrap()
        .with("x", randomised(&policy, &reports))
        .unwrap()
        .with("z", Variable::Number(z))
        .unwrap();
    let logit = regression("y ~ x + z").fit(&variables, &simple(&variables)).unwrap();
    let independent = regression("y ~ x + z")
        .predictors(PredictorLaw::Independent)
        .fit(&variables, &simple(&variables))
        .unwrap();
    println!("logit {:.3?}, independent {:.3?}", estimates(&logit), estimates(&independent));
    assert_eq!(logit.errors, Errors::Observed);
    close(&estimates(&logit), &[1.0, 1.0, 0.5], 0.05);
    let wrong = estimates(&independent);
    assert!(wrong[0] > 1.03 && wrong[1] < 0.9 && wrong[2] > 0.6, "{wrong:?}");
    assert!(logit.assumptions.iter().any(|words| words.contains("multinomial logit on z")));
    assert!(independent.assumptions.iter().any(|words| words.contains("nothing to do with")));
}

/// A standard normal number.
pub(crate) fn normal(dice: &mut Dice) -> f64 {
    (-2.0 * dice.open_unit().ln()).sqrt() * (std::f64::consts::TAU * dice.unit()).cos()
}

/// One symbol of five against the rest, from k-ary randomised response and from bits, is the fit of two symbols.
#[test]
fn a_symbol_against_the_rest() {
    let mut dice = Dice::new(175);
    let n = 20_000;
    let x: Vec<f64> = (0..n).map(|_| dice.between(-1.0, 1.0)).collect();
    let draw = |x: &f64, dice: &mut Dice| {
        let p = 1.0 / (1.0 + (1.0 - x).exp());
        if dice.unit() < p { 3 } else { [0, 1, 2, 4][dice.below(4)] }
    };
    let truth: Vec<usize> = x.iter().map(|x| draw(x, &mut dice)).collect();
    let five = krr(Alphabet::indices(5).unwrap(), None, "2");
    let bits = oue(5, None, "2");
    let mut outputs = Vec::new();
    let mut builder = EvidenceBuilder::of_policy(&bits).unwrap();
    let design = builder.design(&bits).unwrap();
    for &own in &truth {
        let symbol = |policy: &Policy| policy.inputs().symbol(own).unwrap();
        outputs.push(five.draw(symbol(&five), &mut dice).unwrap());
        builder.push(design, &bits.draw(symbol(&bits), &mut dice).unwrap()).unwrap();
    }
    let mut of_five = EvidenceBuilder::of_policy(&five).unwrap();
    let own = of_five.design(&five).unwrap();
    outputs.iter().for_each(|token| of_five.push(own, token).unwrap());
    for evidence in [of_five.finish().unwrap(), builder.finish().unwrap()] {
        let variables = Variables::new()
            .with("y", Variable::Randomised { evidence, values: None })
            .unwrap()
            .with("x", Variable::Number(x.clone()))
            .unwrap();
        let fit = regression("y ~ x")
            .event("3")
            .family(Family::Logistic)
            .fit(&variables, &simple(&variables))
            .unwrap();
        println!("{:?} {:?}", estimates(&fit), standard_errors(&fit));
        for (one, truth) in fit.coefficients.iter().zip([-1.0, 1.0]) {
            assert!((one.estimate - truth).abs() < 4.0 * one.standard_error, "{one:?}");
        }
        let shares = regression("y ~ x")
            .family(Family::Multinomial)
            .fit(&variables, &simple(&variables))
            .unwrap();
        let all: f64 = shares.predict(&[("x", "0.5")]).unwrap().iter().map(|one| one.value).sum();
        assert!((all - 1.0).abs() < 1e-12);
        let three = &shares.predict(&[("x", "0.5")]).unwrap()[3];
        let alone = &fit.predict(&[("x", "0.5")]).unwrap()[0];
        assert!(
            (three.value - alone.value).abs() < 3.0 * three.standard_error,
            "{three:?} {alone:?}"
        );
    }
}

/// Three randomised predictors of twelve symbols are 1,728 cases of every row and hundreds of coefficients: an hour of work, refused before it.
#[test]
fn more_work_than_an_hour_is_refused_before_it() {
    let policy = krr(Alphabet::indices(12).unwrap(), None, "2");
    let mut dice = Dice::new(12);
    let mut variables = Variables::new();
    for name in ["a", "b", "c"] {
        let reports: Vec<u32> = (0..2000).map(|_| (12.0 * dice.unit()) as u32).collect();
        variables = variables.with(name, randomised(&policy, &reports)).unwrap();
    }
    let numbers = |dice: &mut Dice| Variable::Number((0..2000).map(|_| normal(dice)).collect());
    let variables = variables.with("y", numbers(&mut dice)).unwrap();
    let variables = variables.with("z", numbers(&mut dice)).unwrap();
    let asked = regression("y ~ a + b + c + z");
    let words = asked.fit(&variables, &simple(&variables)).unwrap_err().to_string();
    assert!(words.contains("too much work") && words.contains("merge symbols"), "{words}");
}

/// What cannot be fitted is refused in words that name the term and the fix.
#[test]
fn refusals() {
    let policy = yes_no(0.8, 0.2);
    let n = 600;
    let group: Vec<f64> = (0..n).map(|row| f64::from(row % 2)).collect();
    // Everybody in the first group reports no: fewer yeses than the design gives of nobody.
    let reports: Vec<u32> = (0..n).map(|row| u32::from(row % 2 == 1 && row % 3 == 0)).collect();
    let clear: Vec<f64> = (0..n).map(|row| f64::from(row % 2)).collect();
    let regions =
        Factor::new(vec!["north".into(), "south".into()], (0..n).map(|row| row % 2).collect())
            .unwrap();
    let variables = Variables::new()
        .with("y", randomised(&policy, &reports))
        .unwrap()
        .with("clear", Variable::Number(clear))
        .unwrap()
        .with("group", Variable::Number(group.clone()))
        .unwrap()
        .with("twice", Variable::Number(group.iter().map(|g| 2.0 * g + 1.0).collect()))
        .unwrap()
        .with("z", Variable::Number((0..n).map(|row| f64::from(row % 7)).collect()))
        .unwrap()
        .with("region", Variable::Category(regions))
        .unwrap()
        .with("noise", randomised(&yes_no(0.5, 0.5), &reports))
        .unwrap()
        .with("half", randomised(&policy, &(0..n).map(|row| row / 3 % 2).collect::<Vec<_>>()))
        .unwrap();
    let words =
        |asked: Regression| asked.fit(&variables, &simple(&variables)).unwrap_err().to_string();
    for (formula, expected) in [
        ("y ~ group", "no finite maximum"),
        ("clear ~ group", "no finite maximum"),
        ("y ~ group + twice", "twice adds nothing"),
        ("y ~ group + twice", "(Intercept), group"),
        ("y ~ z + region + group", "sum of multiples"),
        ("y ~ z + offset(region)", "clear numbers"),
        ("y ~ absent", "there is no column absent"),
        ("y ~ C(region, ref=west)", "it has north, south"),
        ("noise ~ z", "singular"),
        ("z ~ noise", "singular"),
    ] {
        let found = words(regression(formula));
        assert!(found.contains(expected), "{formula}: {found}");
    }
    assert!(words(regression("clear ~ z + group")).contains("group to infinity"));
    assert!(words(regression("region ~ z").family(Family::Linear)).contains("needs numbers"));
    assert!(words(regression("z ~ half").errors(Errors::Expected)).contains("ask for observed"));
    assert!(words(regression("y ~ z").event("7")).contains("no symbol 7"));
}

/// Persons whose two answers go together: the deviation of their intercepts and the slope are found.
#[test]
fn random_intercepts() {
    let mut dice = Dice::new(176);
    let policy = yes_no(0.9, 0.1);
    let (people, each) = (1500, 4);
    let (mut y, mut x, mut codes) = (Vec::new(), Vec::new(), Vec::new());
    for person in 0..people {
        let own = 1.2 * normal(&mut dice);
        for _ in 0..each {
            let number = normal(&mut dice);
            let answer = dice.unit() < 1.0 / (1.0 + (-(0.3 + 0.8 * number + own)).exp());
            y.push(u32::from(dice.unit() < if answer { 0.9 } else { 0.1 }));
            x.push(number);
            codes.push(person);
        }
    }
    let clusters = Factor::new((0..people).map(|p| p.to_string()).collect(), codes).unwrap();
    let variables = Variables::new()
        .with("y", randomised(&policy, &y))
        .unwrap()
        .with("x", Variable::Number(x.clone()))
        .unwrap();
    let asked = regression("y ~ x").random_intercepts(clusters.clone()).with_tests();
    let fit = asked.fit(&variables, &simple(&variables)).unwrap();
    let intercepts = fit.random_intercepts.as_ref().unwrap();
    println!("{:?} {intercepts:?} {:?}", fit.coefficients, fit.tests);
    for (one, truth) in fit.coefficients.iter().zip([0.3, 0.8]) {
        assert!((one.estimate - truth).abs() < 4.0 * one.standard_error, "{one:?}");
    }
    assert!(intercepts.low < 1.2 && 1.2 < intercepts.high && intercepts.p_value < 1e-6);
    assert!(fit.tests[0].p_value < 1e-6);
    // The quadrature against a plain sum, and the maximum against its neighbours.
    let evidence = Evidence::randomised(&policy, &y).unwrap();
    let at = |change: [f64; 3]| {
        let beta = estimates(&fit);
        let etas: Vec<f64> =
            x.iter().map(|x| beta[0] + change[0] + (beta[1] + change[1]) * x).collect();
        on_a_grid(&evidence, &etas, &clusters, intercepts.deviation + change[2])
    };
    let top = at([0.0; 3]);
    assert!((fit.log_likelihood.unwrap() - top).abs() < 1e-6, "{top}");
    for place in 0..3 {
        for step in [-0.01, 0.01] {
            let mut change = [0.0; 3];
            change[place] = step;
            assert!(at(change) < top, "{place} {step}");
        }
    }
    // Answers that have nothing to do with the person: no deviation, and the plain fit.
    let shuffled: Vec<u32> = dice
        .order(people as usize * each)
        .iter()
        .map(|row| (row % people as usize) as u32)
        .collect();
    let others = Factor::new((0..people).map(|p| p.to_string()).collect(), shuffled).unwrap();
    let none =
        regression("y ~ x").random_intercepts(others).fit(&variables, &simple(&variables)).unwrap();
    assert!(none.random_intercepts.as_ref().unwrap().p_value > 0.001);
}

/// Two answers of one person in the plagiarism survey do not tell how people differ: at best estimates of the others, the
/// log-likelihood is -399.807, -398.799, -397.597 and -397.162 at deviations of 0.8, 1.5, 3 and 6.
#[test]
fn intercepts_of_the_plagiarism_survey() {
    let Some((variables, people)) = plagiarism() else { return };
    let asked = regression("response ~ Gender + RR + pp + age").random_intercepts(people);
    let words = asked.fit(&variables, &simple(&variables)).unwrap_err().to_string();
    assert!(words.contains("keeps rising with the deviation"), "{words}");
}

/// The log-likelihood of clusters with random intercepts, summed over 1,201 of them.
fn on_a_grid(evidence: &Evidence, etas: &[f64], clusters: &Factor, deviation: f64) -> f64 {
    let grid: Vec<f64> = (0..=1200).map(|at| (f64::from(at) - 600.0) / 75.0).collect();
    let masses: Vec<f64> = grid.iter().map(|z| (-0.5 * z * z).exp()).collect();
    let all: f64 = masses.iter().sum();
    let mut likelihoods = vec![masses; clusters.levels().len()];
    for ((eta, &cluster), &code) in etas.iter().zip(clusters.codes()).zip(evidence.codes()) {
        let given = evidence.likelihood(code);
        for (mass, z) in likelihoods[cluster as usize].iter_mut().zip(&grid) {
            let p = 1.0 / (1.0 + (-(eta + deviation * z)).exp());
            *mass *= given[0] * (1.0 - p) + given[1] * p;
        }
    }
    likelihoods.iter().map(|masses| (masses.iter().sum::<f64>() / all).ln()).sum()
}

/// Correlations of the true numbers, whatever is randomised; the plain correlation of reports is nearer to nought.
#[test]
fn correlations_of_hidden_numbers() {
    let mut dice = Dice::new(177);
    let policy = yes_no(0.8, 0.2);
    let (surveys, n) = (200u32, 1000);
    // A normal number and whether another, correlated with it by a half, is above nought: .5 · √(2/π).
    let truth = 0.5 * (2.0 / std::f64::consts::PI).sqrt();
    let (mut held, mut sum) = (0u32, 0.0);
    for _ in 0..surveys {
        let (mut number, mut reports) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let own = normal(&mut dice);
            let other = 0.5 * own + 0.75f64.sqrt() * normal(&mut dice);
            number.push(own);
            reports.push(u32::from(dice.unit() < if other > 0.0 { 0.8 } else { 0.2 }));
        }
        let (number, reports) = (Variable::Number(number), randomised(&policy, &reports));
        let found =
            Correlation::new(("a", &number), ("b", &reports), &Sample::simple(n), 0.95).unwrap();
        held += u32::from(found.low <= truth && truth <= found.high);
        sum += found.value;
    }
    println!("correlations: mean {}, covered {held} of {surveys}", sum / f64::from(surveys));
    // Four standard errors each: 1.54 points of coverage, .0036 of the mean.
    assert!((f64::from(held) / f64::from(surveys) - 0.95).abs() < 0.0617);
    assert!((sum / f64::from(surveys) - truth).abs() < 0.015);
}
