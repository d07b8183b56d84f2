//! The table that a log becomes: one row for each sample.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr, WriterVersion};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

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
pub(super) fn properties() -> Result<WriterPropertiesPtr, ParquetError> {
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
