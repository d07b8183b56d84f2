/// What the server lets us send, [MS-SMB2] 3.2.4.1.5.
///
/// Message ids are taken in their order, so that the window is a number of credits and the next id.
#[derive(Debug)]
pub(super) struct Credits {
    available: u32,
    next_message_id: u64,
    wanted: u16,
}

impl Credits {
    /// A server that grants without end is not believed beyond this.
    const AVAILABLE_MAX: u32 = 8192;

    pub(super) const fn new(wanted: u16) -> Self {
        Self { available: 1, next_message_id: 0, wanted }
    }

    /// Pays for a request and answers its message id, where there are credits enough.
    pub(super) fn take(&mut self, charge: u16) -> Option<u64> {
        self.available = self.available.checked_sub(charge.into())?;
        let message_id = self.next_message_id;
        self.next_message_id += u64::from(charge);
        Some(message_id)
    }

    /// Takes what a response grants.
    pub(super) fn grant(&mut self, credits: u16) {
        self.available = (self.available + u32::from(credits)).min(Self::AVAILABLE_MAX);
    }

    /// How many to ask for with a request that costs `charge`: what it costs, and what is missing.
    pub(super) fn request(&self, charge: u16) -> u16 {
        let missing = u32::from(self.wanted).saturating_sub(self.available);
        u16::try_from(missing).unwrap_or(u16::MAX).max(charge)
    }

    /// How many requests of one credit could be sent now.
    pub(super) const fn available(&self) -> u32 {
        self.available
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_was_granted_is_never_taken() {
        let mut credits = Credits::new(10);
        assert_eq!(credits.take(1), Some(0));
        assert_eq!(credits.take(1), None);
        credits.grant(3);
        assert_eq!(credits.take(2), Some(1));
        assert_eq!(credits.take(2), None);
        assert_eq!(credits.take(1), Some(3));
    }

    #[test]
    fn generosity_without_end_is_not_believed() {
        let mut credits = Credits::new(10);
        for _ in 0..100_000 {
            credits.grant(u16::MAX);
        }
        assert_eq!(credits.available(), Credits::AVAILABLE_MAX);
        assert_eq!(credits.request(1), 1);
    }
}
