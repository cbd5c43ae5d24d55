//! Macros that stand where a declaration does, and what they declare.
//!
//! Their definitions:
//! include/linux/{types,stddef,hashtable,kfifo,cache,compiler_types,ethtool,phy,overflow}.h,
//! include/uapi/linux/stddef.h, include/net/{snmp,ip_tunnels}.h, include/linux/netdevice.h. `kernel-doc`
//! expands the same ones (scripts/kernel-doc, scripts/lib/kdoc).

use super::statement::{Declarator, DeclaredMembers, MemberShape};

/// Macros used without arguments and without a semicolon.
pub(crate) const BARE: &[&[u8]] = &[b"randomized_struct_fields_start", b"randomized_struct_fields_end"];

/// The members of `name(arguments)`; each argument is given by its last word.
pub(crate) fn declared_by_call(name: &[u8], arguments: &[&[u8]]) -> DeclaredMembers {
    let first = arguments.first().copied().unwrap_or_default();
    let named = |index: usize| {
        let name = arguments.get(index).filter(|name| !name.is_empty());
        name.map(|name| Declarator::named(name, MemberShape::Field)).into_iter().collect()
    };
    let marker = |prefix: &[u8]| Declarator::named(&[prefix, first].concat(), MemberShape::Marker);
    let members: Vec<Declarator> = match name {
        b"DECLARE_BITMAP"
        | b"DECLARE_HASHTABLE"
        | b"DECLARE_KFIFO"
        | b"DECLARE_KFIFO_PTR"
        | b"DECLARE_PHY_INTERFACE_MASK"
        | b"__ETHTOOL_DECLARE_LINK_MODE_MASK"
        | b"IP_TUNNEL_DECLARE_FLAGS" => named(0),
        b"DEFINE_SNMP_STAT" | b"DEFINE_SNMP_STAT_ATOMIC" => named(1),
        b"__cacheline_group_begin"
        | b"__cacheline_group_begin_aligned"
        | b"__cacheline_group_begin_aligned_cond" => vec![marker(b"__cacheline_group_begin__")],
        b"__cacheline_group_end" => vec![marker(b"__cacheline_group_end__")],
        // With the struct that pads it.
        b"__cacheline_group_end_aligned" | b"__cacheline_group_end_aligned_cond" => {
            vec![marker(b"__cacheline_group_end__"), marker(b"__cacheline_group_pad__")]
        }
        b"DECLARE_FLEX_ARRAY" | b"__DECLARE_FLEX_ARRAY" => vec![Declarator::unnamed(MemberShape::Flexible)],
        b"struct_group"
        | b"struct_group_attr"
        | b"struct_group_tagged"
        | b"__struct_group"
        | b"TRAILING_OVERLAP"
        | b"__TRAILING_OVERLAP"
        | b"NET_DEV_STAT"
        | b"__bpf_md_ptr" => vec![Declarator::unnamed(MemberShape::Aggregate)],
        // Absent from some configurations.
        b"CACHELINE_PADDING" | b"ZONE_PADDING" => {
            vec![Declarator::named(first, MemberShape::Marker).optional()]
        }
        _ => Vec::new(),
    };
    if members.is_empty() { DeclaredMembers::Unknown } else { DeclaredMembers::Members(members) }
}

/// The members of a lone word.
pub(crate) fn declared_by_word(name: &[u8]) -> DeclaredMembers {
    if BARE.contains(&name) { DeclaredMembers::Nothing } else { DeclaredMembers::Unknown }
}
