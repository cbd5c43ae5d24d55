//! Macros that stand where a declaration does, and what they declare.
//!
//! Their definitions: include/linux/{types,stddef,hashtable,kfifo,cache,compiler_types,ethtool,phy,overflow}.h,
//! include/uapi/linux/stddef.h, include/net/{snmp,ip_tunnels}.h, include/linux/netdevice.h. `kernel-doc` expands the
//! same ones (scripts/kernel-doc, scripts/lib/kdoc).

use super::member::{Declarator, Declares, MemberShape};

/// What a macro's call declares.
enum Rule {
    /// A member named by this argument.
    Named(usize),
    /// A member whose name is this text and the first argument.
    Marker(&'static [u8]),
    /// The end of an aligned group: a marker and the struct that pads it.
    AlignedEnd,
    /// An unnamed struct or union.
    Unnamed,
    /// An unnamed struct with a flexible array.
    UnnamedFlexible,
    /// A member named by the first argument, absent from some configurations.
    Padding,
}

/// Macros used without arguments and without a semicolon.
pub(crate) const BARE: &[&[u8]] = &[b"randomized_struct_fields_start", b"randomized_struct_fields_end"];

fn rule(name: &[u8]) -> Option<Rule> {
    let rule = match name {
        b"DECLARE_BITMAP"
        | b"DECLARE_HASHTABLE"
        | b"DECLARE_KFIFO"
        | b"DECLARE_KFIFO_PTR"
        | b"DECLARE_PHY_INTERFACE_MASK"
        | b"__ETHTOOL_DECLARE_LINK_MODE_MASK"
        | b"IP_TUNNEL_DECLARE_FLAGS" => Rule::Named(0),
        b"DEFINE_SNMP_STAT" | b"DEFINE_SNMP_STAT_ATOMIC" => Rule::Named(1),
        b"__cacheline_group_begin"
        | b"__cacheline_group_begin_aligned"
        | b"__cacheline_group_begin_aligned_cond" => Rule::Marker(b"__cacheline_group_begin__"),
        b"__cacheline_group_end" => Rule::Marker(b"__cacheline_group_end__"),
        b"__cacheline_group_end_aligned" | b"__cacheline_group_end_aligned_cond" => Rule::AlignedEnd,
        b"DECLARE_FLEX_ARRAY" | b"__DECLARE_FLEX_ARRAY" => Rule::UnnamedFlexible,
        b"struct_group"
        | b"struct_group_attr"
        | b"struct_group_tagged"
        | b"__struct_group"
        | b"TRAILING_OVERLAP"
        | b"__TRAILING_OVERLAP"
        | b"NET_DEV_STAT"
        | b"__bpf_md_ptr" => Rule::Unnamed,
        b"CACHELINE_PADDING" | b"ZONE_PADDING" => Rule::Padding,
        _ => return None,
    };
    Some(rule)
}

/// What `name(arguments)` declares; each argument is given by its last word.
pub(crate) fn call(name: &[u8], arguments: &[&[u8]]) -> Declares {
    let first = arguments.first().copied().unwrap_or_default();
    let members = match rule(name) {
        Some(Rule::Named(index)) => {
            let Some(name) = arguments.get(index).filter(|name| !name.is_empty()) else {
                return Declares::Unknown;
            };
            vec![Declarator::named(name, MemberShape::Field)]
        }
        Some(Rule::Marker(prefix)) => vec![marker(prefix, first)],
        Some(Rule::AlignedEnd) => {
            vec![marker(b"__cacheline_group_end__", first), marker(b"__cacheline_group_pad__", first)]
        }
        Some(Rule::Unnamed) => vec![Declarator::unnamed(MemberShape::Aggregate)],
        Some(Rule::UnnamedFlexible) => vec![Declarator::unnamed(MemberShape::Flexible)],
        Some(Rule::Padding) => vec![Declarator::named(first, MemberShape::Marker).optional()],
        None => return Declares::Unknown,
    };
    Declares::Members(members)
}

/// What a lone word declares.
pub(crate) fn bare(name: &[u8]) -> Declares {
    if BARE.contains(&name) { Declares::Nothing } else { Declares::Unknown }
}

fn marker(prefix: &[u8], group: &[u8]) -> Declarator {
    Declarator::named(&[prefix, group].concat(), MemberShape::Marker)
}
