use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

use serde_json::json;

use super::support::{Client, FakeHost};
use crate::error::{Code, Result};
use crate::protocol::admin_socket;
use crate::server::{Activation, Listeners, Role, Server, ServerOptions};

fn activation(pid: &str, fds: &str, names: Option<&str>) -> Activation {
    Activation { pid: Some(pid.to_owned()), fds: Some(fds.to_owned()), names: names.map(str::to_owned) }
}

fn assigned(fds: &str, names: Option<&str>) -> Result<Vec<(Role, i32)>> {
    activation("7", fds, names).assigned(7)
}

#[test]
fn sockets_are_known_by_their_names_or_their_order() {
    let both = vec![(Role::Collect, 3), (Role::Admin, 4)];
    assert_eq!(assigned("2", None).unwrap(), both);
    assert_eq!(assigned("2", Some("collect:admin")).unwrap(), both);
    assert_eq!(assigned("2", Some("admin:collect")).unwrap(), [(Role::Admin, 3), (Role::Collect, 4)]);
    assert_eq!(assigned("1", Some("admin")).unwrap(), [(Role::Admin, 3)]);
    assert_eq!(assigned("1", None).unwrap(), [(Role::Collect, 3)]);
    assert_eq!(assigned("0", Some("")).unwrap(), []);
}

#[test]
fn sockets_for_another_process_are_not_taken() {
    assert_eq!(activation("8", "2", None).assigned(7).unwrap(), []);
    assert_eq!(activation("x", "2", None).assigned(7).unwrap(), []);
    assert_eq!(Activation::default().assigned(7).unwrap(), []);
    assert!(Activation::default().take().unwrap().collect.is_none());
}

#[test]
fn sockets_that_this_server_does_not_have_are_an_error() {
    for (fds, names) in [("3", None), ("x", None), ("1", Some("web")), ("2", Some("admin:admin")), ("2", Some("admin"))]
    {
        let error = assigned(fds, names).unwrap_err();
        assert_eq!(error.code(), Code::InvalidConfiguration, "{fds} {names:?}");
    }
}

#[tokio::test]
async fn a_server_serves_on_what_it_is_given_and_leaves_it_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.sock");
    let given = Listeners { collect: Some(UnixListener::bind(&path).unwrap().into()), admin: None };
    let state = folder.path().join("state");
    let server = Server::from_listeners(ServerOptions::new(&state), FakeHost::new(), given).unwrap();
    let stopper = server.stopper();
    let running = tokio::spawn(server.run());
    let mut client = Client::connect(&path).await;
    assert!(client.is_served().await);
    assert_eq!(client.fail("host.health", json!({})).await.0, -32601);
    // The other is its own.
    Client::connect(&admin_socket(&state)).await.ask("host.health", json!({})).await;
    stopper.stop();
    running.await.unwrap().unwrap();
    assert!(path.exists() && !admin_socket(&state).exists());
}

#[test]
fn what_does_not_listen_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let others: [OwnedFd; 3] = [
        UnixDatagram::unbound().unwrap().into(),
        UnixStream::pair().unwrap().0.into(),
        std::fs::File::open("/dev/null").unwrap().into(),
    ];
    for other in others {
        let given = Listeners { collect: None, admin: Some(other) };
        let error = Server::from_listeners(ServerOptions::new(folder.path()), FakeHost::new(), given).unwrap_err();
        assert_eq!(error.code(), Code::InvalidConfiguration);
        assert!(error.message().contains("admin"), "{error}");
    }
}
