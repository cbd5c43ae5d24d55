//! Builds of a small tree that has a kernel's targets.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use fieldline_guest::GuestArchitecture;
use fieldline_testing::has_programs;
use fieldline_trial::{BuildOptions, Error, KernelConfig, PatchFiles, Trial, Variant, same_sections};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const MAKEFILE: &str = "\
MAKEFLAGS += --no-print-directory
ifneq ($(O),)
# One make for all goals, as a kernel's has: two of them in one folder would write each other's objects.
$(MAKECMDGOALS): sub-make ;
sub-make:
\t@$(MAKE) -C $(O) -f $(CURDIR)/Makefile S=$(CURDIR) O= $(MAKECMDGOALS)
else
tinyconfig:
\techo CONFIG_TINY=y > .config; echo CONFIG_DEBUG_INFO=y >> .config
olddefconfig:
\tmkdir -p include/config arch/x86/boot; cp .config include/config/auto.conf
a.o: $(S)/a.c $(S)/a.h
\tgcc -g -c -o $@ $(S)/a.c
b.o: $(S)/b.c
\tgcc -g -c -o $@ $(S)/b.c
vmlinux: a.o b.o
\tgcc -o $@ a.o b.o
bzImage: vmlinux
\tcp vmlinux arch/x86/boot/bzImage
endif
";

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("Kbuild", ""),
        ("Makefile", MAKEFILE),
        ("a.h", "struct pair { int first; long second; };\n"),
        ("a.c", "#include \"a.h\"\nlong get(struct pair *pair) { return pair->second; }\n"),
        ("b.c", "int main(void) { return 0; }\n"),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn patched(text: &str) -> PatchFiles {
    [("a.h".to_owned(), text.as_bytes().to_vec())].into()
}

fn variants(patch: PatchFiles) -> Vec<Variant> {
    let base = Variant { name: "base".to_owned(), files: PatchFiles::new() };
    vec![base, Variant { name: "swapped".to_owned(), files: patch }]
}

fn open(tree: &Path, out: &Path, variants: Vec<Variant>, more: &str) -> Result<Trial, Error> {
    let options = BuildOptions {
        tree: tree.to_owned(),
        config: KernelConfig::Small(more.to_owned()),
        arguments: Vec::new(),
        jobs: 2,
    };
    Trial::open(out, options, GuestArchitecture::X86_64, variants)
}

const SWAPPED: &str = "struct pair { long second; int first; };\n";

#[test]
fn only_what_depends_on_a_patch_is_compiled_and_kernels_are_kept() {
    if !has_programs(&["make", "gcc", "cp"]) {
        return;
    }
    let (tree, work) = (tree(), tempfile::tempdir().unwrap());
    let out = work.path().join("out");
    let trial = open(tree.path(), &out, variants(patched(SWAPPED)), "").unwrap();
    let built: Vec<_> = trial.variants.iter().map(|variant| trial.build(variant).unwrap()).collect();
    assert_eq!([built[0].compiled, built[1].compiled], [Some(2), Some(1)]);
    let vmlinux: Vec<&PathBuf> = built.iter().map(|outcome| &outcome.kernel.vmlinux).collect();
    assert_eq!(same_sections(vmlinux[0], vmlinux[1]).unwrap().as_deref(), Some(".text"));
    assert_eq!(trial.prove_build(&trial.variants[1]).unwrap(), None);
    // A second start finds them; another patch, or another configuration, is another trial.
    let again = open(tree.path(), &out, variants(patched(SWAPPED)), "").unwrap();
    assert_eq!(again.build(&again.variants[1]).unwrap().compiled, None);
    for (patch, more, word) in
        [("struct pair {};\n", "", "variant swapped"), (SWAPPED, "CONFIG_MORE=y\n", "configuration")]
    {
        let error = open(tree.path(), &out, variants(patched(patch)), more).unwrap_err().to_string();
        assert!(error.contains("made of something else") && error.contains(word), "{error}");
    }
    assert_eq!(
        fs::read_to_string(tree.path().join("a.h")).unwrap(),
        "struct pair { int first; long second; };\n"
    );
}

#[test]
fn a_kernel_that_does_not_build_is_an_error_with_the_compilers_lines() {
    if !has_programs(&["make", "gcc", "cp"]) {
        return;
    }
    let (tree, work) = (tree(), tempfile::tempdir().unwrap());
    let out = work.path().join("out");
    let trial = open(tree.path(), &out, variants(patched("struct pair { nonsense; };\n")), "").unwrap();
    trial.build(&trial.variants[0]).unwrap();
    let error = trial.build(&trial.variants[1]).unwrap_err().to_string();
    assert!(error.contains("nonsense") && error.contains("build.log"), "{error}");
    assert!(!out.join("kernels/swapped").exists());
}

#[test]
fn a_folder_without_kbuild_is_no_tree() {
    let (tree, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(tree.path().join("Makefile"), "").unwrap();
    let error = open(tree.path(), &work.path().join("out"), Vec::new(), "").unwrap_err().to_string();
    assert!(error.contains("no kernel's source tree"), "{error}");
}
