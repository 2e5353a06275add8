use std::fs;
use std::io::BufReader;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};

use super::support::{PATIENCE, Server, answer_with, call, folder, read, set_mode};
use crate::client::Client;
use crate::error::{Code, Error};

fn refusal(socket: &Path) -> Error {
    let error = Client::connect(socket, PATIENCE).unwrap_err();
    assert_eq!(error.code(), Code::ServerUnavailable);
    assert!(error.message().contains(&*socket.to_string_lossy()), "{error}");
    error
}

#[test]
fn where_there_is_no_socket_there_is_no_server() {
    let (home, run) = folder();
    assert!(Client::connect(&run.join("collect.sock"), PATIENCE).unwrap().is_none());
    assert!(Client::connect(&home.path().join("no-folder/collect.sock"), PATIENCE).unwrap().is_none());
    let long = home.path().join("x".repeat(200)).join("collect.sock");
    assert!(Client::connect(&long, PATIENCE).unwrap().is_none());
}

#[test]
fn where_nobody_listens_any_more_there_is_no_server() {
    let (_home, run) = folder();
    let socket = run.join("collect.sock");
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    assert!(Client::connect(&socket, PATIENCE).unwrap().is_none());
}

#[test]
fn a_server_is_reached_by_a_path_of_any_length() {
    let (home, run) = folder();
    for length in [1, 60, 110, 250] {
        let deep = run.join("d".repeat(length)).join("e".repeat(length));
        fs::create_dir_all(&deep).unwrap();
        // Bound by a short name, since the server's side is not what is tried here.
        let near = run.join("near.sock");
        let listener = UnixListener::bind(&near).unwrap();
        let socket = deep.join("collect.sock");
        fs::rename(&near, &socket).unwrap();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let question = read(&mut BufReader::new(stream.try_clone().unwrap()));
            std::io::Write::write_all(&mut stream, &answer_with(|_| {})).unwrap();
            question
        });
        let mut client = Client::connect(&socket, PATIENCE).unwrap().unwrap();
        assert_eq!(client.collect(&call(), PATIENCE).unwrap().env.0.len(), 3, "{length}");
        assert!(thread.join().unwrap().is_some());
    }
    drop(home);
}

#[test]
fn a_path_that_leads_through_a_file_is_an_error() {
    let (_home, run) = folder();
    fs::write(run.join("file"), "").unwrap();
    let error = refusal(&run.join("file/collect.sock"));
    assert!(error.message().contains("choose another --state-dir"), "{error}");
}

#[test]
fn a_socket_in_a_folder_that_others_may_write_to_is_refused() {
    for mode in [0o777, 0o770, 0o702, 0o1777] {
        let (home, run) = folder();
        let socket = run.join("collect.sock");
        let _server = UnixListener::bind(&socket).unwrap();
        set_mode(&run, mode);
        let error = refusal(&socket);
        assert!(error.message().contains("chmod go-w") && error.message().contains("not trusted"), "{error}");
        set_mode(&run, 0o755);
        assert!(Client::connect(&socket, PATIENCE).unwrap().is_some());
        drop(home);
    }
}

/// Only root can give a folder away.
#[test]
fn a_socket_in_a_folder_of_a_stranger_is_refused() {
    let (_home, run) = folder();
    let socket = run.join("collect.sock");
    let _server = UnixListener::bind(&socket).unwrap();
    if std::os::unix::fs::chown(&run, Some(54321), None).is_err() {
        return;
    }
    let error = refusal(&socket);
    assert!(error.message().contains("belongs to user 54321"), "{error}");
}

#[test]
fn a_server_that_takes_no_connections_is_waited_for_no_longer_than_one_has_patience() {
    let (_home, run) = folder();
    let path = run.join("collect.sock");
    let server = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&server, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    listen(&server, 0).unwrap();
    let mut connected = Vec::new();
    let error = loop {
        assert!(connected.len() < 100);
        match Client::connect(&path, Duration::from_millis(50)) {
            Ok(client) => connected.push(client.unwrap()),
            Err(error) => break error,
        }
    };
    assert_eq!(error.code(), Code::ServerUnavailable);
    assert!(error.message().contains("takes no further connections"), "{error}");
}

#[test]
fn a_server_is_found_through_a_link_and_by_a_relative_path() {
    let (home, run) = folder();
    let socket = run.join("collect.sock");
    let link = run.join("link.sock");
    std::os::unix::fs::symlink(&socket, &link).unwrap();
    assert!(Client::connect(&link, PATIENCE).unwrap().is_none(), "a link to nothing is no server");
    let server = Server::start_in(home, &socket, |_| Vec::new());
    assert!(Client::connect(&link, PATIENCE).unwrap().is_some());
    drop(server);
    assert!(Client::connect(Path::new("no-such.sock"), PATIENCE).unwrap().is_none());
}
