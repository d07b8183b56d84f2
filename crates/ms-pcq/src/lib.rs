//! The Performance Counter Query Protocol [MS-PCQ].
