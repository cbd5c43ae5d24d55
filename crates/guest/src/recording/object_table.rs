//! Where objects were, a line each (docs/formats.md, Objects).

use crate::objects::GuestObject;
use std::fmt::Write;

/// The table's text.
pub(crate) fn format(objects: &[GuestObject]) -> String {
    let mut text = String::from("# address\ttype\tsize\tname\tlife\n");
    for object in objects {
        let GuestObject { address, type_name, size, name, .. } = object;
        let mut extra: Vec<String> = object.cpu.map(|cpu| format!("cpu={cpu}")).into_iter().collect();
        extra.extend(object.begin.map(|time| format!("begin={time}")));
        extra.extend(object.end.map(|time| format!("end={time}")));
        // Writing to a string can't fail.
        let _ = writeln!(text, "{address:016x}\t{type_name}\t{size}\t{name}\t{}", extra.join(" "));
    }
    text
}
