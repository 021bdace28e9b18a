//! Where a sensor's values come from: lines, a column of a file, or a topic.

use std::io::BufRead;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc;
use undertone_fusion::runtime::{Address, Link, LinkEvent, LinkOptions, Numbering, Reading};

use crate::columns::{Layout, Source};
use crate::failure::Failure;

type Sender = mpsc::Sender<Result<Reading, Failure>>;
pub(super) type Receiver = mpsc::Receiver<Result<Reading, Failure>>;

/// Values on the command line.
#[derive(clap::Args)]
pub(super) struct ReadingArgs {
    /// Read values from this file, one per line; `-` is standard input. The default.
    #[arg(long, conflicts_with_all = ["csv", "topic"])]
    input: Option<PathBuf>,
    /// Replay a column of a CSV or Parquet file; row n is epoch n.
    #[arg(long, requires = "column", conflicts_with = "topic")]
    csv: Option<PathBuf>,
    /// The column to replay.
    #[arg(long, requires = "csv")]
    column: Option<String>,
    /// How many rows are replayed per second (default: as fast as the broker takes them).
    #[arg(long, requires = "csv", allow_negative_numbers = true)]
    rate: Option<f64>,
    /// Read values from this MQTT topic, one per message.
    #[arg(long)]
    topic: Option<String>,
    /// The broker of --topic (default: the one of --broker). It sees the values themselves.
    #[arg(long, requires = "topic")]
    topic_broker: Option<String>,
    /// Every line or message is an epoch's number, a space and the value.
    #[arg(long, conflicts_with_all = ["csv", "epoch_seconds"])]
    numbered: bool,
    /// An epoch is this many seconds of the clock, and its first value counts (default: every value is
    /// an epoch).
    #[arg(long, conflicts_with = "csv", allow_negative_numbers = true)]
    epoch_seconds: Option<f64>,
    #[command(flatten)]
    layout: Layout,
}

/// The time since 1970.
fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

impl ReadingArgs {
    /// Whether epochs are those of the clock.
    pub(super) fn by_clock(&self) -> bool {
        self.epoch_seconds.is_some()
    }

    /// Begins to read. `reports` is the connection the reports take.
    pub(super) fn start(&self, reports: &LinkOptions) -> Result<Receiver, Failure> {
        let numbering = match self.epoch_seconds {
            Some(seconds) => Numbering::by_clock(seconds)?,
            None if self.numbered => Numbering::Numbered,
            None => Numbering::Counted,
        };
        let pause = match self.rate {
            Some(rate) if !(rate > 0.0 && rate <= 1e6) => {
                return Err(Failure::usage(format!(
                    "--rate is {rate}: give a number of rows per second above 0, up to 1e6"
                )));
            }
            rate => rate.map(|rate| Duration::from_secs_f64(1.0 / rate)),
        };
        let (sender, receiver) = mpsc::channel(64);
        if let Some(topic) = &self.topic {
            self.follow(topic, reports, numbering, sender)?;
        } else if let (Some(file), Some(column)) = (&self.csv, &self.column) {
            let source = Source { file: file.clone(), layout: self.layout.clone() };
            let column = column.clone();
            std::thread::spawn(move || replay(&source, &column, pause, &sender));
        } else {
            let path = self.input.clone().unwrap_or_else(|| "-".into());
            std::thread::spawn(move || lines(&path, numbering, &sender));
        }
        Ok(receiver)
    }

    fn follow(
        &self,
        topic: &str,
        reports: &LinkOptions,
        numbering: Numbering,
        sender: Sender,
    ) -> Result<(), Failure> {
        let mut options = LinkOptions {
            client: format!("ut-values-{}", std::process::id()),
            filters: vec![topic.into()],
            ..reports.clone()
        };
        match &self.topic_broker {
            Some(broker) => {
                options.address = broker.parse::<Address>()?;
                if !options.address.secure {
                    options.tls = None;
                }
            }
            None => eprintln!(
                "warning: the broker of the reports also sees the values of {topic}: whoever reads \
                 that topic needs no reports; use a --topic-broker of the sensor's own"
            ),
        }
        let mut link = Link::open(options)?;
        tokio::spawn(async move {
            while let Some(event) = link.next().await {
                let value = match event {
                    LinkEvent::Delivered(message) => {
                        let text = String::from_utf8_lossy(&message.payload);
                        numbering.read(&text, now()).map_err(Failure::from)
                    }
                    LinkEvent::Refused { reason } => Err(Failure::input(reason)),
                    LinkEvent::Lost { reason } => {
                        eprintln!("no values for now: {reason}");
                        continue;
                    }
                    LinkEvent::Connected => continue,
                };
                // A message that cannot be read must not stop the sensor.
                let sent = match value {
                    Err(failure) if matches!(numbering, Numbering::Numbered) => {
                        failure.print(false);
                        Ok(())
                    }
                    value => sender.send(value).await,
                };
                if sent.is_err() {
                    return;
                }
            }
        });
        Ok(())
    }
}

fn replay(source: &Source, column: &str, pause: Option<Duration>, sender: &Sender) {
    let mut row = 0u64;
    let read = source.each_row(&[column], &mut |cells| {
        row += 1;
        let cell = cells.cells.first().and_then(|cell| cell.as_deref()).unwrap_or_default();
        let value = Reading { epoch: Some(row), cell: cell.to_owned() };
        if sender.blocking_send(Ok(value)).is_err() {
            return Err(Failure::input("nobody reads any more"));
        }
        if let Some(pause) = pause {
            std::thread::sleep(pause);
        }
        Ok(())
    });
    if let Err(failure) = read {
        let _ = sender.blocking_send(Err(failure));
    }
}

fn lines(path: &std::path::Path, numbering: Numbering, sender: &Sender) {
    let fail = |error: std::io::Error| Failure::of_system("read", path, &error);
    let input: Box<dyn BufRead> = if path == std::path::Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        match std::fs::File::open(path) {
            Ok(file) => Box::new(std::io::BufReader::new(file)),
            Err(error) => {
                let _ = sender.blocking_send(Err(fail(error)));
                return;
            }
        }
    };
    for line in input.lines() {
        let value = line.map_err(fail).and_then(|line| Ok(numbering.read(&line, now())?));
        let end = value.is_err();
        if sender.blocking_send(value).is_err() || end {
            return;
        }
    }
}
