//! Stores: what is appended comes back, whenever the machine stops; locks; commits.

#[cfg(test)]
mod commit;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod fold;
#[cfg(test)]
mod lock;
