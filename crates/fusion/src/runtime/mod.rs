//! A network at work: sensors and centre as processes that talk over MQTT.
//!
//! [`Sensor`] and [`Center`] hold all the rules (budgets, epochs, what is refused) and know nothing of
//! networks or clocks; [`Link`] is a connection that comes back; [`SensorNode`] and [`CenterNode`]
//! put the two together; [`Board`] is what a centre shows. [`Broker`] is a small MQTT broker for demonstrations and tests.

mod address;
mod attacker;
mod board;
mod broker;
mod budget;
mod center;
mod center_node;
mod connection;
mod demo;
mod epochs;
mod journal;
mod link;
mod mosquitto;
pub mod packet;
mod reading;
mod sensor;
mod sensor_node;
mod sensor_run;
mod spending;
mod tls;
mod topics;
mod transport;

pub use address::Address;
pub use attacker::{Attacker, belief_range, least_error};
pub use board::{
    BeliefBounds, Board, BoardEvent, BoardState, BudgetState, DecisionState, PrivateState,
    PublicState, SensorState,
};
pub use broker::Broker;
pub use budget::Budget;
pub use center::{Center, Decision, DecisionRecord, Metrics, Pace, SensorMetrics, coin};
pub use center_node::{CenterEvent, CenterNode, CenterRecord};
pub use demo::{BeyondBudget, Demo, DemoReport, Step, Tally, six_rooms};
pub use epochs::Refusal;
pub use link::{Delivery, Link, LinkEvent, LinkOptions, Message};
pub use mosquitto::{Mosquitto, free_port};
pub use reading::{Numbering, Reading};
pub use sensor::Sensor;
pub use sensor_node::{SensorNode, system_generator};
pub use sensor_run::{ResetReport, SensorEvent, SensorRunReport, run_sensor};
pub use spending::Spending;
pub use tls::{Identity, client_config};
pub use topics::{Status, Topics};
pub use undertone_wire::{SensorReport, TokenKind};
