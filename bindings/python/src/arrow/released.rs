//! Randomised outputs as Arrow arrays.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, FixedSizeBinaryArray, Float64Array, PrimitiveArray, StringArray,
    UInt32Array,
};
use arrow_schema::{ArrowError, DataType};
use undertone_core::{AlphabetView, Decimal, Draft};

use crate::draw::{Drawn, Prepared};

/// What an index is written as.
pub(crate) enum Released {
    /// The index itself.
    Indices,
    /// Texts or numbers, one per output.
    Labels(ArrayRef),
    /// Rows of packed bits.
    Bits(i32),
}

fn float(value: &Decimal) -> f64 {
    // Through the text, which is rounded once; a division would round twice.
    value.to_string().parse().unwrap_or(f64::NAN)
}

impl Released {
    pub(crate) fn new(prepared: &Prepared) -> Self {
        Self::of(prepared.policy.draft())
    }

    /// How the outputs of a policy are written.
    pub(crate) fn of(draft: &Draft) -> Self {
        match draft.shape().releases_bits() {
            true => Self::Bits(draft.shape().outputs().div_ceil(8) as i32),
            false => Self::of_outputs(draft),
        }
    }

    fn of_outputs(draft: &Draft) -> Self {
        match draft.outputs().view() {
            AlphabetView::Indices(_) => Self::Indices,
            AlphabetView::Names(names) => {
                Self::Labels(Arc::new(StringArray::from_iter_values(names)))
            }
            AlphabetView::Points(values) | AlphabetView::Bins { values, .. } => {
                Self::Labels(Arc::new(Float64Array::from_iter_values(values.iter().map(float))))
            }
        }
    }

    /// The type a column of type `input` is released as.
    pub(crate) fn data_type(&self, input: &DataType) -> DataType {
        match self {
            Self::Indices => DataType::UInt32,
            Self::Bits(width) => DataType::FixedSizeBinary(*width),
            Self::Labels(labels) if is_dictionary(input) => DataType::Dictionary(
                Box::new(DataType::Int32),
                Box::new(arrow_array::Array::data_type(labels).clone()),
            ),
            Self::Labels(labels) => arrow_array::Array::data_type(labels).clone(),
        }
    }

    /// What was drawn for a column of type `input`.
    pub(crate) fn array(&self, drawn: Drawn, input: &DataType) -> Result<ArrayRef, ArrowError> {
        Ok(match (self, drawn) {
            (_, Drawn::Bits { packed, width }) => {
                Arc::new(FixedSizeBinaryArray::try_new(width as i32, packed.into(), None)?)
            }
            (Self::Labels(labels), Drawn::Indices(indices)) if is_dictionary(input) => {
                let keys = indices.into_iter().map(|index| index as i32);
                let keys = PrimitiveArray::<Int32Type>::from_iter_values(keys);
                Arc::new(DictionaryArray::try_new(keys, labels.clone())?)
            }
            (Self::Labels(labels), Drawn::Indices(indices)) => {
                arrow_select::take::take(labels, &UInt32Array::from(indices), None)?
            }
            (_, Drawn::Indices(indices)) => Arc::new(UInt32Array::from(indices)),
        })
    }
}

fn is_dictionary(input: &DataType) -> bool {
    matches!(input, DataType::Dictionary(_, _))
}
