use pla_engine::{Comparison, Threshold};
use proptest::prelude::*;

fn parse(text: &str) -> Result<(String, Comparison, f64), (usize, &'static str)> {
    match text.parse::<Threshold>() {
        Ok(Threshold { path, comparison, limit }) => Ok((path.to_string(), comparison, limit)),
        Err(error) => Err((error.position, error.reason)),
    }
}

#[test]
fn a_threshold_is_a_path_a_comparison_and_a_number() {
    for (text, path, comparison, limit) in [
        // The example of [MS-PLA] 3.2.4.8.
        (
            r"\Processor(_Total)\% Processor Time>1",
            r"\Processor(_Total)\% Processor Time",
            Comparison::Above,
            1.0,
        ),
        (r"\Memory\Available MBytes < 4.5", r"\Memory\Available MBytes", Comparison::Below, 4.5),
        ("\t\\\\web1\\System\\Threads>\t1.5e3 ", r"\\web1\System\Threads", Comparison::Above, 1500.0),
        (r"\Thing(a>b)\Depth<-2", r"\Thing(a>b)\Depth", Comparison::Below, -2.0),
        (r"\Thing(*)\Depth>+.5", r"\Thing(*)\Depth", Comparison::Above, 0.5),
        (r"\Thing(a<1;b)\Depth>2", r"\Thing(a<1;b)\Depth", Comparison::Above, 2.0),
        (r"Memory\Available MBytes<4", r"\Memory\Available MBytes", Comparison::Below, 4.0),
    ] {
        assert_eq!(parse(text), Ok((path.to_owned(), comparison, limit)), "{text}");
    }
}

#[test]
fn a_mistake_is_told_with_its_position() {
    let comma = "a comma: write decimals with a point, and thousands without a separator";
    for (text, position, reason) in [
        (r"\Memory\Available MBytes", 24, "`<` or `>` and a number are missing"),
        (r"\Memory\Available MBytes<", 25, "a number is missing"),
        (r"\Memory\Available MBytes< ", 26, "a number is missing"),
        (r"\Mémoire\Mo disponibles<4,5", 25, comma),
        (
            r"\Memory\Pages/sec>1;\System\Threads",
            19,
            "a semicolon: write each threshold as an entry of its own",
        ),
        (r"\A\B > 1 ; \A\C > 2", 9, "a semicolon: write each threshold as an entry of its own"),
        (r"\Memory\Pages/sec>80%", 20, "a percent sign: write the number alone, the unit is the counter's"),
        (r"\Memory\Pages/sec>inf", 18, "this does not belong to a number"),
        (r"\Memory\Pages/sec>NaN", 18, "this does not belong to a number"),
        (r"\Memory\Pages/sec>0x10", 19, "this does not belong to a number"),
        (r"\Memory\Pages/sec>1-2", 18, "this is not a number"),
        (r"\Memory\Pages/sec>1e999", 18, "the number is too large"),
        (r" Memory>1", 7, "`\\` and a counter are missing"),
        (r"A\B>1;A\C>2", 5, "a semicolon: write each threshold as an entry of its own"),
        ("", 0, "`<` or `>` and a number are missing"),
    ] {
        assert_eq!(parse(text), Err((position, reason)), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_panics_and_what_is_read_is_written_the_same(text in r"[\\a-z(/)*# <>,;.0-9e-]{0,40}") {
        if let Ok(threshold) = text.parse::<Threshold>() {
            prop_assert_eq!(threshold.to_string().parse::<Threshold>(), Ok(threshold));
        }
    }

    #[test]
    fn the_position_of_a_mistake_is_within_the_text(text: String) {
        if let Err(error) = text.parse::<Threshold>() {
            prop_assert!(error.position <= text.chars().count());
        }
    }
}
