//! What the data manager of a set does with its folders, [MS-PLA] 3.2.4.2: limits, folder actions, cabinet files.
