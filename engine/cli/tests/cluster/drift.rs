//! Somebody changes one slice by hand: that one is repaired, and no other is touched.

use crate::setting::{FLEET, Setting};

#[test]
fn one_slice_is_repaired() {
    let setting = Setting::embedded(FLEET);
    setting.converge(&[]);
    let before = setting.slices();
    for arguments in [["-dci", "-gi", "2"], ["-dgi", "-gi", "2"]] {
        let command = ["sandbox", "exec", "gpu-02", "-sandbox=fleet.hcl", "--", "nvidia-smi", "mig", "-i", "1"];
        let mut command = setting.program(&[&command[..], &arguments].concat());
        crate::program::Running::start(&mut command).end().check(0, &[]);
    }
    let gone: Vec<String> = before.keys().filter(|place| !setting.slices().contains_key(*place)).cloned().collect();
    assert_eq!(gone, ["gpu-02 card 1 3g.40gb at 4"]);

    let plan = setting.run(&["plan", "-refresh-only", "-detailed-exitcode"]);
    plan.check(2, &["gpu-02 card 1 (GPU-", "3g.40gb at 4 is gone"]);
    setting.converge(&[]).check_not(&["gpu-01: ", "gpu-03: ", "card 0"]);
    let after = setting.slices();
    assert_eq!(after.len(), before.len());
    let other: Vec<&String> = before.iter().filter(|(place, uuid)| after[*place] != **uuid).map(|(p, _)| p).collect();
    assert_eq!(other, gone.iter().collect::<Vec<_>>(), "only this one is another");
}
