//! Schedules: `ISchedule`.

use com::oaut::{Date, Value, Variant};
use jiff::civil;
use ms_pla::schedule::*;
use ms_pla::xml::{self, Schedule};
use ms_pla::{AnyVariant, ISchedule, IScheduleServer};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::item::{Item, Methods, Part, Recorded, methods};
use super::property::{Property, properties};
use super::shared::Shared;
use super::{Calls, class};
use crate::service::objects::Refusing;

impl Part for Schedule {
    type Owner = ();
    const INTERFACES: &'static [Methods<Item<Self>>] = methods![ISchedule];

    fn class(_: &Shared<Self>) -> Guid {
        class::SCHEDULE
    }
}

impl Recorded for Schedule {
    type Record = Self;

    fn record_mut(&mut self) -> &mut Self {
        self
    }
}

/// [MS-OAUT] 2.2.25: the day that dates are counted from.
const DAY_ZERO: civil::Date = civil::date(1899, 12, 30);
const DAY_S: f64 = 86_400.0;

/// A property that is a VT_DATE, or VT_EMPTY for none.
fn variant(days: Option<f64>) -> Result<AnyVariant<'static>, HResult> {
    let Some(days) = days else { return Ok(Some(Box::new(Variant::empty()))) };
    let variant = Variant::new(Value::Date(Date(days))).map_err(|_| HResult::E_OUTOFMEMORY)?;
    Ok(Some(Box::new(variant)))
}

/// [MS-PLA] 3.2.4.12.2: the type is VT_DATE, or VT_EMPTY to unset the date.
fn days(value: &AnyVariant<'_>) -> Result<Option<f64>, HResult> {
    match value.as_ref().map(|variant| &variant.value) {
        Some(Value::Date(date)) => Ok(Some(date.0)),
        Some(Value::Empty) => Ok(None),
        Some(_) => Err(HResult::DISP_E_TYPEMISMATCH),
        None => Err(HResult::E_POINTER),
    }
}

fn of_date(date: xml::Date) -> Option<f64> {
    let date =
        civil::Date::new(date.year.try_into().ok()?, date.month.try_into().ok()?, date.day.try_into().ok()?);
    Some(f64::from(date.ok()?.since(DAY_ZERO).ok()?.get_days()))
}

/// The day, without its time.
fn to_date(days: f64) -> Result<xml::Date, HResult> {
    // A day below zero has its time after it, too.
    let days = whole(days.trunc()).ok_or(HResult::E_INVALIDARG)?;
    let date = jiff::Span::new().try_days(days).and_then(|span| DAY_ZERO.checked_add(span));
    let date = date.ok().filter(|date| date.year() >= 1000).ok_or(HResult::E_INVALIDARG)?;
    Ok(xml::Date {
        year: date.year().unsigned_abs(),
        month: date.month().unsigned_abs(),
        day: date.day().unsigned_abs(),
    })
}

fn of_time(time: xml::Time) -> f64 {
    let seconds = u32::from(time.hour) * 3600 + u32::from(time.minute) * 60 + u32::from(time.second);
    f64::from(seconds) / DAY_S
}

/// The time of day, without its day, in whole seconds.
fn to_time(days: f64) -> Result<xml::Time, HResult> {
    let seconds = whole((days.fract().abs() * DAY_S).round()).ok_or(HResult::E_INVALIDARG)?;
    let part = |number: i64| u8::try_from(number).map_err(|_| HResult::E_INVALIDARG);
    Ok(xml::Time {
        hour: part(seconds / 3600 % 24)?,
        minute: part(seconds / 60 % 60)?,
        second: part(seconds % 60)?,
    })
}

/// A whole number as such, if it is no more than dates need.
fn whole(number: f64) -> Option<i64> {
    let is_date = number.is_finite() && number.abs() < 10_000_000.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and its size was checked")]
    is_date.then_some(number as i64)
}

#[rustfmt::skip]
impl IScheduleServer for Calls<'_, Item<Schedule>> {
    properties! {
        record {
            days: get_days(GetDaysRequest) GetDaysReply, put_days(PutDaysRequest) PutDaysReply;
        }
    }

    fn get_start_date(&mut self, _: &GetStartDateRequest) -> ServerResult<GetStartDateReply<'static>, HResult> {
        let date = self.record(|record| record.start_date.and_then(of_date))?;
        Ok(GetStartDateReply { value: variant(date)?, status: HResult::S_OK })
    }

    fn put_start_date(&mut self, request: &PutStartDateRequest<'_>) -> ServerResult<PutStartDateReply, HResult> {
        let date = days(&request.value)?.map(to_date).transpose()?;
        self.record(|record| record.start_date = date)?;
        Ok(PutStartDateReply { status: HResult::S_OK })
    }

    fn get_end_date(&mut self, _: &GetEndDateRequest) -> ServerResult<GetEndDateReply<'static>, HResult> {
        let date = self.record(|record| record.end_date.and_then(of_date))?;
        Ok(GetEndDateReply { value: variant(date)?, status: HResult::S_OK })
    }

    fn put_end_date(&mut self, request: &PutEndDateRequest<'_>) -> ServerResult<PutEndDateReply, HResult> {
        let date = days(&request.value)?.map(to_date).transpose()?;
        self.record(|record| record.end_date = date)?;
        Ok(PutEndDateReply { status: HResult::S_OK })
    }

    fn get_start_time(&mut self, _: &GetStartTimeRequest) -> ServerResult<GetStartTimeReply<'static>, HResult> {
        let time = self.record(|record| record.start_time.map(of_time))?;
        Ok(GetStartTimeReply { value: variant(time)?, status: HResult::S_OK })
    }

    fn put_start_time(&mut self, request: &PutStartTimeRequest<'_>) -> ServerResult<PutStartTimeReply, HResult> {
        let time = days(&request.value)?.map(to_time).transpose()?;
        self.record(|record| record.start_time = time)?;
        Ok(PutStartTimeReply { status: HResult::S_OK })
    }
}

impl IScheduleServer for Refusing {}
