//! Evaluates expressions on a document, so that other programs can be compared: the first argument is the document, standard
//! input has an expression on each line. Writes the document as it is evaluated, then an answer on each line.

use std::error::Error;
use std::io::{Read, stdin};

use ms_pla::xml::{Element, Limits};
use pla_report::Tree;
use pla_report::xpath::{Answer, Expression, Work};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: xpath_answers DOCUMENT < EXPRESSIONS")?;
    let tree = Tree::from_element(&Element::read(&std::fs::read(path)?, &Limits::default())?);
    let mut expressions = String::new();
    stdin().read_to_string(&mut expressions)?;
    println!("{}", serialise(&tree.to_xml(false)));
    for expression in expressions.lines() {
        println!("{}", serialise(&answer(expression, &tree)));
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
        Ok(Answer::Number(number)) => pla_report::xpath::number_text(number),
        Ok(Answer::Text(text)) => text,
        Err(error) => format!("error: {error}"),
    }
}

/// One line for a text.
fn serialise(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}
