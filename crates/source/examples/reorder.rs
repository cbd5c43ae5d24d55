//! throw-away: reorder FILE STRUCT LINE expected,... wanted-first,...
use fieldline_source::*;
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    let bytes = std::fs::read(&a[0]).unwrap();
    let source = SourceText::new(&bytes);
    let d = source.find(&Query::named(&a[1])).unwrap();
    let body = Body::parse(&source, &d).unwrap();
    let expected: Vec<ExpectedMember> = a[2]
        .split(',')
        .map(|n| if n == "-" { ExpectedMember::unnamed() } else { ExpectedMember::named(n) })
        .collect();
    let join = Join::new(&body, &expected).unwrap();
    let names: Vec<&str> = a[2].split(',').collect();
    let mut order: Vec<usize> =
        a[3].split(',').map(|n| names.iter().position(|x| *x == n).unwrap()).collect();
    for i in 0..names.len() {
        if !order.contains(&i) {
            order.push(i)
        }
    }
    let c = join.constraints();
    for (m, e) in c.members.iter().zip(&expected) {
        eprintln!("{:?} unit {} guard {} zone {} {:?}", e.name, m.unit, m.guard, m.zone, m.fixed);
    }
    eprintln!("{:?}", c.guards);
    match join.reorder(&order) {
        Ok(r) => {
            for n in &r.notes {
                eprintln!("note: {n}");
            }
            print!("{}", String::from_utf8_lossy(&diff::unified(&a[4], &bytes, &r.edits.apply(&bytes))));
        }
        Err(e) => println!("refused: {e}"),
    }
}
