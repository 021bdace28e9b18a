//! How the output is made.

use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter, add_encoded_arrow_schema_to_metadata};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use super::notes::Notes;
use crate::columns::parquet::{Column, ParquetFile, bare_field};
use crate::frame::chosen::{Chosen, OutputColumn};
use crate::frame::{Frame, Released};

/// The name of every output's schema; the input's may say anything.
const SCHEMA: &str = "schema";

/// How the output is made.
pub(super) struct OutputForm {
    /// All columns of the output.
    pub(super) schema: TypePtr,
    /// Where each of its leaves comes from.
    pub(super) leaves: Vec<Leaf>,
    pub(super) properties: WriterProperties,
    /// The keys of what is not said again.
    pub(super) notes_left_out: Vec<String>,
    /// The columns that are drawn, in the order of the output: which items they are, and their fields.
    pub(super) items: Vec<usize>,
    drawn: Arc<Schema>,
    /// All columns of the output as arrays, for groups that lose rows, and how those that are kept are read.
    arrays: Arc<Schema>,
    pub(super) reading: ArrowReaderMetadata,
    /// For every item its outputs as the values of a dictionary, where they are texts.
    pub(super) labels: Vec<ArrayRef>,
}

/// A leaf of the output.
pub(super) enum Leaf {
    /// A drawn column, by its place among them.
    Drawn(usize),
    /// A leaf of the input.
    Kept(usize),
}

/// A column that is drawn, as it is encoded and as readers of Arrow's own notes see it.
struct DrawnField {
    written: Field,
    noted: Field,
}

impl DrawnField {
    fn new(frame: &Frame, item: usize, columns: &[Column], bare: &Schema) -> Self {
        let channel = &frame.channels[item];
        let (values, plain) = match &channel.released {
            Released::Integers(_) => (DataType::Int64, DataType::Int64),
            Released::Floats { .. } => (DataType::Float64, DataType::Float64),
            Released::Texts(_) => (categories(), DataType::Utf8),
            Released::Digits | Released::Combined(_) => (DataType::Utf8, DataType::Utf8),
        };
        let first = channel.questions.first().map(|&first| &columns[first]);
        let was = first.filter(|column| column.name == channel.name);
        let was = was.map(|column| bare.field(column.root));
        let may_be_null = frame.choose.is_some();
        // The name, whether it may be null, and the field's number stay.
        let field = |kind: DataType| match was {
            Some(was) => {
                was.clone().with_data_type(kind).with_nullable(was.is_nullable() || may_be_null)
            }
            None => Field::new(&channel.name, kind, may_be_null),
        };
        // Texts stay the kind of texts they were, categories among them.
        let noted = match (was.map(Field::data_type), plain) {
            (Some(kind @ (DataType::LargeUtf8 | DataType::Utf8View)), DataType::Utf8) => {
                kind.clone()
            }
            (Some(DataType::Dictionary(_, _)), DataType::Utf8) => categories(),
            (_, plain) => plain,
        };
        Self { written: field(values), noted: field(noted) }
    }
}

impl OutputForm {
    pub(super) fn new(
        frame: &Frame,
        file: &ParquetFile,
        columns: &[Column],
        chosen: &Chosen,
    ) -> Result<Self, ParquetError> {
        let about = file.metadata.file_metadata();
        let read = |options| ArrowReaderMetadata::try_new(file.metadata.clone(), options);
        let noted = read(ArrowReaderOptions::new())?;
        let bare: Vec<_> = noted.schema().fields().iter().map(|field| bare_field(field)).collect();
        let bare = Arc::new(Schema::new(bare));
        let reading = read(ArrowReaderOptions::new().with_schema(bare.clone()))?;
        let fields: Vec<DrawnField> = (0..frame.channels.len())
            .map(|item| DrawnField::new(frame, item, columns, &bare))
            .collect();
        let items: Vec<usize> = chosen
            .outputs
            .iter()
            .filter_map(|output| match output {
                OutputColumn::Item(item) => Some(*item),
                OutputColumn::Kept(_) => None,
            })
            .collect();
        let drawn: Vec<Field> = items.iter().map(|&item| fields[item].written.clone()).collect();
        let drawn = Arc::new(Schema::new(drawn));
        let arrays = |field: &dyn Fn(&DrawnField) -> Field| {
            let field = |output: &OutputColumn| match *output {
                OutputColumn::Item(item) => field(&fields[item]),
                OutputColumn::Kept(place) => bare.field(chosen.kept[place]).clone(),
            };
            Schema::new(chosen.outputs.iter().map(field).collect::<Vec<_>>())
        };
        let converted = ArrowSchemaConverter::new().convert(&drawn)?;
        let descriptor = about.schema_descr();
        let (mut roots, mut leaves, mut next) = (Vec::new(), Vec::new(), 0);
        for output in &chosen.outputs {
            match *output {
                OutputColumn::Item(_) => {
                    roots.push(converted.root_schema().get_fields()[next].clone());
                    leaves.push(Leaf::Drawn(next));
                    next += 1;
                }
                OutputColumn::Kept(place) => {
                    let root = chosen.kept[place];
                    roots.push(about.schema().get_fields()[root].clone());
                    let own = |leaf: &usize| descriptor.get_column_root_idx(*leaf) == root;
                    leaves.extend((0..descriptor.num_columns()).filter(own).map(Leaf::Kept));
                }
            }
        }
        let schema = Arc::new(Type::group_type_builder(SCHEMA).with_fields(roots).build()?);
        let notes = Notes::of(about, &chosen.kept_names);
        let mut properties = WriterProperties::builder()
            .set_key_value_metadata(Some(notes.kept))
            .set_created_by(concat!("undertone ", env!("CARGO_PKG_VERSION")).into())
            .set_max_row_group_row_count(None);
        if let (Some(group), Some(column)) = (file.metadata.row_groups().first(), columns.first()) {
            let codec = group.column(column.leaf).compression_codec();
            properties = properties.set_compression(codec.into());
        }
        let mut properties = properties.build();
        if notes.had_arrow_schema {
            let noted = arrays(&|field| field.noted.clone());
            add_encoded_arrow_schema_to_metadata(&noted, &mut properties);
        }
        let labels = frame
            .channels
            .iter()
            .map(|channel| -> ArrayRef { Arc::new(StringArray::from(channel.released.texts())) });
        Ok(Self {
            schema,
            leaves,
            properties,
            notes_left_out: notes.left_out,
            labels: labels.collect(),
            arrays: Arc::new(arrays(&|field| field.written.clone())),
            items,
            drawn,
            reading,
        })
    }

    /// The columns of a batch: those that are drawn, or all.
    pub(super) fn fields(&self, all: bool) -> Arc<Schema> {
        if all { self.arrays.clone() } else { self.drawn.clone() }
    }

    /// A file in memory for the drawn columns, or for all.
    pub(super) fn writer<'b>(
        &self,
        all: bool,
        bytes: &'b mut Vec<u8>,
    ) -> Result<ArrowWriter<&'b mut Vec<u8>>, ParquetError> {
        let mut options = ArrowWriterOptions::new()
            .with_properties(self.properties.clone())
            .with_skip_arrow_metadata(true);
        if all {
            options = options.with_parquet_schema(SchemaDescriptor::new(self.schema.clone()));
        }
        ArrowWriter::try_new_with_options(bytes, self.fields(all), options)
    }
}

/// Texts that are looked up in a list.
fn categories() -> DataType {
    DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into())
}
