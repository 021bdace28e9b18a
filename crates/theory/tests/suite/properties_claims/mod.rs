//! A search for channels that leak more than what is claimed: priors with masses of nought and of 10⁻¹²,
//! two to twelve symbols, budgets from 10⁻⁶ to 20 nats, orders from 1.0001 to 10⁴.

mod generate;
mod measured;
mod relations;
mod several;
