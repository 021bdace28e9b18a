//! Sensor networks: every sensor randomises what it saw; the fusion centre learns a public hypothesis and not a private one.
