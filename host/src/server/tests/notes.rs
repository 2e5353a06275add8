use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use super::support::{LONG, Running};
use crate::server::Notifier;

fn received(socket: &UnixDatagram) -> String {
    socket.set_read_timeout(Some(LONG)).unwrap();
    let mut buffer = [0; 1000];
    let length = socket.recv(&mut buffer).unwrap();
    String::from_utf8(buffer[..length].to_vec()).unwrap()
}

#[tokio::test]
async fn who_started_a_server_is_told_when_it_serves_and_when_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    let server = Running::with(|options| options.notifier = Notifier::to(Some(path.into())));
    let mut client = server.collect().await;
    assert!(client.is_served().await);
    assert_eq!(received(&socket), "READY=1");
    server.stop().await;
    assert_eq!(received(&socket), "STOPPING=1");
}

#[test]
fn notes_go_to_sockets_without_a_path_too() {
    let name = format!("dsh-env-test-{}", std::process::id());
    let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let notifier = Notifier::to(Some(format!("@{name}").into()));
    notifier.status("two\nlines");
    assert_eq!(received(&socket), "STATUS=two\\u{a}lines");
    notifier.reloading();
    let note = received(&socket);
    let micros = note.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap();
    assert!(micros.parse::<u64>().unwrap() > 0);
}

#[test]
fn a_note_to_nobody_harms_nothing() {
    for address in [None, Some(""), Some("/no/such/socket"), Some("@no-such-name")] {
        Notifier::to(address.map(Into::into)).ready();
    }
    // One whose reader is slow is not waited for.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let _socket = UnixDatagram::bind(&path).unwrap();
    let notifier = Notifier::to(Some(path.into()));
    let began = std::time::Instant::now();
    for _ in 0..2000 {
        notifier.status("busy");
    }
    assert!(began.elapsed() < LONG.max(Duration::ZERO));
}
