//! Where traces are sent to: a small HTTP server that behaves as it is told.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::protobuf::{self, Span};

/// Longer than anything takes, and short of for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// How requests are answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answer {
    /// With this status.
    Status(u16),
    /// Not before it is told otherwise.
    Never,
    /// By closing the connection.
    Hangup,
    /// With a body that has no end.
    Endless,
    /// To look elsewhere.
    Elsewhere,
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) line: String,
    pub(super) headers: String,
    pub(super) body: Vec<u8>,
}

pub(super) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    answer: Mutex<Answer>,
    received: Mutex<Vec<Received>>,
    changed: Condvar,
}

impl Receiver {
    pub(super) fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared =
            Arc::new(Shared { answer: Mutex::new(answer), received: Mutex::default(), changed: Condvar::new() });
        let serving = Arc::clone(&shared);
        // It ends with the process: what it holds is a socket of the loopback interface.
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&serving);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { address, shared }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn answer(&self, answer: Answer) {
        *self.shared.answer.lock().unwrap() = answer;
        self.shared.changed.notify_all();
    }

    pub(super) fn requests(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    pub(super) fn spans(&self) -> Vec<Span> {
        self.requests().iter().flat_map(|request| protobuf::spans(&request.body)).collect()
    }

    /// Waits for this many requests.
    pub(super) fn wait_for(&self, count: usize) {
        let received = self.shared.received.lock().unwrap();
        let is_less = |received: &mut Vec<Received>| received.len() < count;
        let (_received, waited) = self.shared.changed.wait_timeout_while(received, PATIENCE, is_less).unwrap();
        assert!(!waited.timed_out(), "there are no {count} requests");
    }
}

fn serve(stream: TcpStream, shared: &Shared) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = read(&mut reader) {
        shared.received.lock().unwrap().push(request);
        shared.changed.notify_all();
        if reply(&stream, shared).is_none() {
            return;
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Received> {
    let (mut line, mut headers, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        headers.push_str(&header);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received { line: line.trim().to_owned(), headers, body })
}

/// Answers; none where the connection is of no more use.
fn reply(mut stream: &TcpStream, shared: &Shared) -> Option<()> {
    let answer = shared.answer.lock().unwrap();
    let answer = *shared.changed.wait_while(answer, |answer| *answer == Answer::Never).unwrap();
    match answer {
        Answer::Status(status) => {
            let reply =
                format!("HTTP/1.1 {status} Said\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(reply.as_bytes()).ok()
        }
        Answer::Elsewhere => {
            let reply = "HTTP/1.1 307 Elsewhere\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n";
            stream.write_all(reply.as_bytes()).ok()
        }
        Answer::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\n\r\n").ok()?;
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
            None
        }
        Answer::Hangup | Answer::Never => None,
    }
}
