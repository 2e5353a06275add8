//! Imports and grants in few words, for people.

use dsh_env::sandbox::{Extensions, Grants, Import};

/// Whether a grant of this name is among those given.
pub(crate) fn opens(grants: &Grants, grant: &str) -> bool {
    match grant {
        "config" => grants.config.is_some() || !grants.facts.is_empty(),
        "env" => !grants.env.is_empty(),
        "workspace" => grants.workspace.is_some(),
        "clock" => grants.clock,
        "random" => grants.random,
        _ => false,
    }
}

/// What imports are about, each thing once; those that nobody need think of are left out.
pub(crate) fn summary(imports: &[String]) -> String {
    if imports.is_empty() {
        return "nothing".to_owned();
    }
    let mut about: Vec<&str> = Vec::new();
    for import in imports {
        let import = Import::named(import.as_str());
        about.extend(import.about.filter(|word| !about.contains(word)));
    }
    if about.is_empty() { "nothing that matters".to_owned() } else { about.join(", ") }
}

/// Grants as they could be given on the command line, without the values of settings.
pub(crate) fn words(grants: &Grants) -> String {
    let mut words = Vec::new();
    if let Some(workspace) = &grants.workspace {
        words.push(format!("workspace={}", workspace.kind.as_str()));
        words.extend(workspace.within.as_ref().map(|within| format!("within={}", within.display())));
    }
    if !grants.env.is_empty() {
        words.push(format!("env={}", list(&grants.env)));
    }
    if !grants.facts.is_empty() {
        words.push(format!("facts={}", list(&grants.facts)));
    }
    match &grants.extensions {
        Extensions::Named(names) if names.is_empty() => {}
        Extensions::Named(names) => words.push(format!("extensions={}", list(names))),
        Extensions::All => words.push("extensions=*".to_owned()),
    }
    if let Some(settings) = &grants.config {
        words.push("config".to_owned());
        words.extend(settings.0.keys().map(|name| format!("config.{name}=…")));
    }
    words.extend(grants.clock.then(|| "clock".to_owned()));
    words.extend(grants.random.then(|| "random".to_owned()));
    if words.is_empty() { "nothing".to_owned() } else { words.join(" ") }
}

fn list(names: &std::collections::BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dsh_env::installation::read_grants;

    #[test]
    fn grants_read_as_they_are_given_and_settings_keep_their_values_to_themselves() {
        let flags =
            ["workspace=repository", "within=/srv", "env=CI,LANG", "extensions=a,b", "config.x=y", "clock", "random"];
        let words = words(&read_grants(flags).unwrap());
        assert_eq!(words, "workspace=repository within=/srv env=CI,LANG extensions=a,b config config.x=… clock random");
        assert_eq!(super::words(&read_grants(["extensions=*"]).unwrap()), "extensions=*");
        let facts = Grants { facts: ["a", "b"].map(str::to_owned).into(), ..Grants::default() };
        assert_eq!(super::words(&facts), "facts=a,b");
        assert_eq!(super::words(&Grants::default()), "nothing");
    }

    #[test]
    fn every_grant_that_an_import_names_can_be_given() {
        let imports = [
            "wasi:cli/environment@0.2.6",
            "wasi:filesystem/types@0.2.0",
            "wasi:clocks/wall-clock@0.2.3",
            "wasi:random/random@0.2.3",
            "wasi:config/store@0.2.0-rc.1",
        ];
        let all = read_grants(["env=A", "workspace=workdir", "clock", "random", "config"]).unwrap();
        for import in imports {
            let grant = Import::named(import).grant.unwrap();
            assert!(opens(&all, grant) && !opens(&Grants::default(), grant), "{import}");
        }
    }

    #[test]
    fn imports_are_summarised_by_what_they_are_about() {
        let summary = |imports: &[&str]| summary(&imports.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(summary(&[]), "nothing");
        assert_eq!(summary(&["wasi:io/streams@0.2.6", "wasi:cli/exit@0.2.6"]), "nothing that matters");
        let imports = [
            "wasi:filesystem/types@0.2.6",
            "wasi:io/error@0.2.6",
            "wasi:filesystem/preopens@0.2.6",
            "wasi:clocks/wall-clock@0.2.6",
            "wasi:sockets/tcp@0.2.6",
        ];
        assert_eq!(summary(&imports), "files, clock, network (always denied)");
        assert_eq!(summary(&["acme:secrets/vault@1.0.0"]), "what is refused");
    }
}
