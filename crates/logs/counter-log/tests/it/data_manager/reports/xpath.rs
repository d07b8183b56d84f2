use counter_log::data_manager::reports::Tree;
use counter_log::data_manager::reports::xpath::{Answer, Error, Expression, Work, number_text};
use ms_pla::xml::{Element, Limits};

/// The answers are those of xmllint (libxml2 2.9.14) on the document without comments and white space between elements; see
/// `crates/xtask/src/conformance/logs.rs`, which asks the one that is there.
const EXPRESSIONS: &str = include_str!("../../../data/reports/xpath.txt");
const ANSWERS: &str = include_str!("../../../data/reports/xpath_answers.txt");

/// Where xmllint does something else than XPath 1.0 says, or what is left out here; see `gaps.toml`.
const DIFFERENT: [(&str, &str); 7] = [
    ("/Report/namespace::xml", "error"),
    ("count(//namespace::*)", "error"),
    ("//@visible/following::Data[1]", "set 1: Interrupts/sec"),
    ("position()", "1"),
    ("last()", "1"),
    ("number('1e3')", "NaN"),
    ("//Data[number() = number()]", "set 17: 87.5"),
];

fn document() -> Tree {
    let element = Element::read(include_bytes!("../../../data/reports/xpath.xml"), &Limits::default());
    Tree::from_element(&element.expect("the document is XML"))
}

fn answer(expression: &str, tree: &Tree, units: usize) -> Result<Answer, Error> {
    Expression::parse(expression, 4096, 24)?.answer(tree, &mut Work::new(units))
}

fn shown(answer: Result<Answer, Error>) -> String {
    match answer {
        Ok(Answer::Nodes(count, text)) => format!("set {count}: {text}"),
        Ok(Answer::Boolean(is)) => is.to_string(),
        Ok(Answer::Number(number)) => number_text(number),
        Ok(Answer::Text(text)) => text,
        Err(_) => "error".to_owned(),
    }
}

/// xmllint writes 15 digits of a number, and exponents.
fn are_same(ours: &str, theirs: &str) -> bool {
    let numbers = (ours.parse::<f64>(), theirs.parse::<f64>());
    ours == theirs
        || matches!(numbers, (Ok(ours), Ok(theirs)) if (ours - theirs).abs() <= 1e-14 * theirs.abs())
}

#[test]
fn expressions_are_what_xmllint_says() {
    let tree = document();
    let expressions = EXPRESSIONS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert_eq!(expressions.clone().count(), ANSWERS.lines().count());
    for (expression, theirs) in expressions.zip(ANSWERS.lines()) {
        let known = DIFFERENT.iter().find(|(known, _)| *known == expression).map(|(_, ours)| *ours);
        let theirs = theirs.replace("\\n", "\n").replace("\\\\", "\\");
        let ours = shown(answer(expression, &tree, 1_000_000));
        assert!(are_same(&ours, known.unwrap_or(&theirs)), "{expression}\n  {ours}\n  {theirs}");
    }
}

#[test]
fn a_search_of_the_whole_document_looks_at_each_node_once() {
    let tree = document();
    let work = |expression: &str| {
        let mut work = Work::new(100_000);
        let expression = Expression::parse(expression, 4096, 24).expect("it is an expression");
        (expression.answer(&tree, &mut work).expect("it has a value"), work.done())
    };
    let (found, units) = work("//Item");
    let (same, more) = work("/descendant-or-self::node()[true()]/child::Item");
    assert_eq!(found, same);
    assert!(units * 2 < more, "{units} and {more}");
}

#[test]
fn errors_say_where_an_expression_is_wrong() {
    let check = |expression| answer(expression, &document(), 1000).map_err(|error| error.to_string());
    let wrong = |reason: &str| Err(reason.to_owned());
    assert_eq!(check("//Größe["), wrong("the expression is wrong at character 9: a name is expected here"));
    assert_eq!(
        check("foo(1)"),
        wrong("the expression is wrong at character 1: XPath 1.0 has no function `foo`")
    );
    assert_eq!(
        check("$x"),
        wrong(
            "the expression is wrong at character 1: variables of XPath are not there; variables of rules are in braces"
        )
    );
    assert_eq!(check("count('a')"), wrong("the argument of `count` has to be a set of nodes"));
}

#[test]
fn nesting_is_limited() {
    for (open, close) in [("(", ")"), ("not(", ")"), ("//a[", "]"), ("-(", ")")] {
        let deep = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert!(Expression::parse(&deep(23), 4096, 24).is_ok(), "{open}");
        let refused = Expression::parse(&deep(24), 4096, 24);
        assert!(matches!(refused, Err(Error::Depth { max: 24, .. })), "{open} {refused:?}");
    }
}

#[test]
fn expressions_that_are_long_but_flat_are_read() {
    let tree = document();
    let sum = |count: usize| shown(answer(&vec!["1"; count].join("+"), &tree, 100_000));
    assert_eq!(sum(2000), "2000");
    assert_eq!(shown(answer(&format!("{}1", "-".repeat(4001)), &tree, 100_000)), "-1");
    let path = format!("/Report{}", "/.".repeat(2000));
    assert_eq!(answer(&path, &tree, 100_000).map(|_| ()), Ok(()));
    let refused = Expression::parse(&" ".repeat(4097), 4096, 24);
    assert_eq!(refused, Err(Error::Length { bytes: 4097, max: 4096 }));
}

#[test]
fn work_ends_expressions_that_would_take_years() {
    let tree = document();
    let hostile = [
        "//*[//*[//*[//*[//*[//*[//*[//*]]]]]]]".to_owned(),
        "count(//*[count(//*[count(//*[count(//*[count(//*)=1])=1])=1])=1])".to_owned(),
        format!("count({})", vec!["//node()/following::node()"; 60].join("|")),
        format!(
            "/descendant::*{}",
            "/ancestor-or-self::*/descendant::*/following::node()/preceding::node()".repeat(30)
        ),
        format!(
            "string-length({})",
            (0..7).fold("string(/)".to_owned(), |inner, _| format!("concat({inner},{inner})"))
        ),
        format!("concat({})", vec!["/"; 1000].join(",")),
    ];
    for expression in hostile {
        let result = answer(&expression, &tree, 20_000);
        let is_refused = matches!(result, Err(Error::Work | Error::Syntax { .. } | Error::Depth { .. }));
        assert!(is_refused, "{expression} {result:?}");
    }
}

#[test]
fn the_memory_of_sets_of_nodes_is_limited_by_the_work() {
    let document = format!("<Report>{}</Report>", "<a/>".repeat(4000));
    let element = Element::read(document.as_bytes(), &Limits::default()).expect("the document is XML");
    let tree = Tree::from_element(&element);
    // Eight million nodes, most of them thousands of times.
    let taken = allocation_counter::measure(|| {
        assert_eq!(answer("//node()/following::node()", &tree, 2_000_000), Err(Error::Work));
    });
    assert!(taken.bytes_max < 24 << 20, "{} bytes", taken.bytes_max);
}

#[test]
fn huge_numbers_are_numbers() {
    let tree = document();
    assert_eq!(shown(answer(&"9".repeat(400), &tree, 1000)), "Infinity");
    assert_eq!(shown(answer(&format!("-{}", "9".repeat(400)), &tree, 1000)), "-Infinity");
    assert_eq!(shown(answer(&format!("0.{}1", "0".repeat(400)), &tree, 1000)), "0");
    assert_eq!(shown(answer(&format!("//*[{}]", "9".repeat(30)), &tree, 10_000)), "set 0: ");
    assert_eq!(
        shown(answer("substring('abc', -99999999999999999999, 999999999999999999999)", &tree, 1000)),
        "abc"
    );
}
