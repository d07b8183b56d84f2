use ms_pla::xml::{Element, Limits};

use super::Documents;
use crate::data_manager::reports::report::schema::shown;
use crate::data_manager::reports::tree::Tree;
use crate::data_manager::reports::xpath::{Error, Work};

/// Documents that rules have asked for, each read once.
pub(super) struct Cache<'a> {
    documents: &'a mut dyn Documents,
    documents_max: usize,
    known: Vec<(String, Result<Tree, String>)>,
}

impl<'a> Cache<'a> {
    pub(super) fn new(documents: &'a mut dyn Documents, documents_max: usize) -> Self {
        Self { documents, documents_max, known: Vec::new() }
    }

    /// The tree of a document of the folder of the run, or a phrase on why there is none. Reading it is work, and so is the memory of
    /// its tree, which is kept.
    ///
    /// # Errors
    /// When no work is left.
    pub(super) fn read(&mut self, name: &str, work: &mut Work) -> Result<Result<&Tree, String>, Error> {
        let known = self.known.iter().position(|(known, _)| known == name);
        let index = match known {
            Some(index) => index,
            None if self.known.len() >= self.documents_max => {
                return Ok(Err(format!("more than {} documents are not read", self.documents_max)));
            }
            None => {
                let tree = self.tree(name, work)?;
                self.known.push((name.to_owned(), tree));
                self.known.len() - 1
            }
        };
        Ok(match self.known.get(index) {
            Some((_, Ok(tree))) => Ok(tree),
            Some((_, Err(reason))) => Err(reason.clone()),
            None => Err("the document is not there".to_owned()),
        })
    }

    fn tree(&mut self, name: &str, work: &mut Work) -> Result<Result<Tree, String>, Error> {
        if !is_file_name(name) {
            return Ok(Err(format!(
                "`{}` is no name of a file in the folder of the run, which has no folders in it",
                shown(name)
            )));
        }
        let named = |reason: String| format!("read `{}`: {reason}", shown(name));
        let bytes = match self.documents.read(name) {
            Ok(bytes) => bytes,
            Err(reason) => return Ok(Err(named(reason))),
        };
        work.charge_bytes(bytes.len())?;
        let tree = match Element::read(&bytes, &Limits::default()) {
            Ok(element) => Tree::from_element(&element),
            Err(error) => return Ok(Err(named(error.to_string()))),
        };
        work.charge_bytes(tree.memory())?;
        Ok(Ok(tree))
    }
}

/// One component of a path, for Linux and for Windows.
fn is_file_name(name: &str) -> bool {
    let is_bad = |char: char| matches!(char, '/' | '\\' | ':') || char.is_control();
    !name.is_empty() && name.len() <= 255 && name != "." && name != ".." && !name.contains(is_bad)
}
