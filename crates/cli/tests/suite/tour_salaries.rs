//! `docs/tour-salaries.md`: every command of the tour, as it stands there, on the city's data.
use std::path::Path;
use std::process::Command;

use crate::common::{self, Scratch, root};
use serde_json::Value;

/// The blocks marked as commands.
fn commands(tour: &str) -> Vec<&str> {
    tour.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect()
}

/// Runs a script in the folder of the tour; `undertone` is the binary under test.
fn bash(script: &str, folder: &str, data: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_undertone"));
    let folders =
        format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-e", "-c", script])
        .current_dir(folder)
        .env("PATH", folders)
        .env("DATA", data)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("panicked"), "{script}\n{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The private half's salaries, clipped, and as the bins' middles.
fn truth(folder: &str) -> (f64, f64, f64) {
    let text = std::fs::read_to_string(Path::new(folder).join("private.csv")).unwrap();
    let salaries: Vec<f64> = text
        .lines()
        .skip(1)
        .map(|line| line.rsplit(',').nth(1).unwrap().parse().unwrap())
        .collect();
    let mean = |of: &dyn Fn(f64) -> f64| {
        salaries.iter().map(|&salary| of(salary)).sum::<f64>() / salaries.len() as f64
    };
    let clip = |salary: f64| salary.clamp(10_000.0, 120_000.0);
    let bin = |salary: f64| 10_000.0 * (clip(salary) / 10_000.0).floor().min(11.0) + 5_000.0;
    (mean(&|salary| salary), mean(&clip), mean(&bin))
}

#[test]
fn the_tour_runs_as_written() {
    let data = root().join("../shared/data/baltimore_salaries/baltimore_fy2019_noname.csv.gz");
    if !data.is_file() {
        println!("skipped: no ../shared/data/baltimore_salaries");
        return;
    }
    let data = data.canonicalize().unwrap();
    let tour = std::fs::read_to_string(root().join("docs/tour-salaries.md")).unwrap();
    let dir = Scratch::new("tour");
    let folder = dir.path("");
    let blocks = commands(&tour);
    assert!(blocks.len() >= 7, "the commands of the tour are gone");
    let said: Vec<String> = blocks.iter().map(|block| bash(block, &folder, &data)).collect();

    // What the tour prints and does not depend on the noise.
    let (raw, clipped, binned) = truth(&folder);
    let printed = format!("mean {raw:.0}, clipped to the range {clipped:.0}");
    assert!(said.iter().any(|said| said.trim() == printed) && tour.contains(&printed), "{printed}");
    for method in ["laplace", "gaussian", "sampling", "optimal", "shares"] {
        let (attained, error) = levels(&dir, method);
        let row = format!(
            "| {method} | {:.3} | {:.3} | {}|",
            attained["lip"].as_f64().unwrap(),
            attained["ldp"].as_f64().unwrap(),
            error.map_or(String::new(), |error| format!("{error:.0} "))
        );
        assert!(tour.contains(&row), "the tour should say {row}");
        let picture = std::fs::read_to_string(dir.path(&format!("{method}.svg"))).unwrap();
        assert!(picture.contains("6 906 perturbed answers"), "{method}");
    }
    for line in [
        "below the range      41",
        "above the range     180",
        "left out: jobtitle, deptid, department, hire_date, gross_pay (--keep NAME releases a column as it is)",
        "kept in the clear: deptid",
        "deptid,annual_salary",
    ] {
        assert!(said.iter().any(|said| said.contains(line)) && tour.contains(line), "{line}");
    }
    // Nothing but the noise left, and nothing else is beside it.
    for method in ["laplace", "gaussian", "sampling", "optimal", "shares"] {
        let released = std::fs::read_to_string(dir.path(&format!("{method}.csv"))).unwrap();
        assert!(released.lines().all(|line| !line.contains(',')), "{method}");
        assert_eq!(released.lines().next(), Some("annual_salary"), "{method}");
    }

    // Of what does: a mean more than six standard errors off is no chance (2 in 10^9).
    for method in ["laplace", "sampling", "shares"] {
        let estimate = estimate(&dir, method);
        let mean = &estimate["mean"];
        let (value, error) =
            (mean["value"].as_f64().unwrap(), mean["standard_error"].as_f64().unwrap());
        assert!(
            (value - binned).abs() < 6.0 * error,
            "{method}: {value} ± {error}, truth {binned}"
        );
        assert!(error < 3_000.0, "{method}: {error}");
    }
    let optimal = estimate(&dir, "optimal");
    assert_eq!(optimal["mean"]["identified"], false);
    assert!(optimal["warnings"].to_string().contains("are not determined by the policy"));
}

/// What a policy attains, and the root mean square error of a released number under the prior, where
/// numbers are released.
fn levels(dir: &Scratch, method: &str) -> (Value, Option<f64>) {
    let policy = dir.path(&format!("{method}.json"));
    let (code, verified) = common::json(&["policy", "verify", &policy]);
    assert_eq!(code, 0);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(policy).unwrap()).unwrap();
    let numbers = |value: &Value| -> Vec<f64> {
        let list = value.as_array().unwrap().iter();
        list.map(|v| v.as_f64().unwrap_or_else(|| v.as_str().unwrap().parse().unwrap())).collect()
    };
    let prior = numbers(&verified["prior"]["p"]);
    let inputs = numbers(&document["inputs"]["values"]);
    let outputs = match &document["outputs"] {
        Value::Null => Some(inputs.clone()),
        outputs => outputs.get("values").or(outputs.get("points")).map(numbers),
    };
    let Some(outputs) = outputs else { return (verified["attained"].clone(), None) };
    let channel = &document["channel"];
    let law = |x: usize| -> Vec<f64> {
        if channel["shape"] == "table" {
            return numbers(&channel["masses"][x])
                .iter()
                .map(|mass| mass / 2f64.powi(48))
                .collect();
        }
        let kept = numbers(&channel["keep"])[x] / 2f64.powi(40);
        let base = numbers(&channel["base"]).into_iter().map(|mass| mass / 2f64.powi(48));
        let drawn = base
            .enumerate()
            .map(|(y, base)| (1.0 - kept) * base + kept * f64::from(u8::from(x == y)));
        drawn.collect()
    };
    let error: f64 = (0..inputs.len())
        .map(|x| {
            let squares =
                law(x).into_iter().zip(&outputs).map(|(w, y)| w * (inputs[x] - y).powi(2));
            prior[x] * squares.sum::<f64>()
        })
        .sum();
    (verified["attained"].clone(), Some(error.sqrt()))
}

fn estimate(dir: &Scratch, method: &str) -> Value {
    let (policy, data) = (dir.path(&format!("{method}.json")), dir.path(&format!("{method}.csv")));
    let (code, value) =
        common::json(&["estimate", "--policy", &policy, "--column", "annual_salary", &data]);
    assert_eq!(code, 0, "{value}");
    value
}
