//! The real server, and the commands that use it: real sockets, real components, real signals.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::command::{Place, Run};
use support::guest::Guest;

/// How long something may take to happen before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that is killed with the test.
struct Serving {
    child: Child,
}

impl Serving {
    /// One that answers.
    fn of(place: &Place) -> Self {
        let child = place.command(["serve"]).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        until("the server answers", || place.run(["status", "--server", "always"]).status() == 0);
        Self { child }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its exit status and what it logged, once it has ended.
    fn ended(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().unwrap();
        let mut log = String::new();
        std::io::Read::read_to_string(self.child.stderr.as_mut().unwrap(), &mut log).unwrap();
        (status.code(), log)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ticket(place: &Place, value: &str) -> PathBuf {
    place.write(&format!("{value}.wasm"), Guest::saying("ticket", &[("DSH_TICKET", value)]).component())
}

/// What a command of this place sees.
fn seen(place: &Place) -> Run {
    place.run(["exec", "--server", "always", "--", "sh", "-c", "echo $DSH_TICKET"]).expect(0)
}

fn add(place: &Place, file: &std::path::Path) -> Value {
    place.run(["add".as_ref(), "--json".as_ref(), file.as_os_str()]).expect(0).json()
}

#[test]
fn commands_use_the_server_of_their_home_and_do_without_one() {
    let place = Place::new();
    let one = ticket(&place, "one");
    add(&place, &one);
    let alone = place.run(["env", "--json", "--server", "never"]).expect(0).json();
    let missed = place.run(["env", "--json", "--server", "always"]).expect(1).json();
    assert_eq!(missed["error"]["code"], "server-unavailable");

    let serving = Serving::of(&place);
    assert_eq!(place.run(["env", "--json", "--server", "always"]).expect(0).json(), alone);
    assert_eq!(seen(&place).stdout(), "one\n");
    serving.signal(Signal::TERM);
    let (status, log) = serving.ended();
    assert_eq!(status, Some(0), "{log}");
    assert_eq!(place.run(["env", "--json"]).expect(0).json(), alone);
}

#[test]
fn what_an_operator_does_holds_when_the_command_has_ended() {
    let place = Place::new();
    let (one, two) = (ticket(&place, "one"), ticket(&place, "two"));
    let _serving = Serving::of(&place);
    let first = add(&place, &one);
    assert_eq!((first["name"].as_str(), first["state"].as_str()), (Some("ticket"), Some("live")));
    assert_eq!(seen(&place).stdout(), "one\n");
    let second = add(&place, &two);
    assert_eq!(second["previous"], json!([first["digest"]]));
    assert_eq!(seen(&place).stdout(), "two\n");
    let back = place.run(["rollback", "ticket", "--json"]).expect(0).json();
    assert_eq!(back["digest"], first["digest"]);
    assert_eq!(seen(&place).stdout(), "one\n");
    let digits = &second["digest"].as_str().unwrap()[..12];
    let approved = place.run(["approve", "ticket", digits, "--json"]).expect(0).json();
    assert_eq!(approved["digest"], second["digest"]);
    assert_eq!(seen(&place).stdout(), "two\n");
    let status = place.run(["status"]).expect(0).stdout();
    assert!(status.contains(digits) && status.contains("live"), "{status}");
    place.run(["reload", "ticket"]).expect(0);
    assert_eq!(place.run(["logs", "ticket", "--json"]).expect(0).json(), json!({ "text": "" }));

    place.run(["remove", "ticket"]).expect(0);
    assert_eq!(seen(&place).stdout(), "\n");
    let removed = place.run(["status", "ticket", "--json"]).expect(0).json();
    assert_eq!((removed[0]["state"].as_str(), &removed[0]["file"]), (Some("disabled"), &Value::Null));
    place.run(["forget", "ticket"]).expect(0);
    let unknown = place.run(["rollback", "ticket", "--json"]).expect(1).json();
    assert_eq!(unknown["error"]["code"], "contributor-not-found");
}

#[test]
fn without_a_server_the_home_itself_is_operated() {
    let place = Place::new();
    let (one, two) = (ticket(&place, "one"), ticket(&place, "two"));
    assert!(place.run(["status"]).expect(0).stdout().contains("dsh-env add"));
    let first = add(&place, &one);
    add(&place, &two);
    let back = place.run(["rollback", "ticket", "--json"]).expect(0).json();
    assert_eq!(back["digest"], first["digest"]);
    assert_eq!(place.run(["env", "--json"]).expect(0).json()["DSH_TICKET"], "one");
    let logs = place.run(["logs", "ticket", "--json"]).expect(1).json();
    assert_eq!(logs["error"]["code"], "server-unavailable");
    let few = place.run(["approve", "ticket", "abc", "--json"]).expect(2).json();
    assert!(few["error"]["message"].as_str().unwrap().contains("first 8 digits"), "{few}");
}

#[test]
fn a_second_server_of_one_state_is_refused_and_told_who_has_it() {
    let place = Place::new();
    let serving = Serving::of(&place);
    let refused = place.run(["serve", "--json"]).expect(1).json();
    assert_eq!(refused["error"]["code"], "server-unavailable");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains(&serving.child.id().to_string()), "{message}");
}

#[test]
fn facts_that_a_command_finds_out_reach_whom_they_are_granted_to() {
    let place = Place::new();
    place.configure("[facts.cluster]\ncommand = [\"echo\", \"blue\"]\nevery = \"1s\"\n");
    let _serving = Serving::of(&place);
    let mut admin = Admin::of(&place);
    let taken = admin.ask("facts.put", &json!({ "name": "cluster", "value": "x", "ttl_ms": 1000 }));
    assert_eq!(taken["error"]["data"]["code"], "invalid-request");
    assert_eq!(
        admin.ask("facts.put", &json!({ "name": "shift", "value": "x", "ttl_ms": 1000 }))["result"],
        Value::Null
    );
    assert_eq!(admin.ask("host.health", &json!({}))["result"]["ready"], true);
    // What changes in the configuration is heeded, and a command that fails is told of.
    place.configure("[facts.cluster]\ncommand = [\"false\"]\nevery = \"1s\"\n");
    until("the failure is told", || {
        let health = admin.ask("host.health", &json!({}));
        health["result"]["problems"].as_array().is_some_and(|problems| !problems.is_empty())
    });
}

#[test]
fn a_contributor_that_keeps_failing_is_failing_and_its_host_is_well() {
    let place = Place::new();
    let broken = place.write(
        "broken.wasm",
        Guest::declaring("broken", &[("DSH_BROKEN", "A fact.", false, None)])
            .with("resolve", "(unreachable)")
            .component(),
    );
    add(&place, &broken);
    let _serving = Serving::of(&place);
    for _ in 0..5 {
        place.run(["env", "--json", "--server", "always"]).expect(1);
    }
    let status = place.run(["status", "broken", "--json"]).expect(0).json();
    assert_eq!(status[0]["state"], "failing", "{status}");
    assert_eq!(status[0]["error"]["code"], "trap", "{status}");
    let health = Admin::of(&place).ask("host.health", &json!({}));
    assert_eq!((&health["result"]["ready"], &health["result"]["unwell"]), (&json!(true), &json!(["broken"])));
}

#[test]
fn a_recent_call_can_be_asked_about_and_activity_looked_at() {
    let place = Place::new();
    add(&place, &ticket(&place, "one"));
    let _serving = Serving::of(&place);
    let execution = place.write("call.json", r#"{ "call_id": "c-1", "root_call_id": "c-1", "tool": "bash" }"#);
    let execution = execution.to_str().unwrap();
    place.run(["env", "--json", "--server", "always", "--execution", execution]).expect(0);
    let answer = place.run(["why", "DSH_TICKET", "--call", "c-1", "--json"]).expect(0).json();
    assert_eq!((answer["state"].as_str(), answer["owner"].as_str()), (Some("present"), Some("ticket")), "{answer}");
    assert_eq!((answer["length"].as_u64(), answer["call"]["tool"].as_str()), (Some(3), Some("bash")));
    let said = place.run(["why", "DSH_TICKET", "--call", "c-1"]).expect(0).stdout();
    assert!(said.contains("DSH_TICKET was present") && said.contains("ticket"), "{said}");
    let unknown = place.run(["why", "DSH_TICKET", "--call", "c-2", "--json"]).expect(2).json();
    assert_eq!(unknown["error"]["code"], "invalid-execution");

    let activity = place.run(["top", "--json"]).expect(0).json();
    assert_eq!(activity["collections"]["ok"], 1, "{activity}");
    let shown = place.run(["top"]).expect(0).stdout();
    assert!(shown.contains("ticket") && shown.contains("live") && shown.contains("collections"), "{shown}");
}

#[test]
fn standard_input_and_output_serve_both_roles_until_the_input_ends() {
    let place = Place::new();
    add(&place, &ticket(&place, "one"));
    let mut command = place.command(["serve", "--stdio"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for (id, method) in ["host.hello", "contributors.status", "host.metrics", "host.activity"].iter().enumerate() {
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method })).unwrap();
    }
    drop(input);
    let answers: Vec<Value> = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(answers.len(), 4, "{answers:?}");
    let of = |id: u64| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert!(of(0)["result"]["features"].as_array().unwrap().contains(&json!("serve")));
    assert_eq!(of(1)["result"][0]["name"], "ticket");
    assert!(of(2)["result"]["prometheus"].as_str().unwrap().contains("dsh_env_contributors{state=\"live\"} 1"));
    assert!(of(3)["result"]["collections"].is_object());
}

#[test]
fn many_clients_with_garbage_among_them_all_get_their_answers() {
    let place = Place::new();
    add(&place, &ticket(&place, "one"));
    let serving = Serving::of(&place);
    let socket = place.home().join("state/run/collect.sock");
    std::thread::scope(|scope| {
        for client in 0..64 {
            let socket = &socket;
            scope.spawn(move || {
                let stream = UnixStream::connect(socket).unwrap();
                let mut writer = stream.try_clone().unwrap();
                match client % 4 {
                    // One that dies in the middle of a message.
                    0 => writer.write_all(br#"{"jsonrpc":"2.0","id":1,"meth"#).unwrap(),
                    // Ten megabytes without an end.
                    1 => drop(writer.write_all(&vec![b'x'; 10_000_000])),
                    _ => {
                        let mut answers = BufReader::new(stream).lines();
                        for id in 0..20 {
                            let execution = json!({ "call_id": format!("{client}-{id}"), "root_call_id": format!("{client}-{id}"), "tool": "bash" });
                            let request = json!({ "jsonrpc": "2.0", "id": id, "method": "overlay.collect", "params": { "execution": execution } });
                            writeln!(writer, "{}\n\x00garbage", request).unwrap();
                            let mut both = [answers.next().unwrap().unwrap(), answers.next().unwrap().unwrap()];
                            both.sort_by_key(|line| line.contains("-32700"));
                            let answer: Value = serde_json::from_str(&both[0]).unwrap();
                            assert_eq!(answer["result"]["call"], format!("{client}-{id}"), "{answer}");
                            assert_eq!(answer["result"]["env"]["DSH_TICKET"], "one");
                            assert!(both[1].contains("-32700"), "{}", both[1]);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(seen(&place).stdout(), "one\n");
    serving.signal(Signal::INT);
    assert_eq!(serving.ended().0, Some(0));
}

/// A connection of the operator.
struct Admin {
    reader: BufReader<UnixStream>,
}

impl Admin {
    fn of(place: &Place) -> Self {
        let stream = UnixStream::connect(place.home().join("state/run/admin.sock")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { reader: BufReader::new(stream) }
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters });
        writeln!(self.reader.get_mut(), "{request}").unwrap();
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}
