//! The mounts that a path crosses.

use std::os::fd::AsFd;

use super::layers::layers;
use super::model::Crossed;
use super::path::Place;
use crate::host::acl_force::Answer;
use crate::host::mounts::MountFacts;

/// Collects the mounts in the order in which places lie on them.
pub(super) struct Mounts<'a> {
    table: &'a [MountFacts],
    pub(super) crossed: Vec<Crossed>,
}

impl<'a> Mounts<'a> {
    pub(super) fn new(table: &'a [MountFacts]) -> Self {
        Self { table, crossed: Vec::new() }
    }

    /// The index of a place's mount; one past the end where the table does not have it.
    pub(super) fn index(&mut self, place: &Place) -> usize {
        let known = |crossed: &Crossed| Some(crossed.facts.mount_id) == place.mount_id;
        if let Some(index) = self.crossed.iter().position(known) {
            return index;
        }
        let wanted = |mount: &&MountFacts| Some(mount.mount_id) == place.mount_id;
        let Some(facts) = self.table.iter().find(wanted) else { return usize::MAX };
        // Links carry no ACL and say nothing about it.
        let force = Answer::of(place.fd.as_fd()).force(&facts.fstype);
        self.crossed.push(Crossed {
            idmapped: facts.is_idmapped(),
            layers: layers(facts, self.table),
            force,
            facts: facts.clone(),
        });
        self.crossed.len() - 1
    }
}
