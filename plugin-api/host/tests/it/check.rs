use plugin_host::check;

use crate::support::{compile, compile_with};

#[test]
fn a_plugin_that_keeps_the_contract_passes() {
    let mut out = Vec::new();
    let report = check::run(&compile("pulse.c"), &mut out).expect("the output is kept");
    let text = String::from_utf8(out).expect("the output is text");
    assert!(report.is_ok() && report.skipped == 0, "{text}");
    assert!(text.contains("pulse 1.0: An example in C (ABI 1.0)"), "{text}");
    assert!(text.contains("full: 2 families, 2 series"), "{text}");
    assert!(text.ends_with(" kept, 0 broken, 0 not tried\n"), "{text}");
}

#[test]
fn settings_of_which_a_plugin_warns_are_accepted() {
    let file = compile_with("zoo/well_behaved.c", &["-DWARNS"]);
    let report = check::run(&file, &mut Vec::new()).expect("the output is kept");
    assert_eq!((report.skipped, report.failed), (0, vec![]));
}

#[test]
fn a_plugin_that_breaks_the_contract_is_told_how() {
    let report = check::run(&compile("zoo/lying_lengths.c"), &mut Vec::new()).expect("the output is kept");
    assert!(report.failed.iter().any(|law| law.contains("length_mismatch 4 times")), "{:?}", report.failed);
}

#[test]
fn a_plugin_that_does_not_end_its_collections_is_told_so() {
    let report = check::run(&compile("zoo/completes_late.c"), &mut Vec::new()).expect("the output is kept");
    assert!(
        report.failed.iter().any(|law| law == "animal: a collection ends by its deadline"),
        "{:?}",
        report.failed
    );
}

#[test]
fn what_does_not_load_is_told_why() {
    let report = check::run(&compile("zoo/wrong_major.c"), &mut Vec::new()).expect("the output is kept");
    assert!(report.failed[0].contains("expected plugin ABI 1.0, found 2.0"), "{:?}", report.failed);
}

#[test]
fn a_plugin_that_does_not_take_its_own_settings_again_is_told() {
    for options in [&[][..], &["-DMODE=PERFMON_MODE_BLOCKING"]] {
        let file = compile_with("zoo/stubborn.c", options);
        let report = check::run(&file, &mut Vec::new()).expect("the output is kept");
        let told = report.failed.iter().any(|failed| failed.contains("the same settings are accepted again"));
        assert!(told, "{options:?}: {:?}", report.failed);
    }
}
