//! A file of bytes that went over the wire: a word and their hexadecimal digits in each line.

pub(crate) struct Recording(Vec<(&'static str, Vec<u8>)>);

impl Recording {
    pub(crate) fn read(text: &'static str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let (tag, hex) = line.split_once(' ').unwrap();
            let digit = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            (tag, (0..hex.len()).step_by(2).map(digit).collect())
        });
        Self(lines.collect())
    }

    pub(crate) fn all(&self, tag: &str) -> impl Iterator<Item = Vec<u8>> {
        self.0.iter().filter(move |(found, _)| *found == tag).map(|(_, bytes)| bytes.clone())
    }
}
