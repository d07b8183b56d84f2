//! A Parquet file as it grows: row groups, each at the place of the footer before.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataReader,
    ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type, TypePtr};

use super::Error;
use crate::batch::{Batch, Sample};
use crate::header::{Column, LogHeader};

/// After so many samples a row group is made.
pub const ROW_GROUP_VALUES: usize = 1 << 19;

/// What a Parquet file begins with.
pub const START: [u8; 4] = *b"PAR1";

/// What a Parquet file has so far. It knows where its bytes go, and writes none.
#[derive(Debug)]
pub struct Table {
    columns: Arc<[Column]>,
    schema: TypePtr,
    properties: WriterPropertiesPtr,
    about: Vec<KeyValue>,
    row_groups: Vec<RowGroupMetaData>,
    end: u64,
}

impl Table {
    /// A file without records: [`START`], then [`Self::footer`].
    ///
    /// # Errors
    /// When the library for Parquet refuses the schema, which it does not for the one here.
    pub fn new(header: &LogHeader) -> Result<Self, Error> {
        let zone = header.zone.iana_name().map(str::to_owned);
        let description = Some(header.description.clone()).filter(|text| !text.is_empty());
        let about = [("description", description), ("time_zone", zone)];
        Ok(Self {
            columns: header.columns.clone().into(),
            schema: schema()?,
            properties: properties()?,
            about: about
                .into_iter()
                .filter_map(|(key, value)| Some(KeyValue::new(key.to_owned(), value?)))
                .collect(),
            row_groups: Vec::new(),
            end: START.len() as u64,
        })
    }

    /// A file whose row groups end at `end`, with the footer that it had there.
    ///
    /// # Errors
    /// When `footer` is no footer of a Parquet file, or `end` is before the end of [`START`].
    pub fn with_footer(header: &LogHeader, footer: &[u8], end: u64) -> Result<Self, Error> {
        let mut table = Self::new(header)?;
        if end < table.end {
            return Err(Error::Journal("its row groups end before they begin"));
        }
        let thrift = footer.len().checked_sub(FOOTER_END_BYTES).and_then(|length| footer.get(..length));
        let metadata =
            ParquetMetaDataReader::decode_metadata(thrift.ok_or(Error::Journal("it has no footer"))?)?;
        table.row_groups = metadata.row_groups().to_vec();
        table.end = end;
        Ok(table)
    }

    /// Where the next row group goes, in bytes from the begin of the file. The footer is here until then.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Makes a row group of records, whose bytes belong at [`Self::end`] before the call.
    ///
    /// # Errors
    /// When the library for Parquet cannot write the records. The table is as before then.
    pub fn add(&mut self, batch: &Batch) -> Result<Vec<u8>, Error> {
        let mut writer = SerializedFileWriter::new(Vec::new(), self.schema.clone(), self.properties.clone())?;
        let mut group = writer.next_row_group()?;
        write_columns(&mut group, &self.columns, batch)?;
        let written = group.close()?;
        let mut bytes = writer.into_inner()?;
        let length = START.len() + usize::try_from(written.compressed_size()).unwrap_or(0);
        bytes.truncate(length);
        bytes.drain(..START.len());
        let ordinal = i32::try_from(self.row_groups.len()).unwrap_or(i32::MAX);
        self.row_groups.push(moved(&written, self.end - START.len() as u64, ordinal)?);
        self.end += bytes.len() as u64;
        Ok(bytes)
    }

    /// The directory of the row groups, the end of the file.
    ///
    /// # Errors
    /// When the library for Parquet cannot write it.
    pub fn footer(&self) -> Result<Vec<u8>, Error> {
        let descriptor = Arc::new(SchemaDescriptor::new(self.schema.clone()));
        // A footer that was read may say any numbers.
        let rows = self.row_groups.iter().map(RowGroupMetaData::num_rows).fold(0, i64::saturating_add);
        let about = Some(self.about.clone()).filter(|about| !about.is_empty());
        let created_by = Some(self.properties.created_by().to_owned());
        let file = FileMetaData::new(VERSION, rows, created_by, about, descriptor, None);
        let metadata = ParquetMetaData::new(file, self.row_groups.clone());
        let mut footer = Vec::new();
        ParquetMetaDataWriter::new(&mut footer, &metadata).finish()?;
        Ok(footer)
    }
}

/// The version of the format that all readers know.
const VERSION: i32 = 1;

/// The length of the directory, and the four letters that end a file.
const FOOTER_END_BYTES: usize = 8;

/// How many values are given to the encoder at a time, about.
const CHUNK: usize = 8192;

/// What a row group is called in the footer when it is `by` bytes later than where it was written.
fn moved(group: &RowGroupMetaData, by: u64, ordinal: i32) -> Result<RowGroupMetaData, ParquetError> {
    let by = i64::try_from(by).map_err(|_| ParquetError::General("the file is too long".to_owned()))?;
    let chunk = |chunk: &ColumnChunkMetaData| {
        let dictionary = chunk.dictionary_page_offset().map(|offset| offset + by);
        let data = chunk.data_page_offset() + by;
        chunk.clone().into_builder().set_dictionary_page_offset(dictionary).set_data_page_offset(data).build()
    };
    let chunks = group.columns().iter().map(chunk).collect::<Result<Vec<_>, _>>()?;
    let offset = group.file_offset().unwrap_or_default() + by;
    let group = group.clone().into_builder().set_column_metadata(chunks);
    group.set_file_offset(offset).set_ordinal(ordinal).build()
}

/// Writes all columns of the table, in the order of the schema.
fn write_columns(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    columns: &[Column],
    batch: &Batch,
) -> Result<(), ParquetError> {
    let text = |text: &str| ByteArray::from(text);
    let times: Vec<i64> = batch.rows().map(|row| row.time.as_microsecond()).collect();
    let mut writer = ColumnsWriter { group, columns, batch };
    writer.each::<Int64Type>(|_, row, _| times.get(row).copied())?;
    writer.constant::<ByteArrayType>(|column| Some(text(&column.machine)))?;
    writer.constant::<ByteArrayType>(|column| Some(text(&column.object)))?;
    writer.constant::<ByteArrayType>(|column| column.parent.as_deref().map(text))?;
    writer.constant::<ByteArrayType>(|column| column.instance.as_deref().map(text))?;
    writer.constant::<Int32Type>(|column| Some(column.instance_index.cast_signed()))?;
    writer.constant::<ByteArrayType>(|column| Some(text(&column.counter)))?;
    writer.constant::<Int32Type>(|column| Some(column.counter_type.cast_signed()))?;
    writer.each::<DoubleType>(|_, _, sample| sample.value.filter(|value| value.is_finite()))?;
    writer.each::<Int64Type>(|_, _, sample| Some(sample.raw?.first))?;
    writer.each::<Int64Type>(|_, _, sample| Some(sample.raw?.second))?;
    writer.each::<Int32Type>(|_, _, sample| Some(sample.raw?.multi_count.cast_signed()))?;
    writer.constant::<Int64Type>(|column| Some(column.time_base.cast_signed()))
}

struct ColumnsWriter<'a, 'b> {
    group: &'a mut SerializedRowGroupWriter<'b, Vec<u8>>,
    columns: &'a [Column],
    batch: &'a Batch,
}

impl ColumnsWriter<'_, '_> {
    /// A column of the table that depends on the column of the log only.
    fn constant<T: DataType>(&mut self, value: impl Fn(&Column) -> Option<T::T>) -> Result<(), ParquetError> {
        let records = self.batch.len();
        self.write::<T>(|column, values, levels| {
            let value = value(column.1);
            levels.extend(std::iter::repeat_n(i16::from(value.is_some()), records));
            values.extend(std::iter::repeat_n(value, records).flatten());
        })
    }

    /// A column of the table that each sample has a value of its own for.
    fn each<T: DataType>(
        &mut self,
        value: impl Fn(&Column, usize, &Sample) -> Option<T::T>,
    ) -> Result<(), ParquetError> {
        let batch = self.batch;
        self.write::<T>(|(index, column), values, levels| {
            for (number, row) in batch.rows().enumerate() {
                let value = row.samples.get(index).and_then(|sample| value(column, number, sample));
                levels.push(i16::from(value.is_some()));
                values.extend(value);
            }
        })
    }

    fn write<T: DataType>(
        &mut self,
        add: impl Fn((usize, &Column), &mut Vec<T::T>, &mut Vec<i16>),
    ) -> Result<(), ParquetError> {
        let mut writer =
            self.group.next_column()?.ok_or_else(|| ParquetError::General("no such column".to_owned()))?;
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let flush = |values: &mut Vec<T::T>, levels: &mut Vec<i16>, writer: &mut ColumnWriterOf<'_, T>| {
            let written = writer.write_batch(values, Some(levels), None).map(|_| ());
            values.clear();
            levels.clear();
            written
        };
        for column in self.columns.iter().enumerate() {
            add(column, &mut values, &mut levels);
            if levels.len() >= CHUNK {
                flush(&mut values, &mut levels, writer.typed::<T>())?;
            }
        }
        flush(&mut values, &mut levels, writer.typed::<T>())?;
        writer.close()
    }
}

type ColumnWriterOf<'a, T> = parquet::column::writer::ColumnWriterImpl<'a, T>;

// The table that a log becomes: one row for each sample.

/// A column of the table: name, physical type, what it means, whether it may be missing, whether it has a dictionary.
type Field = (&'static str, PhysicalType, Option<fn() -> LogicalType>, bool, bool);

const FIELDS: [Field; 13] = [
    ("time", PhysicalType::INT64, Some(utc_micros), false, true),
    ("machine", PhysicalType::BYTE_ARRAY, Some(string), false, true),
    ("object", PhysicalType::BYTE_ARRAY, Some(string), false, true),
    ("parent", PhysicalType::BYTE_ARRAY, Some(string), true, true),
    ("instance", PhysicalType::BYTE_ARRAY, Some(string), true, true),
    ("instance_index", PhysicalType::INT32, Some(u32_integer), false, true),
    ("counter", PhysicalType::BYTE_ARRAY, Some(string), false, true),
    ("counter_type", PhysicalType::INT32, Some(u32_integer), false, true),
    ("value", PhysicalType::DOUBLE, None, true, false),
    ("raw_first", PhysicalType::INT64, None, true, false),
    ("raw_second", PhysicalType::INT64, None, true, false),
    ("multi_count", PhysicalType::INT32, Some(u32_integer), true, true),
    ("time_base", PhysicalType::INT64, Some(u64_integer), false, true),
];

/// The schema of the table.
pub(super) fn schema() -> Result<TypePtr, ParquetError> {
    let fields = FIELDS.iter().map(|(name, physical, logical, is_optional, _)| {
        let repetition = if *is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(name, *physical).with_repetition(repetition);
        field.with_logical_type(logical.map(|logical| logical())).build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?))
}

/// How it is written. Pages are of version 1 and encodings are the oldest ones, which every reader knows.
fn properties() -> Result<WriterPropertiesPtr, ParquetError> {
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by("perfmon-exporter".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_dictionary_page_size_limit(DICTIONARY_BYTES_MAX)
        .set_dictionary_enabled(true);
    let plain = FIELDS.iter().filter(|(.., has_dictionary)| !has_dictionary);
    let properties = plain.fold(properties, |properties, (name, ..)| {
        properties.set_column_dictionary_enabled(ColumnPath::from(*name), false)
    });
    Ok(Arc::new(properties.build()))
}

/// The fastest: higher levels save little of numbers.
const ZSTD_LEVEL: i32 = 1;

/// Names of tens of thousands of instances.
const DICTIONARY_BYTES_MAX: usize = 4 << 20;

fn utc_micros() -> LogicalType {
    LogicalType::timestamp(true, TimeUnit::MICROS)
}

fn string() -> LogicalType {
    LogicalType::String
}

fn u32_integer() -> LogicalType {
    LogicalType::integer(32, false)
}

fn u64_integer() -> LogicalType {
    LogicalType::integer(64, false)
}
