use super::*;

#[test]
fn every_profile_of_ours_is_right_in_every_way_to_ask_for_it() {
    for name in BUILT_IN_PROFILES {
        for bug_compatible in [false, true] {
            for others in [None, Some(Others::Native)] {
                let options = Options { others, bug_compatible };
                let text = built_in_text(name).unwrap();
                if let Err(report) = profile::parse(name, text, options) {
                    panic!("{report}");
                }
                assert!(profile_of_ours(name, options).is_some());
            }
        }
    }
}
