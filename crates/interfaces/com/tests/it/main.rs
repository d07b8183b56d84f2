mod comev;
mod comt;
mod dcom;
mod oaut;
