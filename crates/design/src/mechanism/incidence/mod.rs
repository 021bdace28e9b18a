//! Mechanisms that release a block of symbols (shape `Incidence`).
//!
//! A coin decides with probability P whether the released block contains the input, and one block of that kind is taken,
//! each as likely as the others. Where any two symbols share equally many blocks, a symbol that is not the input is in the
//! released block with one probability Q, whichever it is. So the number of reports whose block contains a symbol of share s is
//! Binomial(n, Q + (P - Q) s), like the count of one bit of a unary encoding, whatever the other shares are.

mod rates;

pub use rates::Rates;
