//! Numbers from a column to a policy: `prior fit --mixture`, `design --method
//! laplace|gaussian|sampling|optimal`.
use crate::common::{Scratch, complaint, json, undertone};
use serde_json::Value;

const SKEWED: &str = "[0.5333333333333333,0.3333333333333333,0.1333333333333334]";
const FIGURE_10: &str = "[0.43333333333333335,0.3333333333333333,0.23333333333333334]";

#[track_caller]
fn near(value: &Value, expected: f64, tolerance: f64) {
    let found = value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"));
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// A command line without quotes.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// X = {0, 1.5, 3} on [0, 3], as in STL19.
fn three(prior: &str, more: &[&str]) -> (i32, Value) {
    let base = ["design", "--points", "0,1.5,3", "--range", "0,3", "--prior", prior];
    json(&[&base[..], more].concat())
}

#[test]
fn laplace_scales_are_the_golden_ones() {
    let dir = Scratch::new("laplace");
    let prior = dir.file("p.json", SKEWED);
    let out = dir.path("policy.json");
    let (code, value) = three(&prior, &["--method", "laplace", "--protect", "lip:1", "-o", &out]);
    assert_eq!(code, 0, "{value}");
    near(&value["parameters"]["scale"], 2.19773567498, 1e-10);
    near(&value["parameters"]["mse"], 1.576, 5e-4);
    near(&value["density"]["attained"], 1.0, 1e-9);
    assert!(value["attained"]["lip"].as_f64().unwrap() < 1.0, "bins leak less than the density");
    assert!(value["published"].is_null());
    // Closed form beside the table's own error, and the optimum below both.
    near(&value["utility"], value["parameters"]["mse"].as_f64().unwrap(), 1e-3);
    assert!(value["bound"].as_f64().unwrap() < 0.76);
    let (code, checked) = json(&["policy", "verify", &out]);
    assert_eq!((code, &checked["policy_id"]), (0, &value["policy_id"]));
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(document["inputs"]["points"], serde_json::json!(["0", "1.5", "3"]));
    assert_eq!(document["outputs"]["edges"].as_array().unwrap().len(), 65);

    let (_, value) =
        three(&prior, &["--method", "laplace", "--protect", "lip:3", "--scale", "closed"]);
    near(&value["parameters"]["scale"], 0.956498317354, 1e-9);
    for method in [&["--method", "published"][..], &["--method", "laplace", "--scale", "published"]]
    {
        let (code, value) = three(&prior, &[method, &["--protect", "lip:3"]].concat());
        assert_eq!(code, 0);
        near(&value["parameters"]["scale"], 1.0, 1e-9);
        assert!(value["published"]["attained"].as_f64().unwrap() < 3.0, "valid, and loose");
    }
    let (_, value) =
        three(&prior, &["--method", "laplace", "--protect", "lip:1", "--scale", "table"]);
    assert!(value["parameters"]["scale"].as_f64().unwrap() < 2.1977);
    near(&value["attained"]["lip"], 1.0, 1e-6);
}

#[test]
fn a_scale_that_leaks_is_refused_with_its_leakage() {
    let dir = Scratch::new("scale");
    let prior = dir.file("p.json", SKEWED);
    let given = ["--method", "laplace", "--protect", "lip:1", "--scale", "2"];
    let (code, value) = three(&prior, &given);
    assert_eq!((code, &value["policy_id"]), (1, &Value::Null), "{value}");
    near(&value["density"]["attained"], 1.11286605501, 1e-9);
    near(&value["parameters"]["mse"], 1.51701154535, 1e-9);
    assert!(value["refusal"]["message"].as_str().unwrap().contains("belief falls"), "{value}");
    let (code, value) = three(&prior, &[&given[..], &["--accept"]].concat());
    assert_eq!(code, 0);
    assert!(value["attained"]["lip"].as_f64().unwrap() > 1.0);
    let said = String::from_utf8(
        undertone(&[
            "design",
            "--points",
            "0,1.5,3",
            "--range",
            "0,3",
            "--prior",
            &prior,
            "--method",
            "laplace",
            "--protect",
            "lip:1",
            "--scale",
            "2",
        ])
        .stdout,
    )
    .unwrap();
    assert!(said.contains("REFUSED") && said.contains("1.1128660"), "{said}");
}

#[test]
fn alpha_is_calibrated_and_guesses_are_refused() {
    let dir = Scratch::new("alpha");
    let prior = dir.file("p.json", FIGURE_10);
    let instance = ["--method", "laplace", "--protect", "lip:1", "--scale", "instance"];
    let (code, value) = three(&prior, &instance);
    assert_eq!(code, 0, "{value}");
    near(&value["parameters"]["alpha"], 1.727845828, 1e-8);
    near(&value["parameters"]["mse"], 1.4652, 5e-5);
    assert_eq!(value["parameters"]["scale"].as_array().unwrap().len(), 3);
    let two = dir.file("two.json", "[0.9,0.1]");
    let guess = |alpha: &str| {
        json(&[
            "design",
            "--points",
            "0,1",
            "--range",
            "0,1",
            "--prior",
            &two,
            "--method",
            "laplace",
            "--scale",
            "instance",
            "--alpha",
            alpha,
            "--protect",
            "lip:1",
            "--bins",
            "200",
        ])
    };
    for alpha in ["1", "0.6321"] {
        let (code, value) = guess(alpha);
        assert_eq!(code, 1, "{alpha}");
        assert!(value["published"]["attained"].as_f64().unwrap() > 1.01, "{value}");
    }
    assert_eq!(guess("0").0, 0);
    assert_eq!(guess("0.15").0, 0);
}

/// 41 points on [-10, 10], clipped normal data: the printed deviations need δ = .0487 for the 1e-4 claimed.
#[test]
fn the_printed_gaussian_is_refused_with_its_true_delta() {
    let points: Vec<String> = (0..=40).map(|k| (f64::from(k) / 2.0 - 10.0).to_string()).collect();
    let points = points.join(",");
    let base = [
        "design",
        "--points",
        &points,
        "--range=-10,10",
        "--density",
        "normal:0,5",
        "--protect",
        "lip:2,0.0001",
    ];
    for method in
        [&["--method", "gaussian", "--sigma", "published"][..], &["--method", "published"]]
    {
        let (code, value) = json(&[&base[..], method].concat());
        assert_eq!((code, &value["policy_id"]), (1, &Value::Null));
        near(&value["published"]["delta"]["attained"], 0.0487, 5e-5);
        near(&value["published"]["delta"]["claimed"], 1e-4, 1e-12);
        assert!(value["published"]["attained"].as_f64().unwrap() > 15.0, "{}", value["published"]);
        let sigma = value["parameters"]["sigma"].as_array().unwrap();
        near(&sigma[20], 8.53, 0.006);
        near(&sigma[40], 20.66, 0.006);
        near(&sigma[30], 13.6417853458, 1e-6);
    }
    // Over a wide range the table itself is refused by the kernel; accepted, it claims its own δ.
    let wide = ["--method", "published", "--output-range=-60,60", "--output-bins", "120"];
    let (code, value) = json(&[&base[..], &wide].concat());
    assert_eq!(code, 1);
    let delta = value["refusal"]["delta"].as_f64().unwrap();
    assert!(delta > 0.02 && delta < 0.0487, "{delta}");
    let (code, value) = json(&[&base[..], &wide, &["--accept"]].concat());
    assert_eq!(code, 0, "{value}");
    near(&value["attained"]["delta"], delta, 1e-6);
}

#[test]
fn gaussian_noise_ships_within_its_delta() {
    let dir = Scratch::new("gaussian");
    let out = dir.path("policy.json");
    let base = words(
        "design --density normal:50,15 --range 0,100 --bins 20 --protect lip:1.5,0.001 --method gaussian",
    );
    let (code, value) = json(&[&base[..], &["-o", &out]].concat());
    assert_eq!(code, 0, "{value}");
    assert!(value["attained"]["delta"].as_f64().unwrap() <= 0.001);
    let parameters = &value["parameters"];
    let number = |name: &str| parameters[name].as_f64().unwrap();
    assert!(number("sigma") < number("sigma_analytic"));
    assert!(number("sigma_analytic") < number("sigma_vanilla"));
    near(&value["clipped"][0], 4.290603e-4, 1e-9);
    let (code, checked) = json(&["policy", "verify", &out]);
    assert_eq!((code, &checked["policy_id"]), (0, &value["policy_id"]));
    for sigma in ["floor", "analytic", "vanilla", "400"] {
        let (code, value) = json(&[&base[..], &["--sigma", sigma]].concat());
        assert_eq!(code, 0, "{sigma}: {value}");
        assert!(value["attained"]["delta"].as_f64().unwrap() <= 0.001);
    }
    let (code, value) = json(&[&base[..], &["--sigma", "5"]].concat());
    assert_eq!(code, 1);
    assert!(value["refusal"]["delta"].as_f64().unwrap() > 0.1, "{value}");
}

#[test]
fn sampling_and_the_optimum_over_the_same_bins() {
    let base = words("design --density beta:2,5,0,10 --range 0,10 --bins 10 --protect lip:1,0.01");
    let (code, sampled) = json(&[&base[..], &["--method", "sampling"]].concat());
    assert_eq!(code, 0, "{sampled}");
    let lambda = |value: &Value, name: &str| value["parameters"][name].as_f64().unwrap();
    near(&sampled["parameters"]["lambda"], lambda(&sampled, "lambda_conditional"), 1e-9);
    // JSTL21 Proposition 2, for data without atoms.
    near(&sampled["parameters"]["lambda_published"], 0.0271828182846, 1e-8);
    let (code, posterior) =
        json(&[&base[..], &["--method", "sampling", "--convention", "posterior"]].concat());
    assert_eq!(code, 0);
    near(&posterior["parameters"]["lambda"], lambda(&posterior, "lambda_posterior"), 1e-9);
    assert!(lambda(&posterior, "lambda") > lambda(&sampled, "lambda"));
    let claim = posterior["claims"][0].as_str().unwrap();
    assert!(claim.starts_with("lip:1 with delta "), "restated in the kernel's convention: {claim}");
    let (code, optimum) = json(&base);
    assert_eq!(code, 0);
    let utility = |value: &Value| value["utility"].as_f64().unwrap();
    assert!(utility(&optimum) < utility(&sampled));
    near(&sampled["bound"], utility(&optimum), 1e-6);
    // The best estimate from the output beats reading the output as the number.
    let law = ["design", "--density", "beta:2,5,0,10", "--range", "0,10", "--bins", "6"];
    let (code, mmse) = json(&[&law[..], &["--protect", "lip:1", "--objective", "mmse"]].concat());
    assert_eq!(code, 0, "{mmse}");
    let (_, read) = json(&[&law[..], &["--protect", "lip:1"]].concat());
    assert!(utility(&mmse) < utility(&read));
}

/// Two groups of salaries, deterministic: normal quantiles around 30 and 70 thousand.
fn salaries() -> String {
    let mut rows = String::from("name,pay\n");
    for i in 0..600 {
        // A logistic curve is near enough to a normal one.
        let u = (f64::from(i) + 0.5) / 600.0;
        let z = (u / (1.0 - u)).ln() / 1.7;
        rows += &format!("a{i},{:.2}\n", 30_000.0 + 4_000.0 * z);
        if i % 3 != 0 {
            rows += &format!("b{i},{:.2}\n", 70_000.0 + 9_000.0 * z);
        }
    }
    rows + "c,250000\n"
}

#[test]
fn a_column_becomes_a_mixture_a_picture_and_a_policy() {
    let dir = Scratch::new("mixture");
    let data = dir.file("pay.csv", &salaries());
    let (out, plot) = (dir.path("prior.json"), dir.path("fit.svg"));
    let fit = ["prior", "fit", "--column", "pay", &data, "--range", "0,120000", "--bins", "24"];
    let (code, value) =
        json(&[&fit[..], &["--mixture", "2", "--plot", &plot, "-o", &out]].concat());
    assert_eq!(code, 0, "{value}");
    let parts = value["density"]["components"].as_array().unwrap();
    near(&parts[0]["mean"], 30_000.0, 500.0);
    near(&parts[1]["mean"], 70_000.0, 2_000.0);
    near(&parts[0]["weight"], 0.6, 0.02);
    assert_eq!(value["clipped"], serde_json::json!([0, 1]));
    assert_eq!(value["counts"].as_array().unwrap().len(), 24);
    let svg = std::fs::read_to_string(&plot).unwrap();
    for text in ["pay: 1001 observations", "fitted law", "its parts", "1 of them lie outside"] {
        assert!(svg.contains(text), "{text}");
    }
    let (_, auto) = json(&[&fit[..], &["--mixture", "auto"]].concat());
    assert!(auto["density"]["components"].as_array().unwrap().len() >= 2);
    assert!(auto["density"]["bic"].as_f64().unwrap() <= value["density"]["bic"].as_f64().unwrap());
    // The file says which bins there are; the policy carries them.
    let policy = dir.path("policy.json");
    for method in ["laplace", "sampling", "optimal"] {
        let (code, value) = json(&[
            "design",
            "--prior",
            &out,
            "--protect",
            "lip:1",
            "--method",
            method,
            "--allow-uninformative",
            "-o",
            &policy,
        ]);
        assert_eq!(code, 0, "{method}: {value}");
        assert_eq!(value["objective"], "squared");
        let document: Value =
            serde_json::from_str(&std::fs::read_to_string(&policy).unwrap()).unwrap();
        assert_eq!(document["inputs"]["edges"].as_array().unwrap().len(), 25, "{method}");
        assert_eq!(document["provenance"]["n"], 1001);
    }
    let (code, value) =
        json(&["design", "--prior", &out, "--protect", "lip:2,0.001", "--method", "published"]);
    assert_eq!(code, 1, "{value}");
    assert!(value["published"]["delta"]["attained"].as_f64().unwrap() > 0.01);
    // A law can be put in any bins, counted bins only be merged.
    let bins = |prior: &str, bins: &str| {
        let line = format!(
            "design --prior {prior} --range 0,120000 --bins {bins} --protect lip:1 --method laplace"
        );
        json(&words(&line))
    };
    let (code, value) = bins(&out, "16");
    assert_eq!((code, &value["codebook"]["inputs"]), (0, &16.into()), "{value}");
    let counted = dir.path("counted.json");
    let (_, counts) = json(&[&fit[..], &["-o", &counted]].concat());
    let (code, said) = bins(&counted, "16");
    let said = said["error"].as_str().unwrap();
    assert!(
        code == 1 && said.contains("24 bins from 0 to 120000") && said.contains("16 bins"),
        "{said}"
    );
    let (code, value) = bins(&counted, "12");
    assert_eq!(code, 0, "{value}");
    assert!(counts["density"].is_null() && value["floored"].as_array().unwrap().is_empty());
    // Two priors must have the same bins.
    let line = format!(
        "design --prior {out} --prior {counted} --protect lip:1 --method laplace --scale table"
    );
    assert_eq!(json(&words(&line)).0, 0);
    let (code, said) = complaint(&words(&format!("{line} --range 0,120000 --bins 12")));
    assert!(code == 1 && said.contains("24 bins"), "{said}");
    // Symbols of a binned prior are bins for the other methods too.
    let (code, _) =
        json(&["design", "--prior", &out, "--protect", "lip:1", "--method", "krr", "-o", &policy]);
    assert_eq!(code, 0);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&policy).unwrap()).unwrap();
    assert_eq!(document["inputs"]["edges"].as_array().unwrap().len(), 25);
    // Standard input is read once.
    let piped = std::process::Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["design", "--prior", "-", "--protect", "lip:1", "--method", "laplace", "--json"])
        .stdin(std::fs::File::open(&out).unwrap())
        .output()
        .unwrap();
    assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
}

#[test]
fn data_that_cannot_be_a_prior_is_refused_with_the_reason() {
    let dir = Scratch::new("refused");
    let data = dir.file("v.csv", "v\n1\n2\n3\n");
    let nan = dir.file("nan.csv", "v\n1\nNaN\n");
    let flat = dir.file("flat.csv", "v\n2\n2\n2\n");
    let fit = |path: &str, more: &[&str]| {
        complaint(&[&["prior", "fit", "--column", "v", path], more].concat())
    };
    let refused = |(code, said): (i32, String), expected: i32, texts: &[&str]| {
        assert_eq!(code, expected, "{said}");
        texts.iter().for_each(|text| assert!(said.contains(text), "{said} has no {text:?}"));
    };
    let bins = ["--bins", "4"];
    let clipped = fit(&data, &[&["--range", "10,20"], &bins[..]].concat());
    refused(clipped, 1, &["all 3 numbers lie outside", "3 below and 0 above", "--range"]);
    refused(fit(&data, &[&["--range", "20,10"], &bins[..]].concat()), 2, &["20,10", "below"]);
    refused(fit(&data, &[&["--range", "5,5"], &bins[..]].concat()), 2, &["5,5", "below"]);
    refused(fit(&nan, &["--range", "0,4", "--bins", "4", "--mixture", "1"]), 1, &["row 2", "NaN"]);
    refused(
        fit(&flat, &["--range", "0,4", "--bins", "4", "--mixture", "1"]),
        1,
        &["all values are 2"],
    );
    refused(
        fit(&data, &["--range", "0,4", "--bins", "4", "--mixture", "4"]),
        1,
        &["3 different values"],
    );
    refused(
        fit(&data, &["--range", "0,4", "--bins", "4", "--mixture", "0"]),
        2,
        &["1 to 16, or auto"],
    );
    refused(
        fit(&data, &["--range", "0,4", "--bins", "4", "--mixture", "x"]),
        2,
        &["1 to 16, or auto"],
    );
    refused(fit(&data, &["--mixture", "2"]), 2, &["--range"]);
    refused(fit(&data, &["--plot", "x.svg"]), 2, &["--range"]);
    // Bins that hold hardly anything are raised in the open.
    let (code, value) = json(&[
        "prior",
        "fit",
        "--column",
        "v",
        &data,
        "--range",
        "0,100",
        "--bins",
        "10",
        "--mixture",
        "1",
    ]);
    assert_eq!(code, 0);
    let floored = value["floored"].as_array().unwrap();
    assert!(floored.len() >= 8 && floored[0]["to"].as_f64().unwrap() > 0.0, "{value}");
}

#[test]
fn designs_that_cannot_be_are_refused_with_the_reason() {
    let dir = Scratch::new("words");
    let prior = dir.file("p.json", SKEWED);
    let binned = dir
        .file("bins.json", r#"{"symbols":["1","3"],"values":[1,3],"edges":[0,2,4],"p":[0.5,0.5]}"#);
    let broken = dir.file("broken.json", r#"{"symbols":["1","3"],"values":[1,3],"edges":[0,2,4],"p":[0.5,0.5],"density":{"kind":"mixture","components":[{"weight":1,"mean":0,"deviation":-1}]}}"#);
    let points = ["--points", "0,1.5,3", "--range", "0,3"];
    let normal = ["--density", "normal:0,5", "--range=-10,10", "--bins", "8"];
    let run = |prior: &[&str], more: &[&str]| complaint(&[&["design"], prior, more].concat());
    let own = ["--prior", &prior];
    let refused = |(code, said): (i32, String), expected: i32, texts: &[&str]| {
        assert_eq!(code, expected, "{said}");
        texts.iter().for_each(|text| assert!(said.contains(text), "{said} has no {text:?}"));
    };
    let pure = ["--protect", "lip:1"];
    let with = |parts: &[&[&str]]| run(&own, &parts.concat());
    refused(
        with(&[&["--points", "0,1.5,3", "--range", "3,0"], &pure]),
        2,
        &["range", "3,0", "below"],
    );
    refused(with(&[&["--points", "0,1.5,3", "--range", "3,3"], &pure]), 2, &["3,3"]);
    refused(with(&[&["--points", "0,1.5,4", "--range", "0,3"], &pure]), 2, &["points[2] is 4"]);
    refused(with(&[&["--points", "0,3,1.5", "--range", "0,3"], &pure]), 2, &["points"]);
    refused(
        with(&[&["--points", "0,x,3", "--range", "0,3"], &pure]),
        2,
        &["\"x\" is not a number"],
    );
    refused(with(&[&["--points", "0,1.5,3"], &pure]), 2, &["--range"]);
    refused(with(&[&["--range", "0,3"], &pure]), 2, &["--points", "--bins"]);
    refused(with(&[&["--range", "0,3", "--bins", "0"], &pure]), 2, &["bins is 0"]);
    refused(with(&[&["--range", "0,3", "--bins", "5"], &pure]), 1, &["3 probabilities", "5 bins"]);
    refused(with(&[&["--method", "laplace"], &pure]), 2, &["the data must be numbers"]);
    refused(with(&[&points, &["--protect", "lip:1,1"]]), 2, &["delta is 1", "below 1"]);
    refused(with(&[&points, &["--protect", "lip:1,-0.1"]]), 2, &["delta is -0.1"]);
    refused(with(&[&points, &["--protect", "lip:1,nan"]]), 2, &["NaN"]);
    refused(
        with(&[&points, &pure, &["--method", "laplace", "--scale", "wide"]]),
        2,
        &["\"wide\"", "exact"],
    );
    refused(
        with(&[&points, &pure, &["--method", "laplace", "--scale", "nan"]]),
        1,
        &["scale[0] is NaN"],
    );
    refused(
        with(&[&points, &pure, &["--method", "laplace", "--scale", "0"]]),
        1,
        &["scale[0] is 0"],
    );
    refused(
        with(&[&points, &pure, &["--method", "laplace", "--scale", "exact", "--alpha", "1"]]),
        2,
        &["instance"],
    );
    refused(with(&[&points, &pure, &["--method", "gaussian", "--scale", "1"]]), 2, &["laplace"]);
    refused(with(&[&points, &pure, &["--method", "laplace", "--sigma", "1"]]), 2, &["gaussian"]);
    refused(with(&[&points, &pure, &["--method", "krr"]]), 2, &["not for numbers"]);
    refused(with(&[&points, &pure, &["--objective", "hamming"]]), 2, &["squared"]);
    refused(with(&[&points, &pure, &["--convention", "mean"]]), 2, &["conditional"]);
    refused(
        with(&[&points, &pure, &["--method", "gaussian", "--sigma", "published"]]),
        1,
        &["delta above 0"],
    );
    refused(with(&[&points, &["--protect", "lip:0", "--method", "laplace"]]), 1, &["epsilon is 0"]);
    refused(
        with(&[&points, &["--protect", "lip:0", "--method", "gaussian"]]),
        1,
        &["sigma", "raise epsilon or delta"],
    );
    refused(with(&[&pure, &["--sigma", "floor"]]), 2, &["--sigma is for numbers"]);
    refused(
        with(&[&pure, &["--convention", "joint", "--method", "sampling"]]),
        2,
        &["--convention is for numbers"],
    );
    refused(run(&normal, &[&pure[..], &["--prior", &prior]].concat()), 2, &["--density"]);
    refused(
        run(&["--density", "normal:0,-5", "--range", "0,1", "--bins", "4"], &pure),
        2,
        &["deviation is -5"],
    );
    let beyond = run(&["--density", "uniform:5,6", "--range", "0,1", "--bins", "4"], &pure);
    refused(beyond, 1, &["all of it lies outside 0 to 1", "0 below and 1 above"]);
    refused(
        run(
            &["--prior", &binned],
            &["--protect", "lip:1", "--method", "laplace", "--range", "0,8", "--bins", "2"],
        ),
        1,
        &["2 bins from 0 to 4", "2 bins from 0 to 8"],
    );
    refused(
        run(&["--prior", &broken], &["--protect", "lip:1", "--method", "laplace"]),
        1,
        &["density", "deviation is -1"],
    );
    // A printed formula with a delta it knows nothing of.
    let two = dir.file("two.json", "[0.6,0.4]");
    refused(
        run(&["--prior", &two], &["--protect", "lip:1,0.1", "--method", "published"]),
        1,
        &["without delta"],
    );
}

#[test]
fn a_law_that_lies_outside_the_range_leaves_its_mark() {
    let line =
        "design --density uniform:5,6 --range 0,10 --bins 10 --protect lip:1 --method laplace";
    let (code, value) = json(&words(line));
    assert_eq!(code, 0, "{value}");
    assert_eq!(value["floored"].as_array().unwrap().len(), 9, "all but the sixth bin were empty");
    let text = undertone(&words(line));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("9 bins had no mass"), "{text}");
}
