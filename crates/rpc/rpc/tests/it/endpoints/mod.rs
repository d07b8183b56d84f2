mod epm;
mod mgmt;
