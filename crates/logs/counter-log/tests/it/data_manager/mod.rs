//! Tests on real folders.

mod actions;
mod cabinets;
mod crash;
mod folders;
mod hostile;
mod links;
mod many;
mod place;
mod policy;
mod reports;
mod settings;
