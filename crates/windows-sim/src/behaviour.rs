use std::str::FromStr;
use std::time::Duration;

use dcerpc::FaultStatus;
use ms_dtyp::NtStatus;
use ms_smb2::Dialect;
use ms_smb2::server::Encryption;

/// What a host does otherwise than a healthy one. The default is a healthy one.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// SMB dialects that it speaks. None of them: it answers as a server that knows SMB1 only.
    pub dialects: Vec<Dialect>,
    /// Whether clients may or must encrypt SMB.
    pub encryption: Encryption,
    /// So many opens of `winreg` are refused before one succeeds, as while the service starts.
    pub refused_opens: u32,
    /// What they are refused with.
    pub refusal: NtStatus,
    /// The service stops when no call came for so long; its pipes break and its queries are gone.
    pub idle_stop: Option<Duration>,
    /// A session expires after so many messages into its pipes.
    pub session_expires_after: Option<u32>,
    /// What happens to single calls.
    pub rules: Vec<Rule>,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            dialects: Dialect::ALL.to_vec(),
            encryption: Encryption::Allowed,
            refused_opens: 0,
            refusal: NtStatus::STATUS_PIPE_NOT_AVAILABLE,
            idle_stop: None,
            session_expires_after: None,
            rules: Vec::new(),
        }
    }
}

/// Something that goes wrong with certain calls.
///
/// As text `OPNUM[+SKIP][xTIMES]=ACTION`, where OPNUM is `0` to `7` or `*`: `6+2x1=fault:0x1c00001b` lets the third
/// QueryCounterData fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Of which method; `None` for all.
    pub opnum: Option<u16>,
    /// How many of its calls are let through first.
    pub skip: u32,
    /// How many are hit after that.
    pub times: u32,
    /// What happens to them.
    pub action: Action,
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// `fault:STATUS`: a fault is the answer.
    Fault(FaultStatus),
    /// `delay:DURATION`: the answer comes late.
    Delay(Duration),
    /// `lose-handles`: the service has forgotten all queries.
    LoseHandles,
    /// `lie:WHAT`: a size in the answer is wrong.
    Lie(Lie),
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

/// Which size is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// `lie:out-size`: more bytes than the client's buffer holds.
    OutSize,
    /// `lie:total-size`: dwTotalSize of the data.
    TotalSize,
    /// `lie:block-size`: dwSize of the first block.
    BlockSize,
    /// `lie:instance-count`: dwInstances of the first block.
    InstanceCount,
    /// `lie:string-offset`: dwOffset of the first counter's text.
    StringOffset,
}

/// Why a text is no [`Rule`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fault is OPNUM[+SKIP][xTIMES]=ACTION, such as 6x1=delay:3s: {0}")]
pub struct ParseRuleError(String);

impl FromStr for Rule {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |what: &str| ParseRuleError(what.to_owned());
        let (head, action) = text.split_once('=').ok_or_else(|| invalid("there is no `=`"))?;
        let (head, times) = match head.split_once('x') {
            Some((head, times)) => (head, times.parse().map_err(|_| invalid("TIMES is no number"))?),
            None => (head, u32::MAX),
        };
        let (opnum, skip) = match head.split_once('+') {
            Some((opnum, skip)) => (opnum, skip.parse().map_err(|_| invalid("SKIP is no number"))?),
            None => (head, 0),
        };
        let opnum = match opnum {
            "*" => None,
            number => Some(number.parse().map_err(|_| invalid("OPNUM is neither a number nor `*`"))?),
        };
        Ok(Self { opnum, skip, times, action: action.parse()? })
    }
}

impl FromStr for Action {
    type Err = ParseRuleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |what: String| ParseRuleError(what);
        let (word, argument) = text.split_once(':').unwrap_or((text, ""));
        match word {
            "fault" => {
                let hexadecimal = argument.strip_prefix("0x").map(|digits| u32::from_str_radix(digits, 16));
                let status = hexadecimal.unwrap_or_else(|| argument.parse());
                Ok(Self::Fault(FaultStatus(
                    status.map_err(|_| invalid(format!("`{argument}` is no status")))?,
                )))
            }
            "delay" => {
                let delay = humantime::parse_duration(argument);
                Ok(Self::Delay(delay.map_err(|error| invalid(format!("`{argument}`: {error}")))?))
            }
            "lie" => Ok(Self::Lie(match argument {
                "out-size" => Lie::OutSize,
                "total-size" => Lie::TotalSize,
                "block-size" => Lie::BlockSize,
                "instance-count" => Lie::InstanceCount,
                "string-offset" => Lie::StringOffset,
                other => return Err(invalid(format!("there is no lie `{other}`"))),
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

impl Behaviour {
    /// What happens to this call. Each rule that is for its method counts it; the first that hits it decides.
    pub(crate) fn action_for(&mut self, opnum: u16) -> Option<Action> {
        let mut hit = None;
        for rule in self.rules.iter_mut().filter(|rule| rule.opnum.is_none_or(|only| only == opnum)) {
            if rule.skip > 0 {
                rule.skip -= 1;
            } else if rule.times > 0 && hit.is_none() {
                rule.times = rule.times.saturating_sub(u32::from(rule.times != u32::MAX));
                hit = Some(rule.action.clone());
            }
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_hits_as_many_calls_of_its_method_as_it_says() {
        let rules = vec!["6+1x1=drop".parse().unwrap(), "*=delay:3s".parse().unwrap()];
        let mut behaviour = Behaviour { rules, ..Behaviour::default() };
        let delay = Some(Action::Delay(Duration::from_secs(3)));
        assert_eq!(behaviour.action_for(0), delay);
        assert_eq!(behaviour.action_for(6), delay);
        assert_eq!(behaviour.action_for(6), Some(Action::Drop));
        assert_eq!(behaviour.action_for(6), delay);
    }

    #[test]
    fn a_rule_that_is_none_says_which_part_is_wrong() {
        let error = |text: &str| text.parse::<Rule>().unwrap_err().to_string();
        assert!(error("6").ends_with("there is no `=`"));
        assert!(error("two=drop").ends_with("OPNUM is neither a number nor `*`"));
        assert!(error("6=lie:nothing").ends_with("there is no lie `nothing`"));
        assert!(error("6=fault:0xzz").ends_with("`0xzz` is no status"));
        assert_eq!("6=fault:0x5".parse::<Rule>().unwrap().action, Action::Fault(FaultStatus(5)));
    }
}
