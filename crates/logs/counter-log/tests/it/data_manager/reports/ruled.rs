//! Rules applied to the report of the invented server.

use counter_log::data_manager::reports::xpath::{Answer, Expression, Work};
use counter_log::data_manager::reports::{Applied, Limits, Options, Report, Rules};

use crate::data_manager::reports::run::Run;

/// A report with rules applied, and what they did.
pub(crate) struct Ruled {
    pub(crate) report: Report,
    pub(crate) applied: Applied,
}

/// Applies rules to the report of the invented server. The folder of its run has one document.
pub(crate) fn apply_all(rules: &str, limits: &Limits) -> Ruled {
    let mut report = Report::build(None, &Run::server().source(), &Options::default());
    let rules = Rules::read_document(rules.as_bytes(), limits).expect("the rules are rules");
    let mut documents = |name: &str| match name {
        "config.xml" => {
            Ok(b"<Config><Section name='registry' key='99'><Table name='keys'/></Section><a>1</a></Config>"
                .to_vec())
        }
        "bad.xml" => Ok(b"<Config>".to_vec()),
        _ => Err("there is no such file".to_owned()),
    };
    let applied = rules.apply(&mut report, &mut documents, limits);
    Ruled { report, applied }
}

/// Applies the steps of one rule.
pub(crate) fn apply(steps: &str) -> Ruled {
    apply_all(
        &format!("<Rules><Group name='g'><Rule name='r'>{steps}</Rule></Group></Rules>"),
        &Limits::default(),
    )
}

impl Ruled {
    /// What an expression is, as a text; how many nodes, where it selects some.
    pub(crate) fn ask(&self, expression: &str) -> String {
        let expression = Expression::parse(expression, 4096, 24).expect("the expression is one");
        match expression.answer(self.report.tree(), &mut Work::new(10_000_000)) {
            Ok(Answer::Nodes(count, text)) => format!("{count}: {text}"),
            Ok(Answer::Boolean(is)) => is.to_string(),
            Ok(Answer::Number(number)) => number.to_string(),
            Ok(Answer::Text(text)) => text,
            Err(error) => error.to_string(),
        }
    }

    pub(crate) fn failures(&self) -> Vec<String> {
        self.applied.failures.iter().map(ToString::to_string).collect()
    }
}

/// A step on the root of the report that does these actions.
pub(crate) fn on_report(actions: &str) -> String {
    format!("<Step select='/Report'><Exists><When expression='true()'>{actions}</When></Exists></Step>")
}
