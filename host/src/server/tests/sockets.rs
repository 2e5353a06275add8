use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use super::support::{Client, FakeHost, Running};
use crate::error::{Code, Error};
use crate::protocol::{Address, admin_socket, collect_socket};
use crate::server::{Server, ServerOptions};

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn bind(state: &Path) -> Result<Server, Error> {
    Server::bind(ServerOptions::new(state), FakeHost::new())
}

#[tokio::test]
async fn sockets_and_their_folder_are_for_this_user_alone() {
    let server = Running::start();
    assert_eq!(mode(server.state.join("run")), 0o700);
    assert_eq!((mode(collect_socket(&server.state)), mode(admin_socket(&server.state))), (0o600, 0o600));
    assert_eq!(mode(server.state.join("run/server.lock")), 0o600);
    server.stop().await;
}

#[tokio::test]
async fn sockets_are_gone_when_the_server_is() {
    let server = Running::start();
    let state = server.state.clone();
    assert!(server.collect().await.is_served().await);
    server.stopper.stop();
    let _folder = server.ended().await;
    assert!(!collect_socket(&state).exists() && !admin_socket(&state).exists());
}

#[tokio::test]
async fn a_server_that_never_ran_leaves_no_sockets() {
    let folder = tempfile::tempdir().unwrap();
    drop(bind(folder.path()).unwrap());
    assert!(!collect_socket(folder.path()).exists() && !admin_socket(folder.path()).exists());
    bind(folder.path()).unwrap();
}

#[tokio::test]
async fn a_second_server_is_refused_and_told_who_serves() {
    let server = Running::start();
    let error = bind(&server.state).unwrap_err();
    assert_eq!(error.code(), Code::ServerUnavailable);
    assert!(error.message().contains(&format!("process {} serves", std::process::id())), "{error}");
    assert!(server.collect().await.is_served().await);
    let state = server.state.clone();
    server.stopper.stop();
    let _folder = server.ended().await;
    bind(&state).unwrap();
}

#[tokio::test]
async fn a_socket_that_a_dead_server_left_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    drop(bind(state).unwrap());
    drop(UnixListener::bind(collect_socket(state)).unwrap());
    fs::write(state.join("run/server.lock"), "1\n").unwrap();
    assert!(collect_socket(state).exists());
    let server = bind(state).unwrap();
    let running = tokio::spawn(server.run());
    assert!(Client::connect(&collect_socket(state)).await.is_served().await);
    running.abort();
}

#[test]
fn what_is_no_socket_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    drop(bind(folder.path()).unwrap());
    let path = admin_socket(folder.path());
    fs::write(&path, "precious").unwrap();
    let error = bind(folder.path()).unwrap_err();
    assert_eq!(error.code(), Code::ServerUnavailable);
    assert!(error.message().contains("admin.sock"), "{error}");
    assert_eq!(fs::read_to_string(path).unwrap(), "precious");
    assert!(!collect_socket(folder.path()).exists());
}

#[tokio::test]
async fn a_socket_that_took_the_place_of_ours_stays() {
    let server = Running::start();
    let path = collect_socket(&server.state);
    fs::remove_file(&path).unwrap();
    let _other = UnixListener::bind(&path).unwrap();
    server.stopper.stop();
    let _folder = server.ended().await;
    assert!(path.exists());
}

#[test]
fn a_folder_that_others_may_enter_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    for bits in [0o755, 0o750, 0o701, 0o770] {
        fs::set_permissions(&run, fs::Permissions::from_mode(bits)).unwrap();
        let error = bind(folder.path()).unwrap_err();
        assert_eq!(error.code(), Code::UnsafePermissions);
        assert!(error.message().contains("chmod 700") && error.message().contains("run"), "{error}");
    }
    fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
    bind(folder.path()).unwrap();
}

#[test]
fn a_link_is_not_a_folder_of_sockets() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    symlink(elsewhere.path(), folder.path().join("run")).unwrap();
    assert_eq!(bind(folder.path()).unwrap_err().code(), Code::UnsafePermissions);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_state_that_others_may_write_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(bind(folder.path()).unwrap_err().code(), Code::UnsafePermissions);
}

#[test]
fn a_folder_of_somebody_else_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(&run, Some(12345), None).unwrap();
    let error = bind(folder.path()).unwrap_err();
    assert_eq!(error.code(), Code::UnsafePermissions);
    assert!(error.message().contains("user 12345"), "{error}");
}

#[tokio::test]
async fn paths_that_no_address_holds_work() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("d".repeat(200)).join("e".repeat(200));
    let server = bind(&state).unwrap();
    assert_eq!(mode(collect_socket(&state)), 0o600);
    let stopper = server.stopper();
    let running = tokio::spawn(server.run());
    assert!(Client::connect(&collect_socket(&state)).await.is_served().await);
    assert!(Client::connect(&admin_socket(&state)).await.is_served().await);
    stopper.stop();
    running.await.unwrap().unwrap();
    assert!(!collect_socket(&state).exists());
}

#[test]
fn an_address_is_the_path_itself_wherever_it_can_be() {
    let short = Path::new("/run/x.sock");
    assert_eq!(Address::of(short).unwrap().path(), short);
    assert!(Address::of(Path::new(&format!("/{}/x.sock", "n".repeat(200)))).is_err());
}
