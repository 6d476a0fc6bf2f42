//! Asks all disks at once, each in a thread of its own, and waits for none for ever.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::RunError;

/// How long a disk may take to answer before the load.
pub(super) const ANSWER: Duration = Duration::from_secs(10);

/// What a disk is, that has not answered by then.
pub(super) fn no_answer() -> String {
    format!("does not answer within {} s", ANSWER.as_secs())
}

/// The answers that came in time, by question, and where the late ones arrive.
pub(super) struct Answers<T> {
    pub(super) in_time: Vec<Option<T>>,
    pub(super) late: mpsc::Receiver<(usize, T)>,
}

/// Puts a question to each disk.
pub(super) fn ask_all<T, Q>(questions: impl IntoIterator<Item = Q>) -> Result<Answers<T>, RunError>
where
    T: Send + 'static,
    Q: FnOnce() -> T + Send + 'static,
{
    let (sender, late) = mpsc::channel();
    let mut in_time = Vec::new();
    for (index, question) in questions.into_iter().enumerate() {
        let sender = sender.clone();
        let ask = move || {
            let _ = sender.send((index, question()));
        };
        std::thread::Builder::new()
            .spawn(ask)
            .map_err(|error| RunError::cannot(format!("cannot start a thread: {error}")))?;
        in_time.push(None);
    }
    drop(sender);
    let deadline = Instant::now() + ANSWER;
    while let Ok((index, answer)) =
        late.recv_timeout(deadline.saturating_duration_since(Instant::now()))
    {
        in_time[index] = Some(answer);
    }
    Ok(Answers { in_time, late })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_where_their_questions_stood() {
        let questions = [30, 0, 10].map(|ms| {
            move || {
                std::thread::sleep(Duration::from_millis(ms));
                ms
            }
        });
        let answers = ask_all(questions).unwrap();
        assert_eq!(answers.in_time, [Some(30), Some(0), Some(10)]);
        assert!(answers.late.recv().is_err(), "nobody is late");
    }
}
