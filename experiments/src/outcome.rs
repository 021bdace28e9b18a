//! What an experiment found.

use serde::{Deserialize, Serialize};

use crate::{Claim, Error, Picture, Table};

/// A drawn picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawing {
    /// The file's name, without `.svg`.
    pub name: String,
    /// The picture.
    pub svg: String,
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
        self.drawings.push(Drawing { name: name.into(), svg: picture.svg()? });
        Ok(())
    }

    /// Adds a claim.
    pub fn claim(&mut self, claim: Claim) {
        self.claims.push(claim);
    }

    /// The table of that name.
    pub fn find_table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}
