//! A model behind an OpenAI-compatible chat endpoint, such as vLLM, llama.cpp or Ollama serve too.

mod wire;

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url, redirect};

use super::model::{Answer, BoxFuture, Model, Request};
use crate::error::{Code, Error, Result};
use crate::text::{shown, shown_within};

/// Below the base of an endpoint, where its chats are.
const CHAT_PATH: &str = "chat/completions";

/// The most bytes of an answer. The longest that models give are some hundred KiB.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// The most bytes of an endpoint's complaint that a message repeats.
const MAX_COMPLAINT_BYTES: usize = 512;

/// How long an endpoint may take for one answer: models that think take minutes.
const ANSWER_TIME: Duration = Duration::from_secs(600);

/// How long to wait for a connection.
const CONNECT_TIME: Duration = Duration::from_secs(15);

/// How often a request is made that an endpoint is too busy for.
const ATTEMPTS: u32 = 4;

/// How long to wait before the second attempt, and twice as long before each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest wait that an endpoint may ask for.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Where a model is, and how it is asked.
#[derive(Clone)]
pub struct OpenAiOptions {
    url: Url,
    model: String,
    key: Option<Key>,
}

/// A key, in the header that it is sent in and as what no message may have in it.
#[derive(Clone)]
struct Key {
    header: HeaderValue,
    text: String,
}

impl OpenAiOptions {
    /// The model of a name behind an endpoint. `url` is its base, such as `http://localhost:8080/v1`, or the
    /// address of its chats itself.
    ///
    /// # Errors
    /// `invalid-configuration` for anything else than an `http` or `https` address.
    pub fn new(url: &str, model: impl Into<String>) -> Result<Self> {
        // It is not repeated: whoever mistypes one may have a password in it.
        let wrong = |why: &str| {
            let message = format!("the address of the model is none: {why}; give one such as http://localhost:8080/v1");
            Error::host(Code::InvalidConfiguration, message)
        };
        let mut parsed = Url::parse(url).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(wrong("only http and https are spoken"));
        }
        if !parsed.path().ends_with(CHAT_PATH) {
            let base = parsed.path().trim_end_matches('/').to_owned();
            parsed.set_path(&format!("{base}/{CHAT_PATH}"));
        }
        Ok(Self { url: parsed, model: model.into(), key: None })
    }

    /// The key that the endpoint wants; it is sent to it and shown nowhere.
    ///
    /// # Errors
    /// `invalid-configuration` for one that no HTTP header can hold.
    pub fn key(mut self, key: &str) -> Result<Self> {
        let text = key.trim().to_owned();
        let mut header = HeaderValue::from_str(&format!("Bearer {text}")).map_err(|_| {
            Error::host(Code::InvalidConfiguration, "the key has characters that no HTTP header can hold: check it")
        })?;
        header.set_sensitive(true);
        self.key = (!text.is_empty()).then_some(Key { header, text });
        Ok(self)
    }
}

/// A client for one model.
pub struct OpenAi {
    client: Client,
    options: OpenAiOptions,
}

impl OpenAi {
    /// A client. Nothing is asked yet.
    ///
    /// # Errors
    /// `model-failed` where no client can be made, which is the machine's fault.
    pub fn new(options: OpenAiOptions) -> Result<Self> {
        let client = Client::builder()
            .connect_timeout(CONNECT_TIME)
            .timeout(ANSWER_TIME)
            // Another place is none that the key is for.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("dsh-env/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed(format!("no HTTP client could be made: {}", shown(&error.to_string()))))?;
        Ok(Self { client, options })
    }

    async fn ask(&self, request: &Request) -> Result<Answer> {
        let body = wire::request(request).to_string();
        let mut pause = FIRST_PAUSE;
        for attempt in 1..=ATTEMPTS {
            let response = self.send(&body).await?;
            let status = response.status();
            if status.is_success() {
                let body = self.read(response).await?;
                return wire::answer(&body, |text| self.without_key(text)).map_err(|why| self.failed(&why));
            }
            if attempt == ATTEMPTS || !is_passing(status) {
                let complaint = self.read(response).await.unwrap_or_default();
                let complaint = shown_within(&self.without_key(&wire::complaint(&complaint)), MAX_COMPLAINT_BYTES);
                return Err(self.failed(&format!(
                    "it answered {status}{}{complaint}{}",
                    if complaint.is_empty() { "" } else { ": " },
                    remedy(status)
                )));
            }
            tokio::time::sleep(wish(&response).unwrap_or(pause).min(MAX_PAUSE)).await;
            pause *= 2;
        }
        Err(self.failed("it was too busy"))
    }

    async fn send(&self, body: &str) -> Result<Response> {
        let mut request = self
            .client
            .post(self.options.url.clone())
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .body(body.to_owned());
        if let Some(key) = &self.options.key {
            request = request.header(AUTHORIZATION, key.header.clone());
        }
        request.send().await.map_err(|error| self.failed(&words(&error)))
    }

    /// The body, unless it is longer than any answer.
    async fn read(&self, mut response: Response) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(&words(&error)))? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(self.failed(&format!("its answer is longer than {MAX_ANSWER_BYTES} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// `why` may be the endpoint's own words, and an endpoint may repeat what it was sent.
    fn failed(&self, why: &str) -> Error {
        let mut url = self.options.url.clone();
        // All of these may be secret.
        let _ = (url.set_username(""), url.set_password(None));
        url.set_query(None);
        let message = format!("the model at {} gave no answer: {why}", shown_within(url.as_str(), MAX_COMPLAINT_BYTES));
        failed(self.without_key(&message))
    }

    /// To be called before a text is cut: a part of the key would not be found.
    fn without_key(&self, text: &str) -> String {
        match &self.options.key {
            Some(key) => text.replace(key.text.as_str(), "[the key]"),
            None => text.to_owned(),
        }
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.options.model
    }

    fn answer<'a>(&'a mut self, request: &'a Request) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(self.ask(request))
    }
}

/// Whether the same request may well succeed a little later.
fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504)
}

/// How long the endpoint wants to be left alone.
fn wish(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn remedy(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 | 403 => ": give the key of this endpoint",
        404 => ": check the address and the name of the model",
        300..=399 => ": give the address that it points to",
        _ => "",
    }
}

/// What went wrong below HTTP, with its causes and without the address, which may hold a password.
fn words(error: &reqwest::Error) -> String {
    let mut words = match () {
        () if error.is_timeout() => "it took too long".to_owned(),
        () if error.is_connect() => "it cannot be reached".to_owned(),
        () => "the connection broke".to_owned(),
    };
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    shown_within(&words, MAX_COMPLAINT_BYTES)
}

fn failed(message: String) -> Error {
    Error::host(Code::ModelFailed, message)
}

#[cfg(test)]
mod tests;
