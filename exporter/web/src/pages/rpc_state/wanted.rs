//! Which calls a reader asked to see: the filters of the command, as parameters.

use rpc_cells::view::CallFilter;

use crate::pages::html::{Html, Query, Url};
use crate::rpc_state::number;

/// The parameters, their labels, and what is an example of them.
const PARAMETERS: [(&str, &str, &str); 4] = [
    ("pid", "Process", "1234"),
    ("interface", "Interface", "0xb60040e0"),
    ("operation", "Operation", "4"),
    ("call_id", "Call id", "3"),
];

/// What a reader asked to see.
pub(super) struct Wanted {
    pub(super) calls: CallFilter,
    /// The parameters as they were given.
    texts: [String; 4],
    /// What is wrong with them.
    pub(super) problem: Option<String>,
}

impl Wanted {
    pub(super) fn of(query: &Query<'_>) -> Self {
        let texts = PARAMETERS.map(|(name, _, _)| query.get(name).trim().to_owned());
        let [pid, interface, operation, call_id] = &texts;
        let mut problem = None;
        let calls = CallFilter {
            pid: value("pid", pid, &mut problem),
            interface_start: value("interface", interface, &mut problem),
            opnum: value("operation", operation, &mut problem),
            call_id: value("call_id", call_id, &mut problem),
        };
        Self { calls, texts, problem }
    }

    pub(super) fn is_all(&self) -> bool {
        self.texts.iter().all(String::is_empty)
    }

    pub(super) fn write(&self, html: &mut Html) {
        html.ours("<form class=\"search numbers\" role=\"search\" aria-label=\"Calls\" method=\"get\"");
        html.action(&Url::of("rpc-state")).ours(">");
        for ((name, label, example), text) in PARAMETERS.iter().zip(&self.texts) {
            html.ours("<label>").ours(label).ours(" <input").attr("name", name).attr("value", text);
            html.attr("placeholder", example).ours(" autocomplete=\"off\" spellcheck=\"false\"></label>");
        }
        html.ours("<button type=\"submit\">Show</button>");
        if !self.is_all() {
            html.ours("<a").href(&Url::of("rpc-state")).ours(">Show all</a>");
        }
        html.ours("</form>\n");
        if let Some(problem) = &self.problem {
            html.ours("<p class=\"notice\">").text(problem).ours("</p>");
        }
    }
}

/// The value of a parameter that was given; the first that is wrong is the problem.
fn value<T: TryFrom<u64>>(name: &str, text: &str, problem: &mut Option<String>) -> Option<T> {
    if text.is_empty() {
        return None;
    }
    let number = number(text);
    number.map_err(|error| problem.get_or_insert(format!("{name} `{text}` is ignored: {error}"))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(query: &str) -> Wanted {
        Wanted::of(&Query::of(&format!("/rpc-state?{query}").parse().expect("it is an address")))
    }

    #[test]
    fn parameters_are_those_of_the_command() {
        let all = wanted("pid=7&interface=0xb60040e0&operation=4&call_id=3");
        let expected =
            CallFilter { pid: Some(7), interface_start: Some(0xb600_40e0), opnum: Some(4), call_id: Some(3) };
        assert_eq!((all.calls, all.problem), (expected, None));
        let none = wanted("pid=+&operation=");
        assert!(none.is_all() && none.calls == CallFilter::default());
    }

    #[test]
    fn a_parameter_that_is_no_number_is_ignored_and_said() {
        let bad = wanted("pid=b6&operation=65536&call_id=2");
        assert_eq!(bad.calls, CallFilter { call_id: Some(2), ..CallFilter::default() });
        let problem = bad.problem.expect("it is said");
        assert!(problem.starts_with("pid `b6` is ignored: ") && problem.contains("after 0x"), "{problem}");
    }
}
