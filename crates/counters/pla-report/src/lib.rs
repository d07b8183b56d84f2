//! Reports of data collector sets, [MS-PLA] 2.2.3.3, and the rules that add to them, 2.2.3.4 to 2.2.8.
