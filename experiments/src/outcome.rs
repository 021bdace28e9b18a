//! What an experiment found.

use serde::{Deserialize, Serialize};

use crate::plot::{Chart, titled};
use crate::{Claim, Error, Picture, Table};

/// A drawn picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawing {
    /// The file's name, without `.svg`.
    pub name: String,
    /// The picture.
    pub svg: String,
    /// Its panels one by one, for pages of any width; none if it is one drawing.
    pub charts: Vec<Chart>,
}

/// Tables, pictures, claims and remarks of one figure or table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// What a reader must know: choices made where the paper is silent, subsets, substitutes.
    pub notes: Vec<String>,
    /// The numbers.
    pub tables: Vec<Table>,
    /// The pictures.
    pub drawings: Vec<Drawing>,
    /// The paper's claims and what became of them.
    pub claims: Vec<Claim>,
}

impl Outcome {
    /// Adds a remark.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) {
        self.tables.push(table);
    }

    /// Draws and adds a picture.
    pub fn draw(&mut self, name: impl Into<String>, picture: &Picture) -> Result<(), Error> {
        let (name, svg, charts) = (name.into(), picture.svg()?, picture.charts()?);
        self.drawings.push(Drawing { name, svg, charts });
        Ok(())
    }

    /// Adds a drawing that is not made of panels.
    pub fn draw_whole(&mut self, name: impl Into<String>, title: &str, svg: &str) {
        let (name, svg) = (name.into(), titled(svg, title));
        self.drawings.push(Drawing { name, svg, charts: Vec::new() });
    }

    /// Adds a claim, and names it if it has no name yet.
    pub fn claim(&mut self, mut claim: Claim) {
        if claim.id.is_empty() {
            claim.id = claim.id_from_words();
        }
        self.claims.push(claim);
    }

    /// The table of that name.
    pub fn find_table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}
