//! Evaluates expressions on a document, so that other programs can be compared: the arguments are the document, and a file with
//! an expression on each line. Writes the document as it is evaluated, then an answer on each line.

use std::error::Error;

use counter_log::data_manager::reports::Tree;
use counter_log::data_manager::reports::xpath::{Answer, Expression, Work};
use ms_pla::xml::{Element, Limits};

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: xpath_answers DOCUMENT EXPRESSIONS";
    let mut files = std::env::args().skip(1);
    let (document, expressions) = (files.next().ok_or(usage)?, files.next().ok_or(usage)?);
    let tree = Tree::from_element(&Element::read(&std::fs::read(document)?, &Limits::default())?);
    let expressions = std::fs::read_to_string(expressions)?;
    println!("{}", on_one_line(&tree.to_xml(false)));
    for expression in expressions.lines() {
        println!("{}", on_one_line(&answer(expression, &tree)));
    }
    Ok(())
}

fn answer(expression: &str, tree: &Tree) -> String {
    let expression = match Expression::parse(expression, 4096, 24) {
        Ok(expression) => expression,
        Err(error) => return format!("error: {error}"),
    };
    match expression.answer(tree, &mut Work::new(10_000_000)) {
        Ok(Answer::Nodes(count, text)) => format!("set {count}: {text}"),
        Ok(Answer::Boolean(is)) => is.to_string(),
        Ok(Answer::Number(number)) => counter_log::data_manager::reports::xpath::number_text(number),
        Ok(Answer::Text(text)) => text,
        Err(error) => format!("error: {error}"),
    }
}

/// One line for a text.
fn on_one_line(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}
