//! Who else sees the layout of a kernel's struct: modules, kernels that keep their ABI, BPF programs.

use crate::report::plan::member_names;
use fieldline_plan::StructPlan;
use std::path::Path;

/// Files that only the tree of a Linux kernel has (Documentation/kbuild).
const KERNEL_FILES: [&str; 2] = ["Kbuild", "include/linux/kernel.h"];
/// Parts of the names of members that distributions reserve in structs whose layout they keep: RHEL's
/// `RH_KABI_RESERVE`, SUSE's and Android's `ANDROID_KABI_RESERVE`.
const RESERVED: [&str; 2] = ["kabi_reserved", "suse_kabi"];

/// A sentence for each who sees the layout of a struct that `header` of the kernel's tree declares; none for other trees.
pub(super) fn describe(plan: &StructPlan, header: &str, tree: &Path) -> Vec<String> {
    if !KERNEL_FILES.iter().all(|file| tree.join(file).is_file()) {
        return Vec::new();
    }
    let mut out = vec![describe_modules(header)];
    out.extend(describe_reserved(plan));
    out.push(
        "BPF programs with CO-RE relocations find its members by BTF; those built without have to be built again"
            .to_owned(),
    );
    out
}

/// Whether modules see it: those of the tree that include a private header are built with the kernel.
fn describe_modules(header: &str) -> String {
    if is_for_modules(header) {
        format!(
            "modules can include {header}: those built before have to be built again; with CONFIG_MODVERSIONS the versions \
             of exported symbols that reach the struct change, and old modules don't load"
        )
    } else {
        format!("{header} lies outside of include/: modules that aren't in the tree don't see it")
    }
}

/// Whether a header is installed for modules that are built outside of the tree (scripts/package/install-extmod-build).
fn is_for_modules(file: &str) -> bool {
    file.starts_with("include/") || file.starts_with("arch/") && file.contains("/include/")
}

fn describe_reserved(plan: &StructPlan) -> Option<String> {
    let is_reserved = |name: &str| RESERVED.iter().any(|part| name.to_ascii_lowercase().contains(part));
    let members = plan.declared.members.iter();
    let reserved: Vec<usize> = members
        .filter(|member| member.name.as_deref().is_some_and(is_reserved))
        .map(|member| member.index)
        .collect();
    (!reserved.is_empty()).then(|| {
        let names = member_names(plan, &reserved);
        format!(
            "{names}: reserved in a kernel that keeps its ABI (kABI); such a kernel can't take this order"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_plan::result::{Arrangement, PlacedMember};

    fn plan(names: &[&str]) -> StructPlan {
        let member = |(index, name): (usize, &&str)| PlacedMember {
            index,
            name: Some((*name).to_owned()),
            type_name: "u64".to_owned(),
            offset: 8 * index as u64,
            size: 8,
            bit_offset: None,
            bit_size: None,
            line: None,
            inherited: false,
        };
        let members = names.iter().enumerate().map(member).collect();
        StructPlan { declared: Arrangement { members, size: 8 }, ..StructPlan::default() }
    }

    #[test]
    fn modules_see_what_is_declared_in_include() {
        assert!(describe_modules("include/linux/a.h").contains("have to be built again"));
        assert!(describe_modules("arch/x86/include/asm/a.h").contains("have to be built again"));
        assert!(describe_modules("kernel/sched/a.h").contains("don't see it"));
    }

    #[test]
    fn reserved_members_are_named() {
        let reserved = describe_reserved(&plan(&["first", "android_kabi_reserved1"])).unwrap();
        assert!(reserved.starts_with("android_kabi_reserved1: "), "{reserved}");
        assert_eq!(describe_reserved(&plan(&["first"])), None);
    }

    #[test]
    fn other_trees_have_no_modules() {
        let folder = tempfile::tempdir().unwrap();
        let describe = || describe(&plan(&[]), "include/a.h", folder.path());
        assert!(describe().is_empty());
        std::fs::create_dir_all(folder.path().join("include/linux")).unwrap();
        KERNEL_FILES.iter().for_each(|file| std::fs::write(folder.path().join(file), "").unwrap());
        assert_eq!(describe().len(), 2);
    }
}
