//! `undertone release`: people released under a plan, whole rows at a time.
//!
//! Noise comes from the system and cannot be seeded, so most of these plans leave nothing to it: their policies release any other
//! symbol than the given one with probability 2^-31 (some hundred draws in all: a false alarm once in ten million runs).
//! What is drawn from a seed is tested beside the code (`crates/undertone/src/frame/tests.rs`).

use crate::common::{Scratch, complaint, json, undertone};
use undertone_core::plan::{
    Item, Law, Node, PlanClaim, PlanDraft, PlanParts, Question, SecretVariable,
};
use undertone_core::{
    Alphabet, Bits, Claim, Context, Decimal, Draft, Epsilon, MASS_ONE, Provenance, Row, Shape,
    Table, WEIGHT_ONE,
};

fn names(list: &[&str]) -> Alphabet {
    Alphabet::names(list.iter().copied()).unwrap()
}

fn bins() -> Alphabet {
    let decimals =
        |list: &[&str]| -> Vec<Decimal> { list.iter().map(|text| text.parse().unwrap()).collect() };
    Alphabet::bins(decimals(&["0", "10", "20", "30"]), decimals(&["5", "15", "25"])).unwrap()
}

fn draft(inputs: Alphabet, shape: Shape, epsilon: &str) -> Draft {
    let claims = vec![Claim::ldp(Epsilon::parse(epsilon).unwrap())];
    Draft::new(inputs, None, shape, Context::Unknown, claims, Provenance::default()).unwrap()
}

/// Releases the symbol itself but for a part in two thousand million for every other.
fn faithful(inputs: &Alphabet) -> Draft {
    let size = inputs.len();
    let rare = 1u64 << 17;
    let row = |x: usize| {
        let mut row = vec![rare; size];
        row[x] = MASS_ONE - rare * (size as u64 - 1);
        row
    };
    let table = Table::from_masses((0..size).map(row).collect()).unwrap();
    draft(inputs.clone(), Shape::Table(table), "22")
}

/// Releases the next symbol, but for as little.
fn next(inputs: &Alphabet) -> Draft {
    let size = inputs.len();
    let rare = 1u64 << 17;
    let row = |x: usize| {
        let mut row = vec![rare; size];
        row[(x + 1) % size] = MASS_ONE - rare * (size as u64 - 1);
        row
    };
    let table = Table::from_masses((0..size).map(row).collect()).unwrap();
    draft(inputs.clone(), Shape::Table(table), "22")
}

/// Three questions.
fn questions() -> Vec<Question> {
    [
        ("smokes", names(&["no", "yes"])),
        ("town", names(&["a, b", "c × d", "other"])),
        ("age", bins()),
    ]
    .map(|(name, answers)| Question { name: name.into(), wording: String::new(), answers })
    .to_vec()
}

fn item(questions: &[u32], policy: u32, weight: u32) -> Item {
    Item { questions: questions.to_vec(), policy, fresh: None, weight }
}

fn document(items: Vec<Item>, asked: u32, policies: Vec<Draft>) -> String {
    let parts = PlanParts {
        questions: questions(),
        secrets: vec![],
        law: Law::Unknown,
        items,
        asked,
        periods: 1,
        claims: vec![PlanClaim::Person { ldp: "100".parse().unwrap() }],
        provenance: Provenance::default(),
        policies,
    };
    written(parts)
}

fn written(parts: PlanParts) -> String {
    PlanDraft::new(parts).unwrap().verify().unwrap().to_json()
}

/// Each question by itself, answered by everybody.
fn single() -> String {
    let policies = questions().iter().map(|question| faithful(&question.answers)).collect();
    document((0..3).map(|at| item(&[at], at, 0)).collect(), 0, policies)
}

const PEOPLE: &str = "name,age,town,smokes,region\nAda,7,\"a, b\",no,north\nBo,15,c × d,yes,south\nCy,99,other,yes,north\n";

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_question_is_a_column_and_nothing_else_leaves() {
    let dir = Scratch::new("release");
    let (data, out) = (dir.file("people.csv", PEOPLE), dir.path("out.csv"));
    let plan = dir.file("plan.json", &single());
    let args = ["release", "--plan", &plan, &data, "-o", &out];
    let (code, value) = json(&args);
    assert_eq!(code, 0, "{value}");
    assert_eq!(read(&out), "age,town,smokes\n5,\"a, b\",no\n15,c × d,yes\n25,other,yes\n");
    assert_eq!(
        (&value["rows"], &value["released"], &value["skipped"]),
        (&3.into(), &3.into(), &0.into())
    );
    assert_eq!(value["left_out"], serde_json::json!(["name", "region"]));
    assert_eq!(value["kept"], serde_json::json!([]));
    let items: Vec<_> = value["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (&item["name"], &item["answered"]))
        .collect();
    let three = serde_json::json!(3);
    assert_eq!(
        items,
        [(&"smokes".into(), &three), (&"town".into(), &three), (&"age".into(), &three)]
    );
    assert_eq!(
        (&value["questions"][2]["clipped_above"], &value["questions"][2]["column"]),
        (&1.into(), &"age".into())
    );
    assert_eq!(value["plan_id"].as_str().unwrap().len(), 64);
    assert!(value["rate"].as_f64().unwrap() > 0.0);
    // What a person pays is said in words.
    let ldp = value["person"]["ldp"].as_f64().unwrap();
    assert!(ldp > 64.0 && ldp <= 66.0, "{ldp}");
    let said = String::from_utf8(undertone(&args).stdout).unwrap();
    assert!(said.contains("What a row can tell about the person behind it:"), "{said}");
    assert!(said.contains("left out: name, region (--keep NAME"), "{said}");
    assert!(said.contains("warning: replaced an earlier release"), "{said}");
    // Rows on standard output, the summary on standard error.
    let streamed = undertone(&["release", "--plan", &plan, &data, "-o", "-"]);
    assert_eq!(String::from_utf8(streamed.stdout).unwrap(), read(&out));
    assert!(String::from_utf8(streamed.stderr).unwrap().contains("3 of 3 rows released"));
}

#[test]
fn columns_may_be_called_otherwise_and_columns_may_be_kept() {
    let dir = Scratch::new("release-names");
    let data = dir.file("people.csv", &PEOPLE.replace("smokes", "q7"));
    let (out, plan) = (dir.path("out.csv"), dir.file("plan.json", &single()));
    let args = ["release", "--plan", &plan, &data, "-o", &out];
    let renamed = [&args[..], &["--column", "smokes=q7"]].concat();
    let (code, value) = json(&[&renamed[..], &["--keep", "region", "--keep", "name"]].concat());
    assert_eq!(code, 0, "{value}");
    assert_eq!(
        read(&out),
        "name,age,town,smokes,region\nAda,5,\"a, b\",no,north\nBo,15,c × d,yes,south\nCy,25,other,yes,north\n"
    );
    let kept = value["kept"].as_array().unwrap();
    assert_eq!(kept.len(), 3);
    for (kept, question) in kept.iter().zip(["smokes", "town", "age"]) {
        assert_eq!((&kept["question"], &kept["rows"]), (&question.into(), &3.into()));
        assert_eq!(kept["columns"], serde_json::json!(["name", "region"]));
        assert_eq!(kept["unique"], 1.0);
        assert!(kept["warning"].as_str().unwrap().contains("3 rows are too few to say"), "{kept}");
    }
    for (more, code, words) in [
        (
            &[][..],
            1,
            "there is no column \"smokes\" for the question \"smokes\"; the columns are name, age, town, q7, region: rename one, or say which with --column \"smokes=COLUMN\"",
        ),
        (&["--column", "smokes=q8"], 1, "there is no column \"q8\""),
        (
            &["--column", "drinks=q7"],
            2,
            "the plan asks no \"drinks\"; its questions are smokes, town, age",
        ),
        (&["--column", "smokes=q7", "--column", "smokes=age"], 2, "give it once"),
        (&["--column", "smokes=age"], 2, "the question \"smokes\" is read from that column too"),
        (&["--column", "smokes"], 2, "give QUESTION=COLUMN"),
        (
            &["--column", "smokes=q7", "--keep", "age"],
            2,
            "that column is randomised, and cannot also be kept",
        ),
        (&["--column", "smokes=q7", "--keep", "nobody"], 1, "no column \"nobody\""),
    ] {
        std::fs::remove_file(&out).ok();
        let (found, said) = complaint(&[&args[..], more].concat());
        assert!(found == code && said.contains(words), "{found}: {said}");
        assert!(!std::path::Path::new(&out).exists());
    }
    // A kept column that is called like a released one, and a column that is there twice.
    let data = dir.file("two.csv", "q7,smokes,town,age\nno,3,other,5\n");
    let (code, said) = complaint(&[
        "release",
        "--plan",
        &plan,
        &data,
        "-o",
        &out,
        "--column",
        "smokes=q7",
        "--keep",
        "smokes",
    ]);
    assert!(
        code == 2 && said.contains("a released column is called that too: rename one"),
        "{said}"
    );
    let data = dir.file("twice.csv", "smokes,smokes,town,age\nno,no,other,5\n");
    let (code, said) = complaint(&["release", "--plan", &plan, &data, "-o", &out]);
    assert!(code == 1 && said.contains("two columns are called \"smokes\""), "{said}");
    // Without a line of names.
    let data = dir.file("bare.csv", "5;no;other\n25;yes;other\n");
    let numbered =
        ["--no-header", "--column", "smokes=2", "--column", "town=3", "--column", "age=1"];
    let (code, value) =
        json(&[&["release", "--plan", &plan, &data, "-o", &out], &numbered[..]].concat());
    assert_eq!((code, read(&out)), (0, "5;no;other\n25;yes;other\n".to_owned()), "{value}");
}

#[test]
fn a_bad_cell_is_named_and_a_row_is_left_out_whole() {
    let dir = Scratch::new("release-bad");
    let data = dir.file(
        "people.csv",
        "smokes,town,age,id\nno,other,5,1\nyes,elsewhere,5,2\n,other,5,3\nyes,other,old,4\nyes,other,15,5\n",
    );
    let (out, plan) = (dir.path("out.csv"), dir.file("plan.json", &single()));
    let args = ["release", "--plan", &plan, &data, "-o", &out];
    let (code, said) = complaint(&args);
    assert!(code == 1, "{said}");
    for part in [
        "row 2 (line 3), column \"town\" is none of the question's 3 symbols",
        "--unknown skip or other",
        "the wrong plan",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!std::path::Path::new(&out).exists() && !said.contains("elsewhere"), "{said}");
    let (code, value) = json(&[&args[..], &["--unknown", "skip", "--keep", "id"]].concat());
    assert_eq!(
        (code, read(&out)),
        (0, "smokes,town,age,id\nno,other,5,1\nyes,other,15,5\n".to_owned())
    );
    assert_eq!(
        (&value["rows"], &value["released"], &value["skipped"]),
        (&5.into(), &2.into(), &3.into())
    );
    assert_eq!(
        (&value["questions"][0]["missing"], &value["questions"][1]["unknown"]),
        (&1.into(), &1.into())
    );
    // Only the town has the answer "other".
    let (code, said) = complaint(&[&args[..], &["--unknown", "other"]].concat());
    assert!(code == 1 && said.contains("row 3 (line 4), column \"smokes\" is empty"), "{said}");
    assert!(said.contains("use --unknown skip, or"), "{said}");
}

/// Three items of which a row answers one, a combination among them.
#[test]
fn a_row_answers_what_is_drawn_for_it() {
    let dir = Scratch::new("release-split");
    let policies = vec![
        faithful(&names(&["no", "yes"])),
        faithful(&Alphabet::indices(6).unwrap()),
        faithful(&bins()),
    ];
    let items = vec![item(&[0], 0, 1), item(&[0, 1], 1, 2), item(&[2], 2, 1)];
    let plan = dir.file("plan.json", &document(items, 1, policies));
    let people: String = (0..400).map(|_| "yes,c × d,12\n").collect();
    let data = dir.file("people.csv", &format!("smokes,town,age\n{people}"));
    let out = dir.path("out.csv");
    let (code, value) = json(&["release", "--plan", &plan, &data, "-o", &out]);
    assert_eq!((code, &value["asked"]), (0, &1.into()), "{value}");
    let text = read(&out);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("smokes,smokes × town,age"));
    let mut counts = [0u64; 3];
    for line in lines {
        let at = ["yes,,", ",\"yes × c \\× d\",", ",,15"].iter().position(|one| *one == line);
        counts[at.unwrap_or_else(|| panic!("{line}"))] += 1;
    }
    assert_eq!(counts.iter().sum::<u64>(), 400);
    for (item, count) in value["items"].as_array().unwrap().iter().zip(counts) {
        assert_eq!(item["answered"], count);
    }
    // Shares 1/4, 1/2, 1/4: five standard errors of 400 rows, missed once in half a million runs.
    for (count, share) in counts.into_iter().zip([0.25, 0.5, 0.25]) {
        let error = (400.0 * share * (1.0 - share) as f64).sqrt();
        assert!((count as f64 - 400.0 * share).abs() < 5.0 * error, "{counts:?}");
    }
    let said =
        String::from_utf8(undertone(&["release", "--plan", &plan, &data, "-o", &out]).stdout)
            .unwrap();
    assert!(said.contains("each row answers 1 of the items that are drawn"), "{said}");
}

/// Combinations with answers that need quotes, bits, an answer randomised twice, and two items about one question.
#[test]
fn items_of_every_kind_have_columns_of_their_own() {
    let dir = Scratch::new("release-kinds");
    let (smokes, town) = (names(&["no", "yes"]), names(&["a, b", "c × d", "other"]));
    let bits = Shape::Bits(Bits::new(3, WEIGHT_ONE / 2, WEIGHT_ONE / 8).unwrap());
    let policies = vec![
        faithful(&Alphabet::indices(18).unwrap()),
        draft(bins(), bits, "5"),
        next(&smokes),
        faithful(&smokes),
        faithful(&town),
    ];
    let twice = Item { questions: vec![0], policy: 3, fresh: Some(2), weight: 0 };
    let items =
        vec![item(&[0, 1, 2], 0, 0), item(&[2], 1, 0), twice, item(&[0], 3, 0), item(&[1], 4, 0)];
    let plan = dir.file("plan.json", &document(items, 0, policies));
    let data = dir.file("people.csv", "smokes,town,age\nno,\"a, b\",12\nyes,other,25\n");
    let out = dir.path("out.csv");
    let (code, value) = json(&["release", "--plan", &plan, &data, "-o", &out]);
    assert_eq!(code, 0, "{value}");
    let text = read(&out);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("smokes × town × age,smokes,smokes (2),town,age"));
    let rows: Vec<&str> = lines.collect();
    let starts = ["\"no × a, b × 15\",yes,no,\"a, b\",", "\"yes × other × 25\",no,yes,other,"];
    for (row, start) in rows.iter().zip(starts) {
        let digits = row.strip_prefix(start).unwrap_or_else(|| panic!("{row}"));
        assert!(digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{row}");
    }
    assert_eq!(rows.len(), 2);
}

/// A secret and a tree: what a row tells about each is said.
#[test]
fn the_persons_cost_is_said_for_every_answer_and_secret() {
    let dir = Scratch::new("release-person");
    let one = 1u64 << 48;
    let law = |masses: [u64; 2]| Row::new(masses.to_vec()).unwrap();
    let yes_no = names(&["no", "yes"]);
    let mild = Table::from_masses(vec![
        vec![MASS_ONE / 4 * 3, MASS_ONE / 4],
        vec![MASS_ONE / 4, MASS_ONE / 4 * 3],
    ]);
    let question = |name: &str| Question {
        name: name.into(),
        wording: String::new(),
        answers: yes_no.clone(),
    };
    let rows = [[3, 1], [1, 3]].map(|row| law(row.map(|part| one / 4 * part))).to_vec();
    let child = || Node::Given { parent: 2, rows: rows.clone() };
    let parts = PlanParts {
        questions: vec![question("smokes"), question("drinks")],
        secrets: vec![SecretVariable { name: "ill".into(), values: yes_no.clone() }],
        law: Law::Tree(vec![child(), child(), Node::Root(law([one / 2; 2]))]),
        items: vec![item(&[0], 0, 0), item(&[1], 0, 0)],
        asked: 0,
        periods: 1,
        claims: vec![PlanClaim::Person { ldp: "2.2".parse().unwrap() }],
        provenance: Provenance::default(),
        policies: vec![draft(yes_no.clone(), Shape::Table(mild.unwrap()), "1.0987")],
    };
    let plan = dir.file("plan.json", &written(parts));
    let data = dir.file("people.csv", "smokes,drinks\nyes,no\nno,no\n");
    let out = dir.path("out.csv");
    let (code, value) = json(&["release", "--plan", &plan, &data, "-o", &out]);
    assert_eq!(code, 0, "{value}");
    let person = &value["person"];
    // ln 9: two answers at ln 3 each.
    assert_eq!(person["ldp"], 2.1972245774);
    // Both yes: (3/4)(3/4)(5/8) + (1/4)(3/4)(3/8) for yes against (1/4)(1/4)(5/8) + (3/4)(1/4)(3/8) for no, 27 to 7.
    let smokes = person["questions"][0]["upper"].as_f64().unwrap();
    assert!((smokes - (2.0 * 27.0 / 34.0f64).ln()).abs() < 1e-9, "{person}");
    // The secret: likelihoods 5/8 against 3/8, twice.
    let ill = person["secrets"][0]["upper"].as_f64().unwrap();
    assert!((ill - (2.0 * 25.0 / 34.0f64).ln()).abs() < 1e-9, "{person}");
    assert_eq!(person["secrets"][0]["exact"], true);
    let said = person["in_words"].as_array().unwrap();
    assert_eq!(said.len(), 4);
    assert!(
        said[0].as_str().unwrap().contains("by at most a factor of 9.001 (2.1972245774 nats)"),
        "{said:?}"
    );
    assert!(
        said[3].as_str().unwrap().starts_with(
            "Belief in any one value of the secret \"ill\" rises by at most a factor of 1.471"
        ),
        "{said:?}"
    );
}

#[test]
fn a_plan_that_is_none_is_refused() {
    let dir = Scratch::new("release-plan");
    let (data, out) = (dir.file("people.csv", PEOPLE), dir.path("out.csv"));
    let plan = single();
    // Whose parts verify and whose whole does not.
    let mut loud: serde_json::Value = serde_json::from_str(&plan).unwrap();
    loud["claims"][0]["nats"] = "1".into();
    loud.as_object_mut().unwrap().remove("id");
    for (name, text, words) in [
        ("loud.json", loud.to_string(), "the plan is refused: "),
        ("text.json", "smokes".to_owned(), "text.json"),
        ("policy.json", faithful(&names(&["no", "yes"])).to_json(), "policy.json"),
    ] {
        let plan = dir.file(name, &text);
        let (code, said) = complaint(&["release", "--plan", &plan, &data, "-o", &out]);
        assert!(code == 1 && said.contains(words), "{said}");
        assert!(!std::path::Path::new(&out).exists());
    }
}

#[cfg(feature = "parquet")]
mod parquet_files;
