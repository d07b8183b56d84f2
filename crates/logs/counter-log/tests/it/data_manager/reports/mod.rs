//! Tests of reports and rules from the outside.

mod host_names;
mod pages;
mod ruled;
mod rules;
mod rules_actions;
mod rules_limits;
mod run;
mod statistics;
mod tables;
mod xpath;
