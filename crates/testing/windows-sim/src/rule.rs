//! Rules for single calls: a fault, a delay, an end of the connection.

use std::str::FromStr;
use std::time::Duration;

use dcerpc::FaultStatus;
use wire::Win32Error;

/// The service of rules that name none.
const DEFAULT_SERVICE: &str = "pcq";

/// A fault to inject into certain calls.
///
/// As text `[SERVICE/]OPNUM[.CODE][+SKIP][xTIMES]=ACTION`, where SERVICE is `pcq` if not given and OPNUM is a number
/// or `*`: `6+2x1=fault:0x1c00001b` lets the third QueryCounterData fail, `winreg/15=delay:3s` delays each OpenKey.
/// CODE is the request code of opnum 1 of `pcq`: `1.9=status:1168` refuses English names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Of which service, by its [name](crate::service::Service::name).
    pub service: String,
    /// Of which method; `None` for all of the service.
    pub opnum: Option<u16>,
    /// With which request code; `None` for all, and for methods without one.
    pub code: Option<u32>,
    /// Number of matching calls to let through first.
    pub skip: u32,
    /// Number of calls to which the action applies after that.
    pub times: u32,
    /// What happens to those.
    pub action: Action,
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// `fault:STATUS`: a fault is the answer.
    Fault(FaultStatus),
    /// `status:STATUS`: the method returns this and nothing else.
    Status(Win32Error),
    /// `grow:PERCENT`: the data has become larger than the client's buffer, by this percentage. Calls that ask for the
    /// size alone are neither affected nor counted.
    Grow(u32),
    /// `delay:DURATION`: the answer comes late.
    Delay(Duration),
    /// `lose-handles`: the service has forgotten all queries.
    LoseHandles,
    /// `corrupt:WHAT`: a size in the response is wrong.
    Corrupt(Corruption),
    /// `stall`: half of the answer's last fragment, then silence.
    Stall,
    /// `truncate`: half of the answer's last fragment, then the pipe ends.
    Truncate,
    /// `garbage`: bytes that are no PDU.
    Garbage,
    /// `oversize:BYTES`: an answer of so many bytes, in valid fragments.
    Oversize(usize),
    /// `drop`: the connection ends.
    Drop,
}

/// Which size in a response is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corruption {
    /// `corrupt:out-size`: more bytes than the client's buffer holds.
    OutSize,
    /// `corrupt:total-size`: dwTotalSize of the data.
    TotalSize,
    /// `corrupt:block-size`: dwSize of the first block.
    BlockSize,
    /// `corrupt:instance-count`: dwInstances of the first block.
    InstanceCount,
    /// `corrupt:string-offset`: dwOffset of the first counter's text.
    StringOffset,
    /// `corrupt:block-count`: dwNumCounters of the data is one less.
    BlockCount,
    /// `corrupt:index`: Index of each identifier of the query is 0.
    Index,
}

/// Why a text is not a [`Rule`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fault is [SERVICE/]OPNUM[.CODE][+SKIP][xTIMES]=ACTION, such as 6x1=delay:3s: {0}")]
pub struct ParseRuleError(String);

impl FromStr for Rule {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |what: &str| ParseRuleError(what.to_owned());
        let (head, action) = text.split_once('=').ok_or_else(|| invalid("there is no `=`"))?;
        let (service, head) = head.split_once('/').unwrap_or((DEFAULT_SERVICE, head));
        let (head, times) = match head.split_once('x') {
            Some((head, times)) => (head, times.parse().map_err(|_| invalid("TIMES is no number"))?),
            None => (head, u32::MAX),
        };
        let (opnum, skip) = match head.split_once('+') {
            Some((opnum, skip)) => (opnum, skip.parse().map_err(|_| invalid("SKIP is no number"))?),
            None => (head, 0),
        };
        let (opnum, code) = match opnum.split_once('.') {
            Some((opnum, code)) => (opnum, Some(code.parse().map_err(|_| invalid("CODE is no number"))?)),
            None => (opnum, None),
        };
        let opnum = match opnum {
            "*" => None,
            number => Some(number.parse().map_err(|_| invalid("OPNUM is neither a number nor `*`"))?),
        };
        Ok(Self { service: service.to_owned(), opnum, code, skip, times, action: action.parse()? })
    }
}

impl FromStr for Action {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |what: String| ParseRuleError(what);
        let (word, argument) = text.split_once(':').unwrap_or((text, ""));
        match word {
            "fault" => Ok(Self::Fault(FaultStatus(parse_status(argument)?))),
            "status" => Ok(Self::Status(Win32Error(parse_status(argument)?))),
            "grow" => {
                let percent = argument.parse();
                Ok(Self::Grow(percent.map_err(|_| invalid(format!("`{argument}` is no number of percent")))?))
            }
            "delay" => {
                let delay = humantime::parse_duration(argument);
                Ok(Self::Delay(delay.map_err(|error| invalid(format!("`{argument}`: {error}")))?))
            }
            "corrupt" => Ok(Self::Corrupt(match argument {
                "out-size" => Corruption::OutSize,
                "total-size" => Corruption::TotalSize,
                "block-size" => Corruption::BlockSize,
                "instance-count" => Corruption::InstanceCount,
                "string-offset" => Corruption::StringOffset,
                "block-count" => Corruption::BlockCount,
                "index" => Corruption::Index,
                other => return Err(invalid(format!("there is no corruption `{other}`"))),
            })),
            "lose-handles" => Ok(Self::LoseHandles),
            "stall" => Ok(Self::Stall),
            "truncate" => Ok(Self::Truncate),
            "garbage" => Ok(Self::Garbage),
            "oversize" => {
                let bytes =
                    argument.parse().map_err(|_| invalid(format!("`{argument}` is no number of bytes")))?;
                Ok(Self::Oversize(bytes))
            }
            "drop" => Ok(Self::Drop),
            other => Err(invalid(format!("there is no action `{other}`"))),
        }
    }
}

fn parse_status(text: &str) -> Result<u32, ParseRuleError> {
    let status = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    status.map_err(|_| ParseRuleError(format!("`{text}` is no status")))
}

/// What a rule looks at in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallKind {
    pub opnum: u16,
    /// The request code, for methods that have one.
    pub code: Option<u32>,
    /// Whether it asks for the size alone.
    pub is_probe: bool,
}

impl CallKind {
    /// A call without a request code.
    #[must_use]
    pub const fn new(opnum: u16) -> Self {
        Self { opnum, code: None, is_probe: false }
    }
}

impl Rule {
    /// Whether it is for this call.
    pub(crate) fn is_for(&self, service: &str, call: CallKind) -> bool {
        self.service == service
            && self.opnum.is_none_or(|only| only == call.opnum)
            && (self.code.is_none() || self.code == call.code)
            && !(call.is_probe && matches!(self.action, Action::Grow(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_is_none_says_which_part_is_wrong() {
        let error = |text: &str| text.parse::<Rule>().unwrap_err().to_string();
        assert!(error("6").ends_with("there is no `=`"));
        assert!(error("two=drop").ends_with("OPNUM is neither a number nor `*`"));
        assert!(error("6=corrupt:nothing").ends_with("there is no corruption `nothing`"));
        assert!(error("6=fault:0xzz").ends_with("`0xzz` is no status"));
        assert_eq!("6=fault:0x5".parse::<Rule>().unwrap().action, Action::Fault(FaultStatus(5)));
    }
}
