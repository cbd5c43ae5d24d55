//! throw-away
use fieldline_source::*;
use std::collections::BTreeMap;
fn rnd(s: &mut u64) -> u64 {
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    *s
}
fn main() {
    let mut seed = 88172645463325252u64;
    let (mut mem, mut fixed) = (0, 0); let (mut perms, mut moved) = (0, 0);
    let mut args = std::env::args().skip(1);
    let (tree, tsv) = (args.next().unwrap(), args.next().unwrap());
    let n: usize = args.next().unwrap().parse().unwrap(); let only = args.next();
    let text = std::fs::read_to_string(tsv).unwrap();
    let mut rows: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for l in text.lines() {
        let f: Vec<String> = l.split('\t').map(str::to_owned).collect();
        rows.entry(f[0].clone()).or_default().push(f);
    }
    let mut stat: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    let mut total = 0;
    for (file, rows) in rows {
        let Ok(bytes) = std::fs::read(format!("{tree}/{file}")) else { continue };
        let source = SourceText::new(&bytes);
        for f in rows {
            if only.as_ref().is_some_and(|o| *o != f[3]) {
                continue;
            }
            let line: u32 = f[1].parse().unwrap();
            let expected: Vec<ExpectedMember> = f[4]
                .split(',')
                .filter(|_| !f[4].is_empty())
                .map(|n| if n == "-" { ExpectedMember::unnamed() } else { ExpectedMember::named(n) })
                .collect();
            total += 1;
            let r = source
                .find(&Query::named(&f[3]).with_line(Some(line)))
                .map_err(|e| ("find", e))
                .and_then(|d| {
                    if d.is_union {}
                    let b = Body::parse(&source, &d).map_err(|e| ("body", e))?;
                    let j = Join::new(&b, &expected).map_err(|e| ("join", e))?;
                    let id: Vec<usize> = (0..expected.len()).collect();
                    let r = j.reorder(&id).map_err(|e| ("identity", e))?;
                    if !r.edits.is_empty() {
                        println!(
                            "NOT IDENTICAL {} {:?}",
                            f[3],
                            String::from_utf8_lossy(&diff::unified(&f[0], &bytes, &r.edits.apply(&bytes)))
                        );
                    }
                    let c = j.constraints(); for m in &c.members { mem += 1; if let Some(r) = &m.fixed { fixed += 1; println!("FIXED {} {} {}:{} {}", f[3], m.label, f[0], m.line, r); } } for n in &r.notes { println!("NOTE {n}"); }
                    for _ in 0..n {
                        let mut units: Vec<(u32, u64, usize)> = c
                            .units
                            .iter()
                            .enumerate()
                            .map(|(i, u)| (c.members[u.members.start].zone, rnd(&mut seed), i))
                            .collect();
                        units.sort();
                        let order: Vec<usize> =
                            units.iter().flat_map(|(_, _, u)| c.units[*u].members.clone()).collect();
                        perms += 1;
                        if order != id {
                            moved += 1;
                        }
                        let r = j.reorder(&order).map_err(|e| ("reorder", e))?;
                        let _ = diff::unified(&f[0], &bytes, &r.edits.apply(&bytes));
                    }
                    Ok(())
                });
            let key = match &r {
                Ok(()) => "ok".to_owned(),
                Err((s, e)) => format!("{s} {}", format!("{e:?}").split([' ', '{']).next().unwrap()),
            };
            let e = stat.entry(key).or_default();
            e.0 += 1;
            if let Err((_, err)) = r {
                e.1.push(format!("{file}:{line} {} {err}", f[3]));
            }
        }
    }
    println!("total {total} perms {perms} nontrivial {moved} members {mem} fixed {fixed}");
    for (k, (n, list)) in &stat {
        println!("{k}: {n}");
        if k.contains("NotFound") && only.is_none() {}
        for l in list.iter().take(400) {
            println!("    {l}");
        }
    }
}
