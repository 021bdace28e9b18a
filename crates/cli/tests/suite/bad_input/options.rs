//! Numbers in options: what cannot be is bad usage everywhere, with the option named, and a level is read alike by every
//! command.

use super::{Files, tried};

/// Options that take a level in nats or another number, each on a command line that is good otherwise.
fn number_options(files: &Files) -> Vec<(Vec<&str>, &'static str)> {
    let (p, q, m) = (files.prior.as_str(), files.channel.as_str(), files.model.as_str());
    let (j, rows, policy) = (files.joint.as_str(), files.rows.as_str(), files.policy.as_str());
    let learned = [
        "fusion",
        "train",
        "--samples",
        rows,
        "--public",
        "answer",
        "--private",
        "other",
        "--sensors",
        "answer",
    ];
    let mut options: Vec<(Vec<&str>, &'static str)> = vec![
        (vec!["audit", "--prior", p, "--channel", q], "--epsilon"),
        (vec!["audit", "--prior", p, "--channel", q], "--alpha"),
        (vec!["relate", "--from", "lip:1", "--to", "sibson", "--prior", p], "--alpha"),
        (vec!["relate", "--from", "lip:1", "--to", "ldp"], "--p-min"),
        (vec!["relate", "--from", "ldp:1", "--to", "mil"], "--symbols"),
        (vec!["relate", "--from", "ldp:1", "--to", "infp"], "--sensors"),
        (vec!["relate", "--from", "ldp:1", "--to", "ident"], "--spread"),
        (vec!["compose", "--prior", p], "--epsilons"),
        (vec!["transfer", "--from", p, "--to", p], "--epsilon"),
        (vec!["transfer", "--from", p, "--epsilon", "1"], "--samples"),
        (vec!["transfer", "--from", p, "--epsilon", "1", "--samples", "10"], "--beta"),
        (vec!["design", "--prior", p, "--n", "1000"], "--accuracy"),
        (vec!["design", "--prior", p, "--accuracy", "0.1"], "--n"),
        (vec!["design", "--prior", p, "--accuracy", "0.1", "--n", "1000"], "--level"),
        (vec!["design", "--prior", p, "--protect", "lip:1", "--objective", "squared"], "--values"),
        (vec!["curve", "--prior", p, "--methods", "krr"], "--epsilons"),
        (vec!["frontier", "--prior", p, "--lip", "1"], "--ldp"),
        (vec!["curve", "--prior", p, "--methods", "krr", "--objective", "squared"], "--values"),
        (vec!["frontier", "--prior", p, "--ldp", "1"], "--lip"),
        (vec!["relate", "--from", "ldp:1", "--to", "infp"], "--secrets"),
        (vec!["watchdog", "--joint", j, "--upper", "1"], "--lower"),
        (vec!["watchdog", "--joint", j, "--lower", "1"], "--upper"),
        (vec!["watchdog", "--joint", j], "--ldp"),
        (vec!["watchdog", "--joint", j, "--ldp", "1"], "--split"),
        (vec!["policy", "verify", policy, "--together"], "--consent"),
        (vec!["estimate", rows, "--policy", policy, "--column", "answer"], "--level"),
        (vec!["estimate", rows, "--policy", policy, "--column", "answer"], "--above"),
        (vec!["estimate", rows, "--policy", policy, "--column", "answer"], "--quantiles"),
        (vec!["estimate", rows, "--policy", policy, "--column", "answer"], "--threads"),
        (vec!["fusion", "design", "--model", m, "--restarts", "1"], "--ldp"),
        (vec!["fusion", "design", "--model", m, "--restarts", "1", "--ldp", "1"], "--information"),
        (vec!["fusion", "design", "--model", m, "--restarts", "1", "--ldp", "1"], "--epochs"),
        (vec!["fusion", "design", "--model", m, "--ldp", "1"], "--restarts"),
        (vec!["fusion", "design", "--model", m, "--restarts", "1", "--ldp", "1"], "--outputs"),
        (vec!["fusion", "design", "--model", m, "--restarts", "1", "--ldp", "1"], "--time-limit"),
        (vec!["fusion", "evaluate", "--maps", q, "--model", m], "--confidence"),
        (vec!["demo", "--once"], "--users"),
        (vec!["prior", "fit", rows, "--column", "answer"], "--beta"),
        (vec!["prior", "fit", rows, "--column", "answer"], "--smoothing"),
        (vec!["prior", "fit", rows, "--column", "answer", "--range", "0,1"], "--bins"),
        (vec!["prior", "fit", rows, "--column", "answer", "--bins", "2"], "--range"),
        (vec!["prior", "mix", p, p], "--weights"),
    ];
    for option in [
        "--ldp",
        "--outputs",
        "--ratio",
        "--slack",
        "--ridge",
        "--hold-out",
        "--train",
        "--test",
        "--confidence",
        "--restarts",
        "--time-limit",
        "--levels",
        "--keep",
    ] {
        options.push((learned.to_vec(), option));
    }
    options
}

#[test]
fn bad_numbers_in_options_are_bad_usage_everywhere() {
    let files = Files::new();
    let nines = "9".repeat(400);
    for (args, option) in number_options(&files) {
        for value in ["-1", "NaN", "x", "", "--", "-1e300", &nines] {
            // A few options take words beside numbers, or large numbers: those they may accept.
            let words = [args.as_slice(), &[option, value]].concat();
            let (code, answer) = tried(&words, option);
            if code == 0 {
                assert_eq!(value, nines, "accepted: {words:?}");
                continue;
            }
            assert_eq!((code, &answer["code"]), (2, &"usage".into()), "{words:?}: {answer}");
            let said = answer["error"].as_str().unwrap();
            assert!(said.contains(option), "{option} is not named: {words:?}: {said}");
        }
    }
}

#[test]
fn a_guarantee_is_read_alike_by_every_command() {
    let files = Files::new();
    let (p, q, j) = (files.prior.as_str(), files.channel.as_str(), files.joint.as_str());
    let (m, policy) = (files.model.as_str(), files.policy.as_str());
    for (level, good) in [
        ("1e-12", true),
        ("1e-400", true),
        ("+1", true),
        ("-0", true),
        (".5", true),
        ("5.", true),
        ("1_0", false),
        ("-inf", false),
        ("1E-1", true),
        ("0.5", true),
        ("0", true),
        ("-1", false),
        ("NaN", false),
        ("inf", false),
        ("x", false),
        ("", false),
        ("1e400", false),
    ] {
        let (lip, ldp) = (format!("lip:{level}"), format!("ldp:{level}"));
        for args in [
            vec!["relate", "--from", &lip, "--to", "ldp", "--prior", p],
            vec!["design", "--prior", p, "--protect", &lip, "--method", "krr"],
            vec!["design", "--prior", p, "--protect", &ldp, "--method", "krr"],
            vec!["compose", "--prior", p, "--epsilons", level],
            vec!["transfer", "--from", p, "--to", p, "--epsilon", level],
            vec!["audit", "--prior", p, "--channel", q, "--epsilon", level],
            vec!["watchdog", "--joint", j, "--lower", level, "--upper", "1"],
            vec!["watchdog", "--joint", j, "--ldp", level],
            vec!["policy", "verify", policy, "--together", "--consent", &lip],
            vec!["fusion", "design", "--model", m, "--restarts", "1", "--ldp", level],
            vec!["frontier", "--prior", p, "--lip", level, "--ldp", "1"],
            vec!["curve", "--prior", p, "--epsilons", level, "--methods", "krr"],
        ] {
            // Of all commands this one has a word for no limit.
            if args[0] == "fusion" && level == "inf" {
                continue;
            }
            let (code, value) = tried(&args, level);
            // A policy that tells nothing may be refused as such, and one may miss a consent, but the level was read.
            let read =
                code == 0 || value["code"] == "uninformative" || !value["together"].is_null();
            assert_eq!(read, good, "{args:?}: {value}");
            assert!(good || value["code"] == "usage", "{args:?}: {value}");
        }
    }
}

#[test]
fn usage_errors_are_json_too() {
    for args in [
        vec!["nonsense"],
        vec!["audit"],
        vec!["design", "--colour", "red"],
        vec!["relate", "--from", "lip:1"],
        vec!["policy"],
        vec!["policy", "verify"],
        vec!["fusion", "design", "--method", "best"],
        vec!["watchdog", "--joint", "x", "--method", "none", "--ldp", "1"],
    ] {
        let (code, value) = tried(&args, "usage");
        assert_eq!((code, &value["code"]), (2, &"usage".into()), "{args:?}");
        assert!(!value["error"].as_str().unwrap().is_empty());
    }
}
