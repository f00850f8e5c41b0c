use std::os::unix::fs::symlink;

use super::*;

/// A machine with a folder that an agent writes, one that it does not, and the folder of servers.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        for folder in ["work/lib", "lib", "bin", "mcp/mine"] {
            fs::create_dir_all(machine.0.path().join(folder)).unwrap();
        }
        for (name, mode) in [
            ("work/server.py", 0o644),
            ("work/run", 0o755),
            ("work/notes.db", 0o644),
            ("lib/server.py", 0o644),
            ("lib/server.ts", 0o644),
            ("bin/tool", 0o755),
        ] {
            machine.file(name, "", mode);
        }
        machine.file("work/script", "#!/bin/sh\n", 0o644);
        machine
    }

    fn file(&self, name: &str, text: &str, mode: u32) {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// `@` is where the machine is.
    fn path(&self, text: &str) -> String {
        text.replace('@', self.0.path().to_str().unwrap())
    }

    /// What an agent could have chosen of a command line, which starts in `folder` and has
    /// variables.
    fn judged(
        &self,
        line: &[&str],
        folder: Option<&str>,
        variables: &[(&str, &str)],
    ) -> Option<Chosen> {
        let line: Vec<String> = line.iter().map(|it| self.path(it)).collect();
        let (command, arguments) = line.split_first().unwrap();
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| ((*name).to_owned(), self.path(value)));
        let folder = folder.map(|it| PathBuf::from(self.path(it)));
        let launch = Launch {
            command,
            path: &self.path("@/bin:/usr/bin:/bin"),
            arguments,
            variables: &variables.collect(),
            folder: folder.as_deref(),
            home: &self.0.path().join("mcp/mine"),
        };
        let written = ["work", "mcp"].map(|it| self.0.path().join(it));
        launch.chosen(written.iter().map(PathBuf::as_path))
    }

    fn part(&self, line: &[&str]) -> Option<Part> {
        self.judged(line, None, &[]).map(|it| it.part)
    }
}

#[test]
fn program_text_where_agents_write_is_chosen_by_them() {
    let machine = Machine::new();
    for line in [
        &["/usr/bin/python3", "@/work/server.py"][..],
        &["python3.13", "-u", "@/work/run"],
        &["python3", "-W", "ignore", "@/work/notyet"],
        &["python3", "--unknown", "ignore", "@/work/notyet"],
        &[
            "python3",
            "-c",
            "import sys; sys.path.insert(0, '@/work'); import x",
        ],
        &["python3", "@/work"],
        &["python3", "@/lib/../work/notyet"],
        &["node", "--import=@/work/x", "@/lib/server.ts"],
        &["node", "--require", "@/work/lib", "@/lib/server.ts"],
        &["deno", "run", "--allow-read", "file://@/work/x.ts"],
        &["sh", "-c", "cd @/work && exec ./run"],
        &["uv", "run", "--directory", "@/work", "server"],
        &["uv", "run", "python", "@/work/notyet"],
        &["uvx", "--from", "@/work/lib", "server"],
        &["npx", "-y", "@/work/lib"],
        &["npm", "--prefix", "@/work", "start"],
        &["java", "-cp", "@/lib:@/work", "Main"],
        &["java", "-jar", "@/work/notyet"],
        &["env", "-i", "A=b", "python3", "@/work/notyet"],
        &["@/bin/tool", "--plugin=@/work/notyet.js"],
        &["@/bin/tool", "@/work/run"],
        &["@/bin/tool", "--hook", "@/work/script"],
        &["python3", "../../work/server.py"],
        &["timeout", "60", "sh", "@/work/script"],
        &[
            "xvfb-run",
            "-a",
            "/usr/bin/timeout",
            "9",
            "python3",
            "@/work/notyet",
        ],
        &["make", "-s", "-C", "@/work", "server"],
        &["make", "-C@/work"],
        &["cargo", "run", "--manifest-path=@/work/Cargo.toml"],
        &["docker", "compose", "-f", "@/work/notyet.yaml", "run", "x"],
        &["perl", "-I@/work/lib", "-MSrv", "-e", "1"],
        &["ruby", "-r@/work/x", "-e", "1"],
        &["java", "-javaagent:@/work/x.jar", "-jar", "@/lib/x.jar"],
        &["java", "-Djava.class.path=@/work", "Main"],
        &["sh", "-c", ". \"$0\"", "@/work/script"],
        &["sh", "-c", "cd ../../work; . ./script"],
        &["sh", "-c", "cd @/; . ./work/script"],
    ] {
        assert_eq!(machine.part(line), Some(Part::Argument), "{line:?}");
    }
    let variable = machine.part(&["env", "PYTHONPATH=@/work", "python3", "-m", "server"]);
    assert_eq!(variable, Some(Part::Variable("PYTHONPATH".to_owned())));
}

#[test]
fn program_where_agents_write_is_chosen_by_them() {
    let machine = Machine::new();
    machine.file("bin/inner", &machine.path("#!@/work/python\n"), 0o755);
    machine.file(
        "bin/loading",
        &machine.path("#!/usr/bin/env -S python3 @/work/x\n"),
        0o755,
    );
    for command in [
        "@/work/run",
        "@/work/notyet",
        "@/bin/inner",
        "inner",
        "@/bin/loading",
    ] {
        assert_eq!(machine.part(&[command]), Some(Part::Command), "{command}");
    }
    // One that is found later on the way than where an agent can put another.
    let path = machine.path("@/work/bin:@/bin");
    let launch = |path| {
        let launch = Launch {
            command: "tool",
            path,
            arguments: &[],
            variables: &BTreeMap::new(),
            folder: None,
            home: Path::new("/nowhere"),
        };
        launch.chosen([machine.0.path().join("work").as_path()])
    };
    assert_eq!(launch(&path).unwrap().part, Part::Command);
    assert_eq!(launch(&machine.path("@/bin:@/work/bin")), None);
}

#[test]
fn links_are_followed_as_they_are() {
    let machine = Machine::new();
    let at = |name: &str| machine.0.path().join(name);
    // Into the agent's place, through it, and the place itself by another name.
    symlink(at("work/server.py"), at("lib/into.py")).unwrap();
    symlink(at("lib"), at("work/out")).unwrap();
    symlink(at("work"), at("alias")).unwrap();
    for path in ["@/lib/into.py", "@/work/out/server.py", "@/alias/server.py"] {
        let part = machine.part(&["python3", path]);
        assert_eq!(part, Some(Part::Argument), "{path}");
    }
    symlink(at("bin/tool"), at("work/link")).unwrap();
    assert_eq!(machine.part(&["@/work/link"]), Some(Part::Command));
    let folder = machine
        .judged(&["@/bin/tool"], Some("@/alias"), &[])
        .unwrap();
    assert_eq!((folder.part, folder.place), (Part::Folder, at("work")));
    // An interpreter by another name.
    machine.file("bin/python3", "", 0o755);
    symlink("python3", at("bin/py")).unwrap();
    for command in ["py", "@/bin/py"] {
        let part = machine.part(&[command, "@/work/notyet"]);
        assert_eq!(part, Some(Part::Argument), "{command}");
    }
    symlink("loop", at("lib/loop")).unwrap();
    assert_eq!(machine.part(&["python3", "@/lib/loop"]), None);
}

#[test]
fn launch_where_it_starts_and_what_its_variables_load_count() {
    let machine = Machine::new();
    let line = ["python3", "-m", "goodserver"];
    let found = machine.judged(&line, Some("@/work/lib"), &[]).unwrap();
    assert_eq!(found.part, Part::Folder);
    assert_eq!(found.place, machine.0.path().join("work"));
    for (name, value) in [
        ("PATH", "/usr/bin:@/work/bin"),
        ("PYTHONPATH", "@/lib:@/work"),
        ("NODE_OPTIONS", "--no-warnings --require=@/work/x.js"),
        ("LD_PRELOAD", "@/work/x.so"),
        ("BASH_ENV", "@/work/rc"),
        ("npm_config_userconfig", "@/work/.npmrc"),
        ("HOOK", "@/work/script"),
    ] {
        let found = machine.judged(&line, Some("@/lib"), &[(name, value)]);
        let found = found.unwrap_or_else(|| panic!("{name}"));
        assert_eq!(found.part, Part::Variable(name.to_owned()));
        assert!(!found.to_string().contains("work/"), "{found}");
    }
}

#[test]
fn data_where_agents_write_stays_data() {
    let machine = Machine::new();
    for line in [
        &["npx", "-y", "@scope/server-filesystem", "/work"][..],
        &["npx", "-y", "@scope/server-filesystem", "@/work"],
        &["uvx", "mcp-server-git", "--repository", "@/work"],
        &["python3", "-m", "mcp_server_git", "--repository=@/work"],
        &["python3", "-u", "@/lib/server.py", "--repository", "@/work"],
        &["node", "@/lib/server.ts", "@/work"],
        &[
            "deno",
            "run",
            "--allow-read=@/work",
            "@/lib/server.ts",
            "@/work",
        ],
        &["deno", "run", "-A", "npm:@scope/server", "@/work"],
        &["@/bin/tool", "@/work"],
        &["@/bin/tool", "--db", "@/work/notes.db"],
        &["@/bin/tool", "--db=@/work/notyet.db"],
        &["sh", "-c", "echo out of order >&2; exit 7"],
        &["python3", "@/lib/server.py", "{\"into\": \"@/work\"}"],
        &["@/bin/tool", "--root", "."],
        &["python3", "@/work-tools/server.py"],
        &["sh", "-c", "exec @/work-tools/run"],
        &["sh", "-c", "exec @/bin/tool ."],
        &["timeout", "60", "@/bin/tool", "--db", "@/work/notes.db"],
        &["make", "-C", "@/lib", "server"],
        &["perl", "-I@/lib", "@/lib/server.ts", "@/work"],
    ] {
        let found = machine.judged(
            line,
            None,
            &[("DB", "@/work/notes.db"), ("UV_OFFLINE", "1")],
        );
        assert_eq!(found, None, "{line:?}");
    }
}

#[test]
fn launch_own_folder_is_chosen_by_whoever_else_writes_it() {
    let machine = Machine::new();
    let home = machine.0.path().join("mcp/mine");
    let launch = Launch {
        command: "/bin/true",
        path: "",
        arguments: &[],
        variables: &BTreeMap::new(),
        folder: None,
        home: &home,
    };
    assert_eq!(
        launch.chosen([machine.0.path().join("mcp").as_path()]),
        None
    );
    let found = launch.chosen([machine.0.path()]).unwrap();
    assert_eq!(found.part, Part::Home);
    assert!(lies_in(&home, [machine.0.path()]));
    assert!(!lies_in(&home, [machine.0.path().join("work").as_path()]));
}

#[test]
fn launch_what_it_is_given_is_said_without_values() {
    let machine = Machine::new();
    let arguments = ["@/work/server.py", "@/lib/server.py"].map(|it| machine.path(it));
    let variables = [("TOKEN".to_owned(), "sk-secret".to_owned())].into();
    let none = BTreeMap::new();
    let work = machine.0.path().join("work");
    let lib = machine.0.path().join("lib");
    let judged = |variables, arguments, network, paths: Vec<&Path>| {
        let launch = Launch {
            command: "python3",
            path: "/usr/bin",
            arguments,
            variables,
            folder: None,
            home: Path::new("/nowhere"),
        };
        let of_agent = vec![work.as_path()];
        let gifts = Gifts {
            network,
            paths,
            of_agent,
        };
        launch.planted([work.as_path()], &gifts).unwrap()
    };
    let nothing = judged(&none, &arguments[..1], false, vec![&work]);
    assert!(!nothing.is_given_more(), "{nothing}");
    for (planted, said) in [
        (
            judged(&variables, &arguments[..1], false, vec![]),
            "(TOKEN)",
        ),
        (judged(&none, &arguments[..1], true, vec![]), "a network"),
        (judged(&none, &arguments[..1], false, vec![&lib]), "paths ("),
        (judged(&none, &arguments, false, vec![]), "lib/server.py"),
    ] {
        assert!(planted.is_given_more());
        let text = planted.to_string();
        assert!(
            text.contains(said) && text.contains("where agents write"),
            "{text}"
        );
        assert!(!text.contains("sk-secret"), "{text}");
    }
}
