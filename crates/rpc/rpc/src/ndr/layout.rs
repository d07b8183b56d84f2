//! What the derives compute of a structure from its members.

/// C706 14.3.2: a structure is aligned as the member with the largest alignment.
#[must_use]
pub const fn alignment(members: &[usize]) -> usize {
    let (mut largest, mut index) = (1, 0);
    while index < members.len() {
        if members[index] > largest {
            largest = members[index];
        }
        index += 1;
    }
    largest
}

/// The fewest bytes that members of these alignments and least sizes take, one after the other.
#[must_use]
pub const fn size_min(members: &[(usize, usize)]) -> usize {
    let (mut size, mut index) = (0_usize, 0);
    while index < members.len() {
        let (alignment, member) = members[index];
        size = size.next_multiple_of(alignment) + member;
        index += 1;
    }
    size
}

/// The fewest bytes that a union takes whose tag takes `tag` bytes and whose arms have these alignments and least sizes.
#[must_use]
pub const fn union_size_min(tag: usize, arms: &[(usize, usize)]) -> usize {
    let (mut smallest, mut index) = (usize::MAX, 0);
    while index < arms.len() {
        let size = size_min(&[(1, tag), arms[index]]);
        if size < smallest {
            smallest = size;
        }
        index += 1;
    }
    if arms.is_empty() { tag } else { smallest }
}
