//! Frames released under a plan, and what columns kept in the clear tell.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray, UInt32Array};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use undertone::Answer;
use undertone::columns::{Code, Lookup};
use undertone::kept::{KeptQuestion, KeptRows, measure};
use undertone::release::{Drawn, ItemDraws, PersonReport, PlanRows, RowTrouble};
use undertone_core::plan::PlanDraft;
use undertone_core::{Alphabet, AlphabetView};

use crate::arrow::ArrowArray;
use crate::arrow::released::Released;
use crate::cells::Cells;
use crate::draw;
use crate::errors::{failed, guarded};
use crate::policy::{Policy, checked};
use crate::source::{Source, Texts};

/// A verified plan, ready for frames of data.
#[pyclass(frozen, module = "undertone._native")]
pub(crate) struct Release(PlanRows);

/// A column's cells in one piece, however many it comes in.
struct Column<'a> {
    pieces: Vec<Cells<'a>>,
    rows: usize,
}

impl<'a> Column<'a> {
    fn new(source: &'a Source<'_>, answers: &Alphabet, lookup: &'a Lookup) -> PyResult<Self> {
        let bare = match answers.view() {
            AlphabetView::Indices(size) => Some(size),
            _ => None,
        };
        let named = matches!(answers.view(), AlphabetView::Names(_));
        let pieces = source.pieces(lookup, bare, named)?;
        let rows = pieces.iter().map(Cells::len).sum();
        Ok(Self { pieces, rows })
    }

    /// Replaces `codes` by those of some rows.
    fn read(&self, rows: Range<usize>, codes: &mut Vec<Code>) {
        codes.clear();
        let (mut start, mut piece) = (0, Vec::new());
        for cells in &self.pieces {
            let (from, to) = (rows.start.max(start), rows.end.min(start + cells.len()));
            if from < to {
                cells.read(from - start..to - start, &mut piece);
                codes.extend_from_slice(&piece);
            }
            start += cells.len();
        }
    }

    fn code(&self, row: usize) -> Code {
        let mut codes = Vec::with_capacity(1);
        self.read(row..row + 1, &mut codes);
        codes.first().copied().unwrap_or(Code::Missing)
    }
}

/// How many rows all columns have.
fn rows(names: &[String], columns: &[Column<'_>]) -> PyResult<usize> {
    let rows = columns.first().map_or(0, |column| column.rows);
    match columns.iter().position(|column| column.rows != rows) {
        Some(at) => Err(PyValueError::new_err(format!(
            "column {:?} has {} rows where {:?} has {rows}",
            names[at], columns[at].rows, names[0]
        ))),
        None => Ok(rows),
    }
}

impl Release {
    fn columns<'a>(&'a self, sources: &'a [Source<'_>]) -> PyResult<Vec<Column<'a>>> {
        let column = |(at, source): (usize, &'a Source<'_>)| {
            let (answers, lookup) = self.0.question(at);
            Column::new(source, answers, lookup)
        };
        sources.iter().enumerate().map(column).collect()
    }

    fn troubled(&self, names: &[String], trouble: RowTrouble) -> PyErr {
        match trouble {
            // The value itself is a secret and stays out of logs.
            RowTrouble::Cell { row, question, missing } => {
                let found =
                    if missing { "is missing" } else { "is none of the question's answers" };
                let other = match self.0.question(question).1.named("other") {
                    Some(_) => ", or use unknown=\"other\"",
                    None => "",
                };
                failed(format!(
                    "row {row}, column {:?} {found}: mend it, leave the row out{other}",
                    names[question]
                ))
            }
            RowTrouble::Other(error) => failed(error),
        }
    }

    /// An item's column as an Arrow array.
    fn array(&self, item: usize, draws: ItemDraws) -> PyResult<ArrayRef> {
        let ItemDraws { drawn, answers } = draws;
        let answered: ArrayRef = match (&drawn, self.0.combination(item, 0)) {
            (Drawn::Indices(indices), Some(_)) => {
                let texts = indices.iter().map(|&output| self.0.combination(item, output));
                Arc::new(texts.collect::<StringArray>())
            }
            _ => {
                let released = Released::of(self.0.policy(item).draft());
                let drawn = match drawn {
                    Drawn::Indices(indices) => draw::Drawn::Indices(indices),
                    Drawn::Bits { packed, width } => draw::Drawn::Bits { packed, width },
                };
                released.array(drawn, &arrow_schema::DataType::Null).map_err(failed)?
            }
        };
        let Some(answers) = answers else { return Ok(answered) };
        let mut next = 0..;
        let places = answers.iter().map(|answers| if *answers { next.next() } else { None });
        let places: UInt32Array = places.collect();
        arrow_select::take::take(&answered, &places, None).map_err(failed)
    }
}

#[pymethods]
impl Release {
    #[new]
    #[pyo3(signature = (document, *, other = false))]
    fn new(py: Python<'_>, document: &str, other: bool) -> PyResult<Self> {
        guarded(|| {
            let draft = PlanDraft::from_json(document).map_err(failed)?;
            // Boxed: a refusal is large.
            let plan = py.detach(|| draft.verify().map_err(Box::new));
            let plan = plan.map_err(|refusal| failed(format!("the plan is refused: {refusal}")))?;
            PlanRows::new(plan, other).map(Self).map_err(failed)
        })
    }

    /// The SHA-256 of the canonical bytes.
    #[getter]
    fn id(&self) -> String {
        self.0.plan().id().to_string()
    }

    /// What the questions are called.
    #[getter]
    fn questions(&self) -> Vec<String> {
        self.0.plan().parts().questions.iter().map(|question| question.name.clone()).collect()
    }

    /// The columns that are drawn: name, the numbers of the questions, and the kind of the cells: "texts", "numbers", "indices" or "bits".
    #[getter]
    fn items(&self) -> Vec<(String, Vec<u32>, &'static str)> {
        let items = self.0.plan().parts().items.iter().enumerate();
        let item = |(at, item): (usize, &undertone_core::plan::Item)| {
            let draft = self.0.policy(at).draft();
            let kind = match (draft.shape(), draft.outputs().view()) {
                (shape, _) if shape.releases_bits() => "bits",
                _ if self.0.combination(at, 0).is_some() => "texts",
                (_, AlphabetView::Names(_)) => "texts",
                (_, AlphabetView::Indices(_)) => "indices",
                _ => "numbers",
            };
            (self.0.column(at).to_owned(), item.questions.clone(), kind)
        };
        items.map(item).collect()
    }

    /// Whether rows answer some of the items only.
    #[getter]
    fn split(&self) -> bool {
        self.0.is_split()
    }

    /// What a row can tell about the person behind it, as JSON.
    fn person(&self) -> String {
        PersonReport::of(self.0.plan()).json().to_string()
    }

    /// Draws what every row answers: for every item an Arrow array, or without `arrow` a list with `None` where a row does not answer.
    #[pyo3(signature = (names, columns, *, arrow, threads = None))]
    fn draw<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        columns: Vec<Bound<'py, PyAny>>,
        arrow: bool,
        threads: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        guarded(|| {
            let threads = checked(threads)?;
            let sources = columns.iter().map(Source::of).collect::<PyResult<Vec<_>>>()?;
            let columns = self.columns(&sources)?;
            let rows = rows(&names, &columns)?;
            let read = |question: usize, rows: Range<usize>, codes: &mut Vec<Code>| {
                columns[question].read(rows, codes);
            };
            let drawn = py.detach(|| self.0.draw(rows, &read, threads));
            let drawn = drawn.map_err(|trouble| self.troubled(&names, trouble))?;
            let cells = drawn.into_iter().enumerate().map(|(item, draws)| match arrow {
                true => Ok(Bound::new(py, ArrowArray(self.array(item, draws)?))?.into_any()),
                false => self.list(py, item, draws),
            });
            cells.collect()
        })
    }

    /// What kept columns tell about every question, as JSON.
    fn kept(
        &self,
        columns: Vec<Bound<'_, PyAny>>,
        kept_names: Vec<String>,
        kept: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        guarded(|| {
            let sources = columns.iter().map(Source::of).collect::<PyResult<Vec<_>>>()?;
            let columns = self.columns(&sources)?;
            measured(&self.questions(), &sources, &columns, kept_names, &kept, |at| {
                self.0.question(at).0.len()
            })
        })
    }
}

impl Release {
    /// An item's column as a list of texts, numbers or bytes, or as a NumPy array of numbers where every row answers.
    fn list<'py>(
        &self,
        py: Python<'py>,
        item: usize,
        draws: ItemDraws,
    ) -> PyResult<Bound<'py, PyAny>> {
        let ItemDraws { drawn, answers } = draws;
        let outputs = self.0.policy(item).draft().outputs();
        let labels: Vec<String> = match (outputs.view(), self.0.combination(item, 0)) {
            (AlphabetView::Indices(_), _) | (_, Some(_)) => Vec::new(),
            _ => (0..outputs.len()).map(|y| outputs.label(y)).collect(),
        };
        let texts = matches!(outputs.view(), AlphabetView::Names(_));
        let numbers: Vec<f64> =
            labels.iter().map(|label| label.parse().unwrap_or(f64::NAN)).collect();
        let indices = match &drawn {
            Drawn::Indices(indices) => indices.as_slice(),
            Drawn::Bits { .. } => &[],
        };
        if answers.is_none()
            && !texts
            && self.0.combination(item, 0).is_none()
            && !indices.is_empty()
        {
            return Ok(match numbers.is_empty() {
                true => PyArray1::from_slice(py, indices).into_any(),
                false => {
                    let values = indices.iter().map(|&y| numbers[y as usize]).collect();
                    PyArray1::from_vec(py, values).into_any()
                }
            });
        }
        let cell = |at: usize| -> PyResult<Bound<'py, PyAny>> {
            Ok(match &drawn {
                Drawn::Bits { packed, width } => {
                    PyBytes::new(py, &packed[at * width..(at + 1) * width]).into_any()
                }
                Drawn::Indices(indices) => match self.0.combination(item, indices[at]) {
                    Some(text) => text.into_pyobject(py)?.into_any(),
                    None if texts => (&labels[indices[at] as usize]).into_pyobject(py)?.into_any(),
                    None if numbers.is_empty() => indices[at].into_pyobject(py)?.into_any(),
                    None => numbers[indices[at] as usize].into_pyobject(py)?.into_any(),
                },
            })
        };
        let outputs = match &drawn {
            Drawn::Indices(indices) => indices.len(),
            Drawn::Bits { packed, width } => packed.len() / width,
        };
        let list = PyList::empty(py);
        let mut next = 0;
        for row in 0..answers.as_ref().map_or(outputs, Vec::len) {
            if answers.as_ref().is_some_and(|answers| !answers[row]) {
                list.append(py.None())?;
                continue;
            }
            list.append(cell(next)?)?;
            next += 1;
        }
        Ok(list.into_any())
    }
}

/// What kept columns tell about questions, as JSON.
fn measured(
    names: &[String],
    sources: &[Source<'_>],
    columns: &[Column<'_>],
    kept_names: Vec<String>,
    kept: &[Bound<'_, PyAny>],
    symbols: impl Fn(usize) -> usize,
) -> PyResult<String> {
    let rows = rows(names, columns)?;
    let kept = kept.iter().map(Source::of).collect::<PyResult<Vec<_>>>()?;
    let kept: Vec<Texts<'_>> = kept.iter().map(Source::texts).collect::<PyResult<_>>()?;
    let texts: Vec<Texts<'_>> = sources.iter().map(Source::texts).collect::<PyResult<_>>()?;
    let question =
        |(at, name): (usize, &String)| KeptQuestion { name: name.clone(), symbols: symbols(at) };
    let found = measure(KeptRows {
        rows,
        kept: kept_names,
        questions: names.iter().enumerate().map(question).collect(),
        kept_text: &|column, row| kept[column](row),
        text: &|question, row| texts[question](row),
        code: &|question, row| columns[question].code(row),
    });
    Ok(found.map_err(failed)?.json().to_string())
}

/// What kept columns tell about a column that a policy randomises, as JSON.
#[pyfunction]
pub(crate) fn kept_beside(
    policy: &Policy,
    name: String,
    column: Bound<'_, PyAny>,
    kept_names: Vec<String>,
    kept: Vec<Bound<'_, PyAny>>,
) -> PyResult<String> {
    guarded(|| {
        let sources = [Source::of(&column)?];
        let inputs = policy.0.policy.draft().inputs();
        let columns = [Column::new(&sources[0], inputs, &policy.0.inputs)?];
        measured(&[name], &sources, &columns, kept_names, &kept, |_| inputs.len())
    })
}
