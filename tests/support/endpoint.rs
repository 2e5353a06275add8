//! An endpoint that gives prepared answers and keeps what it was asked.
#![allow(unreachable_pub, reason = "a module of several test binaries")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

pub struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Received>>>,
}

#[derive(Clone, Debug)]
pub struct Received {
    pub line: String,
    headers: Vec<(String, String)>,
    pub body: Value,
}

impl Received {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

pub struct Reply {
    status: u16,
    headers: String,
    body: String,
    endless: bool,
}

impl Reply {
    pub fn ok(body: &str) -> Self {
        Self::status(200, body)
    }

    pub fn status(status: u16, body: &str) -> Self {
        Self { status, headers: String::new(), body: body.to_owned(), endless: false }
    }

    /// Spaces until the client has had enough.
    pub fn endless() -> Self {
        Self { endless: true, ..Self::ok("") }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push_str(&format!("{name}: {value}\r\n"));
        self
    }

    fn write(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let Self { status, headers, body, endless } = self;
        if *endless {
            write!(stream, "HTTP/1.1 {status} X\r\nConnection: close\r\n\r\n")?;
            loop {
                stream.write_all(&[b' '; 64 * 1024])?;
            }
        }
        let length = body.len();
        write!(stream, "HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
    }
}

impl Server {
    /// A server that gives these answers, one for each connection, and then no more.
    pub fn answering(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let replies: Vec<_> = replies.into_iter().collect();
        // Ends with the process where fewer ask than there are answers.
        std::thread::spawn(move || {
            for reply in replies {
                let Ok((mut stream, _)) = listener.accept() else { return };
                kept.lock().unwrap().push(receive(&stream));
                // A client that has had enough is what some tests are about.
                let _ = reply.write(&mut stream);
            }
        });
        Self { url, requests }
    }

    pub fn url(&self) -> String {
        self.url.clone()
    }

    pub fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }
}

fn receive(stream: &TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Received { line: line.trim_end().to_owned(), headers, body: serde_json::from_slice(&body).unwrap() }
}
