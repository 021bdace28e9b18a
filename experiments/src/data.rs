//! Finding and reading the data files, which are never part of the repository.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::Error;

/// A data file and where the data folder's README describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataFile {
    /// Relative to the data folder. `.gz` is unpacked on reading.
    pub path: &'static str,
    /// The README's section.
    pub section: &'static str,
    /// What to fetch, and from whom.
    pub what: &'static str,
}

/// UCI Student Performance, Portuguese course.
pub const STUDENT_POR: DataFile = DataFile {
    path: "student/student-por.csv",
    section: "1 (student)",
    what: "Student Performance, UCI Machine Learning Repository no. 320",
};
/// UCI Student Performance, mathematics course.
pub const STUDENT_MAT: DataFile = DataFile {
    path: "student/student-mat.csv",
    section: "1 (student)",
    what: "Student Performance, UCI Machine Learning Repository no. 320",
};
/// UCI Adult, training part.
pub const ADULT_DATA: DataFile = DataFile {
    path: "adult/adult.data.gz",
    section: "2 (adult)",
    what: "Adult (Census Income), UCI Machine Learning Repository no. 2",
};
/// UCI Adult, test part.
pub const ADULT_TEST: DataFile = DataFile {
    path: "adult/adult.test.gz",
    section: "2 (adult)",
    what: "Adult (Census Income), UCI Machine Learning Repository no. 2",
};
/// UCI AReM, body sensors: a stand-in for OPPORTUNITY, whose recordings could not be had.
pub const AREM: DataFile = DataFile {
    path: "arem/arem.csv.gz",
    section: "6 (arem)",
    what: "AReM (activity recognition by a body-sensor network), UCI Machine Learning Repository no. 366",
};

/// Shoulder exercises recorded by a watch: a second stand-in for OPPORTUNITY. `scripts/watch-data` fetches it.
pub const WATCH: DataFile = DataFile {
    path: "watch/watch.csv.gz",
    section: "watch, or rather scripts/watch-data",
    what: "the watch recordings of seglearn with scripts/watch-data DIR",
};

/// Baltimore city employee salaries, fiscal year 2019, without names.
pub const SALARIES: DataFile = DataFile {
    path: "baltimore_salaries/baltimore_fy2019_noname.csv.gz",
    section: "7 (baltimore_salaries)",
    what: "Baltimore City Employee Salaries FY2019, Open Baltimore 6xv6-e66h",
};

/// Kosarak click stream, its first 36,682 transactions.
pub const KOSARAK: DataFile = DataFile {
    path: "kosarak/kosarak_first36682.dat.gz",
    section: "3 (kosarak)",
    what: "Kosarak click stream, Frequent Itemset Mining Dataset Repository",
};
/// Gowalla check-ins of 1,000 users.
pub const GOWALLA: DataFile = DataFile {
    path: "gowalla/gowalla_1000users.csv.gz",
    section: "4 (gowalla)",
    what: "Gowalla check-ins, Stanford Large Network Dataset Collection",
};

/// A folder of data files, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataFolder(Option<PathBuf>);

impl DataFolder {
    /// Where the files lie beside a checkout of the repository.
    pub const USUAL: &'static str = "../shared/data";
    /// The environment variable that names the folder.
    pub const VARIABLE: &'static str = "UNDERTONE_DATA";

    /// No data at all: experiments that need some say so.
    pub fn none() -> Self {
        Self(None)
    }

    /// This folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(Some(folder.into()))
    }

    /// The folder given, else the usual one if it exists, else the one in the environment.
    pub fn find(given: Option<&Path>) -> Self {
        let usual = || Some(PathBuf::from(Self::USUAL)).filter(|folder| folder.is_dir());
        let named = || std::env::var_os(Self::VARIABLE).map(PathBuf::from);
        Self(given.map(Path::to_path_buf).or_else(usual).or_else(named))
    }

    /// The folder, if there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// A file's place, or the words that say which is missing.
    pub fn path(&self, file: DataFile) -> Result<PathBuf, Error> {
        let found = self.0.as_ref().map(|folder| folder.join(file.path));
        found.filter(|path| path.is_file()).ok_or(Error::MissingData {
            file: file.path,
            section: file.section,
            what: file.what,
            folder: self.0.clone(),
        })
    }

    /// A file's text, unpacked if its name ends in `.gz`.
    pub fn text(&self, file: DataFile) -> Result<String, Error> {
        let path = self.path(file)?;
        let failed = |source| Error::File { verb: "read", path: path.clone(), source };
        let bytes = std::fs::read(&path).map_err(failed)?;
        let bytes = if file.path.ends_with(".gz") {
            let mut unpacked = Vec::new();
            let mut decoder = flate2::read::MultiGzDecoder::new(bytes.as_slice());
            decoder.read_to_end(&mut unpacked).map_err(failed)?;
            unpacked
        } else {
            bytes
        };
        String::from_utf8(bytes).map_err(|_| Error::Data {
            file: file.path.into(),
            line: 1,
            problem: "not UTF-8 text".into(),
        })
    }

    /// A file's rows as fields, the header apart. Fields may be quoted; line breaks inside are not
    /// understood, and none of our files has one.
    pub fn records(&self, file: DataFile, separator: char) -> Result<Records, Error> {
        let text = self.text(file)?;
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let header = lines.next().map(|line| fields(line, separator)).unwrap_or_default();
        let rows = lines.map(|line| fields(line, separator)).collect();
        Ok(Records { file: file.path, header, rows })
    }
}

/// Rows of a data file with a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records {
    file: &'static str,
    /// The column names.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Records {
    /// A column as texts; a short row is an error that names its line.
    pub fn column(&self, name: &str) -> Result<Vec<&str>, Error> {
        let error = |line, problem| Error::Data { file: self.file.into(), line, problem };
        let at = self.header.iter().position(|column| column == name);
        let at = at.ok_or_else(|| error(1, format!("there is no column {name:?}")))?;
        let cell = |(row, cells): (usize, &Vec<String>)| match cells.get(at) {
            Some(_) => Ok(self.rows[row][at].as_str()),
            None => Err(error(row + 2, format!("there is no field for the column {name:?}"))),
        };
        self.rows.iter().enumerate().map(cell).collect()
    }

    /// A column as numbers; an empty or unreadable field is an error that names its line.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, Error> {
        let number = |(row, text): (usize, &str)| {
            text.trim().parse::<f64>().map_err(|_| Error::Data {
                file: self.file.into(),
                line: row + 2,
                problem: format!("{name} is {text:?}; a number was expected"),
            })
        };
        self.column(name)?.into_iter().enumerate().map(number).collect()
    }
}

/// The fields of a line; `""` inside quotes is a quote.
fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.trim_end_matches('\r').chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                if let Some(field) = fields.last_mut() {
                    field.push('"');
                }
            }
            '"' => quoted = !quoted,
            c if c == separator && !quoted => fields.push(String::new()),
            c => {
                if let Some(field) = fields.last_mut() {
                    field.push(c);
                }
            }
        }
    }
    fields
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_be_quoted() {
        assert_eq!(fields("a;\"b;c\";\"d\"\"e\";", ';'), ["a", "b;c", "d\"e", ""]);
    }

    #[test]
    fn a_missing_file_is_named_with_its_description() {
        for folder in [DataFolder::none(), DataFolder::at("/nowhere")] {
            let words = folder.text(STUDENT_POR).unwrap_err().to_string();
            assert!(words.contains("student/student-por.csv") && words.contains("section 1"));
            assert!(words.contains("--data"), "{words}");
        }
    }

    #[test]
    fn a_bad_field_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("student")).unwrap();
        let file = folder.path().join(STUDENT_POR.path);
        std::fs::write(file, "G3;sex\n\"11\";F\n\"x\";M\n").unwrap();
        let records = DataFolder::at(folder.path()).records(STUDENT_POR, ';').unwrap();
        assert_eq!(records.column("sex").unwrap(), ["F", "M"]);
        let words = records.numbers("G3").unwrap_err().to_string();
        assert!(words.contains("line 3") && words.contains("\"x\""), "{words}");
        assert!(records.numbers("G4").unwrap_err().to_string().contains("no column \"G4\""));
    }
}
