use counters::{Filter, Selection, SelectionRules};

fn filter(include: &[&str], exclude: &[&str]) -> Filter {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Filter { include: owned(include), exclude: owned(exclude) }
}

fn instances(include: &[&str], exclude: &[&str]) -> Selection {
    Selection::new(SelectionRules { instances: filter(include, exclude), ..SelectionRules::default() })
        .unwrap()
}

#[test]
fn nothing_said_wants_everything() {
    let all = Selection::default();
    assert!(all.wants_instance("_Total") && all.wants_instance("") && all.wants_counter(None));
}

#[test]
fn the_example_of_the_configuration_keeps_the_grand_total() {
    let selection = instances(&[], &[".*,_Total"]);
    assert!(selection.wants_instance("0,0") && selection.wants_instance("_Total"));
    assert!(!selection.wants_instance("0,_Total") && !selection.wants_instance("1,_Total"));
}

#[test]
fn expressions_match_whole_names() {
    let selection = instances(&["C:|D", "[0-9]+"], &["13"]);
    let wanted = ["C:", "D", "7", "130"];
    let unwanted = ["D:", "AC:", "C:\\", "7a", "13", ""];
    assert!(wanted.iter().all(|name| selection.wants_instance(name)));
    assert!(!unwanted.iter().any(|name| selection.wants_instance(name)));
}

#[test]
fn a_rule_that_is_no_expression_says_where_it_stands() {
    let error = |include: &[&str], exclude: &[&str]| {
        let rules = SelectionRules { instances: filter(include, exclude), ..SelectionRules::default() };
        Selection::new(rules).unwrap_err().to_string()
    };
    assert!(error(&["ok", "a)(b"], &[]).starts_with("instances.include[1] is no regular expression: "));
    assert!(error(&[], &["*"]).starts_with("instances.exclude[0] is no regular expression: "));
    assert!(error(&["\\w{1000}{1000}"], &[]).contains("size limit"));
}

#[test]
fn totals_are_left_out_on_request() {
    let rules = SelectionRules { without_totals: true, ..SelectionRules::default() };
    let selection = Selection::new(rules).unwrap();
    assert!(!selection.wants_instance("_Total") && !selection.wants_instance("0,_Total"));
    assert!(selection.wants_instance("Total") && selection.wants_instance("my_Total,0"));
}

#[test]
fn counters_are_chosen_by_exact_name() {
    let rules = SelectionRules {
        counters: filter(&["% Processor Time", "Parking Status"], &["parking status"]),
        ..SelectionRules::default()
    };
    let selection = Selection::new(rules).unwrap();
    assert!(selection.wants_counter(Some("% processor time")));
    assert!(
        !selection.wants_counter(Some("% Processor")) && !selection.wants_counter(Some("Parking Status"))
    );
    assert!(!selection.wants_counter(None), "a counter without a name was not chosen");
}
