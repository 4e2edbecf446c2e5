//! One suite of Kubernetes API tests, written against a `kube::Client`. Each case runs against the sandbox and against a
//! real API server: what the sandbox promises is what a real one does. A case gets a cluster with a namespace of its own,
//! and assumes nothing else about it: other cases, controllers and a scheduler work on the real one at the same time. What
//! it makes outside its namespace it calls by the namespace's name.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic like tests")]

mod apply;
mod cluster;
mod custom;
mod limits;
mod lists;
mod namespaces;
mod parts;
mod pods;
mod rights;
mod schemas;
mod watches;
mod writes;

macro_rules! cases {
    ($($module:ident: $($case:ident),* $(,)?;)*) => {
        /// Against the sandbox, each case in one of its own.
        mod sandbox {
            $(mod $module {
                $(#[tokio::test]
                async fn $case() {
                    let cluster = crate::cluster::Cluster::sandbox(stringify!($case)).await;
                    crate::cluster::in_time(crate::$module::$case(&cluster)).await;
                    cluster.stop().await;
                })*
            })*
        }

        /// Against a real API server, which all cases share.
        mod real {
            $(mod $module {
                $(#[tokio::test]
                async fn $case() {
                    let Some(plane) = tests::control_plane::ControlPlane::shared().await else { return };
                    let cluster = crate::cluster::Cluster::real(&plane, stringify!($case)).await;
                    crate::cluster::in_time(crate::$module::$case(&cluster)).await;
                })*
            })*
        }
    };
}

cases! {
    apply:
        creates_updates_and_does_nothing_twice,
        conflicts_name_the_other_manager,
        force_takes_fields_away,
        an_update_takes_over_what_it_changes,
        giving_up_a_field_removes_it,
        shared_fields_stay_until_the_last_owner_leaves,
        list_maps_are_merged_by_key,
        status_has_owners_of_its_own,
        unknown_fields_are_refused,
        a_dry_run_shows_defaults_and_writes_nothing,
        quantities_are_canonical,
        yaml_is_applied;
    custom:
        definitions_make_resources,
        custom_objects_are_pruned_defaulted_and_validated,
        status_is_a_subresource,
        list_maps_of_definitions_are_merged,
        versions_share_objects;
    limits:
        limit_ranges_fill_in,
        limit_ranges_refuse,
        quotas_want_amounts_and_look_at_scopes;
    lists:
        selectors_select,
        pages_add_up,
        metadata_and_tables;
    namespaces:
        a_new_namespace_is_complete,
        deletion_empties_it,
        nothing_is_created_in_one_that_is_missing;
    parts:
        custom_objects_have_scales,
        workloads_have_scales,
        definitions_say_what_is_selected_and_shown,
        schemas_are_published_by_hash;
    pods:
        defaults_are_filled_in,
        binding_is_for_once,
        quotas_refuse_what_exceeds_them,
        disruption_budgets_hold_evictions,
        priority_comes_from_the_class,
        pods_change_in_little;
    rights:
        roles_allow_what_they_name,
        nobody_gives_away_what_they_lack,
        built_in_roles_are_there,
        aggregated_roles_follow,
        reviews_answer,
        tokens_are_those_of_their_account,
        impersonation_is_a_right,
        roles_are_checked;
    schemas:
        values_are_checked_against_the_schema,
        rules_are_evaluated,
        an_update_is_not_blamed_for_what_it_leaves,
        defaults_reach_everywhere,
        definitions_are_checked;
    watches:
        a_watch_goes_on_where_a_list_ended,
        selectors_turn_changes_into_comings_and_goings,
        a_watch_ends_in_time,
        the_watcher_of_kube_follows;
    writes:
        names_are_generated_and_checked,
        an_update_needs_the_current_version,
        merge_and_strategic_patches,
        generation_counts_changes_of_the_spec,
        what_is_immutable_stays,
        strict_validation_names_the_field,
        finalizers_hold_a_deletion,
        preconditions_of_a_deletion,
        owners_take_their_dependants_along,
        a_second_owner_keeps_a_dependant,
        what_is_missing_is_not_found;
}
