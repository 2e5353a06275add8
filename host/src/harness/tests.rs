use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::agent::{Script, ScriptedModel};
use crate::contract::SessionId;
use crate::executor::Keeper;
use crate::host::HostOptions;
use crate::sessions::{Backend, Compression, SessionsRoot};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(configuration: &str) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.home()).unwrap();
        // Whatever the umask is: only the user may write to what chooses code.
        let only_user = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(place.home(), only_user).unwrap();
        let file = place.home().join("dsh-env.toml");
        std::fs::write(&file, configuration).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        place
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn options(&self) -> HarnessOptions {
        HarnessOptions::new(HostOptions::new().home(self.home()))
    }

    fn store(&self, folder: &str) -> Arc<dyn SessionStore> {
        let root = SessionsRoot::new(&self.folder.path().join(folder)).unwrap();
        Backend::Jsonl.store(root, Compression::None).unwrap()
    }

    fn executor(&self) -> Executor {
        let spill_folder = self.folder.path().join("output");
        Executor::new(ExecutorOptions { spill_folder, keeper: Keeper::InHost }).unwrap()
    }
}

fn refused(options: HarnessOptions) -> Error {
    match Harness::compose(options) {
        Ok(_) => panic!("it was composed"),
        Err(error) => error,
    }
}

#[test]
fn two_providers_of_one_service_are_refused_and_both_are_named() {
    let place = Place::new("");
    let options = place.options().store("vault", place.store("a")).store("mirror", place.store("b"));
    let error = refused(options);
    assert_eq!(error.code(), Code::InvalidConfiguration);
    for word in ["vault", "mirror", "sessions"] {
        assert!(error.message().contains(word), "{error}");
    }
    let options = place.options().executor("one", place.executor()).executor("other", place.executor());
    assert!(refused(options).message().contains("executor"));
}

#[test]
fn skills_that_were_given_another_home_are_refused_and_both_are_named() {
    let place = Place::new("");
    let elsewhere = place.folder.path().join("elsewhere");
    let error = refused(place.options().skills_home(&elsewhere));
    assert_eq!(error.code(), Code::ContradictoryHomes);
    for home in [&elsewhere, &place.home()] {
        assert!(error.message().contains(home.to_str().unwrap()), "{error}");
    }
    // The same home in other words is the same.
    let same = place.home().join("x/..");
    assert_eq!(Harness::compose(place.options().skills_home(same)).unwrap().skills().home(), &host_home(&place));
}

fn host_home(place: &Place) -> Home {
    Home::resolve(Some(place.home().as_os_str())).unwrap()
}

#[test]
fn skills_are_found_in_the_home_of_the_host() {
    let place = Place::new("");
    let folder = place.home().join("skills/greet");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), "---\nname: greet\ndescription: Says hello.\n---\nSay hello.\n").unwrap();
    for path in [place.home().join("skills"), folder.clone(), folder.join("SKILL.md")] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
    let found = Harness::compose(place.options()).unwrap().skills().find().unwrap();
    assert_eq!(found.skills.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>(), ["greet"]);
}

#[test]
fn a_store_that_an_embedder_brings_is_the_one_that_overlays_are_told_of() {
    let place = Place::new("[sessions]\nbackend = \"sqlite\"\n");
    let harness = Harness::compose(place.options().store("mine", place.store("mine"))).unwrap();
    let header = crate::contract::SessionHeader::new(SessionId::new("s1").unwrap());
    let location = harness.host().persistence().current().unwrap().locate(&header).unwrap();
    assert!(location.path.starts_with(place.folder.path().join("mine")));
    assert!(Arc::ptr_eq(harness.store(), &Arc::clone(harness.store())));
}

#[tokio::test]
async fn an_agent_begins_a_session_that_is_not_there_and_goes_on_with_one_that_is() {
    let place = Place::new("[sessions]\ncompression = \"none\"\n");
    let harness = Harness::compose(place.options()).unwrap();
    let start = || SessionStart { id: Some(SessionId::new("s1").unwrap()), ..SessionStart::default() };
    let model = || Box::new(ScriptedModel::new(Script::parse(r#"[{"text": "done"}]"#).unwrap()));
    let mut agent = harness.agent(start(), model(), Path::new("/")).unwrap();
    agent.turn("one").await.unwrap();
    let kept = agent.session().events().len();
    // As long as one agent writes it, another cannot.
    let rival = harness.agent(start(), model(), Path::new("/"));
    assert_eq!(rival.err().map(|error| error.code()), Some(Code::SessionInUse));
    drop(agent);
    let mut agent = harness.agent(start(), model(), Path::new("/")).unwrap();
    assert_eq!(agent.session().events().len(), kept);
    agent.turn("two").await.unwrap();
    harness.shut_down().await;
}
