//! How many of each resource the cluster offers, now and then.

use engine_model::finding::{CapacityRow, Place};

use super::value::{pad, width};

/// A table with a row per resource that changes or has a remark; empty where there is none.
pub(crate) fn capacity(rows: &[CapacityRow]) -> String {
    let rows: Vec<&CapacityRow> = rows.iter().filter(|row| row.now != row.then || !row.notes.is_empty()).collect();
    if rows.is_empty() {
        return String::new();
    }
    let columns = rows.iter().map(|row| width(row.resource.as_str())).max().unwrap_or(0);
    let mut out = format!("{}   {:>5}  {:>5}\n", pad("Capacity", columns + 2), "now", "then");
    for row in rows {
        let notes: Vec<String> = row.notes.iter().map(|(text, place)| note(text, place.as_ref())).collect();
        let excluded = if row.excluded > 0 { vec![format!("+{} on excluded nodes", row.excluded)] } else { Vec::new() };
        let notes = [excluded, notes].concat().join(", ");
        let line = format!("  {}   {:>5}  {:>5}   {notes}", pad(row.resource.as_str(), columns), row.now, row.then);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn note(text: &str, place: Option<&Place>) -> String {
    match place.and_then(|place| place.source.as_ref()) {
        Some(source) => format!("{text} ({}:{})", source.file, source.line),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_neither_changes_nor_has_a_remark_is_left_out() {
        let row = |resource: &str, now, then, excluded| CapacityRow {
            resource: resource.into(),
            now,
            then,
            excluded,
            notes: Vec::new(),
        };
        let mut noted = row("nvidia.com/mig-1g.10gb", 0, 3, 2);
        noted.notes.push(("team-a may ask for 4".to_owned(), None));
        let expected = "Capacity                     now   then
  nvidia.com/gpu               4      3
  nvidia.com/mig-1g.10gb       0      3   +2 on excluded nodes, team-a may ask for 4
";
        assert_eq!(capacity(&[row("nvidia.com/gpu", 4, 3, 0), row("same", 1, 1, 0), noted]), expected);
        assert_eq!(capacity(&[row("same", 1, 1, 0)]), "");
    }
}
