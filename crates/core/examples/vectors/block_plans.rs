//! Plans with items that release blocks.

use super::blocks::{families, forty};
use super::grid::{keep, unary};
use super::plans::{NamedPlan, asking, claiming, draft, given, indices, root, row, three};
use undertone_core::{Family, Geometry, Incidence, Item, Law, MASS_ONE, Node, Shape};

/// All accepted ones.
pub(crate) fn accepted() -> Vec<NamedPlan> {
    let named = |name, about, parts| NamedPlan { name, about, parts: claiming(parts) };
    let shapes = || families().map(|(_, shape)| shape);
    let parts: [&[u64]; 6] =
        [&[8, 4, 4], &[6, 6, 4], &[2, 6, 8], &[5, 5, 6], &[1, 5, 10], &[9, 4, 3]];
    let independent = Law::Tree(parts.map(root).into());
    let tree = Law::Tree(vec![
        given(3, &[&[8, 4, 4], &[2, 6, 8]]),
        given(0, &[&[12, 2, 2], &[3, 10, 3], &[1, 5, 10]]),
        given(0, &[&[9, 7], &[4, 12], &[8, 8]]),
        root(&[11, 5]),
    ]);
    let [_, projective, fraction, hashing, listed, subsets] = shapes();
    let chain = asking(vec![fraction, listed.clone(), three()], &[2], tree);
    let mut combined = asking(
        vec![three(), keep(4, &[4, 5, 6], &[5, 5, 6])],
        &[],
        Law::Tree(vec![root(&[4, 12]), given(0, &[&[8, 4, 4], &[2, 6, 8]])]),
    );
    let six = Geometry::hashing(3, 2).expect("functions");
    let six = Incidence::new(6, 1 << 47, Family::Geometry(six));
    combined.items.push(Item { questions: vec![0, 1], policy: 2, fresh: None, weight: 0 });
    combined.policies.push(draft(indices(6), Shape::Incidence(six.expect("blocks"))));
    let forty_rows = || {
        let mut masses = vec![MASS_ONE / 40; 40];
        masses[0] += MASS_ONE % 40;
        let mut tilted = masses.clone();
        tilted[1] += MASS_ONE / 64;
        tilted[2] -= MASS_ONE / 64;
        let mut other = masses.clone();
        other[3] += MASS_ONE / 80;
        other[39] -= MASS_ONE / 80;
        [masses, tilted, other].map(row)
    };
    let leaf =
        |parent: u32, values: usize| Node::Given { parent, rows: forty_rows()[..values].to_vec() };
    let [numbered, unnumbered] = forty();
    let leaves =
        Law::Tree(vec![leaf(3, 2), leaf(3, 2), given(3, &[&[12, 4], &[5, 11]]), root(&[13, 3])]);
    let binary = asking(vec![numbered.clone(), unary(40, 2, 2, 1), three()], &[2], leaves.clone());
    let subset_leaf = asking(vec![numbered.clone(), unnumbered, three()], &[2], leaves);
    let ternary = Law::Tree(vec![leaf(2, 3), leaf(2, 3), root(&[8, 5, 3])]);
    let pairwise = asking(vec![numbered, unary(40, 2, 2, 1)], &[3], ternary);
    let mut repeated = asking(vec![projective, hashing, subsets], &[], {
        Law::Tree(vec![root(&[8, 4, 4]), root(&[2, 6, 8]), root(&[5, 5, 6])])
    });
    // Four blocks are kept and randomised afresh by a table, six by blocks over them.
    repeated.policies.push(draft(indices(4), keep(4, &[6; 4], &[4, 4, 4, 4])));
    let lines = Geometry::new(2, 3, 1, 0, true).expect("a geometry");
    let lines = Incidence::new(6, 3 << 46, Family::Geometry(lines));
    repeated.policies.push(draft(indices(6), Shape::Incidence(lines.expect("blocks"))));
    repeated.items[0].fresh = Some(3);
    repeated.items[1].fresh = Some(4);
    vec![
        named("blocks", "every family, independent of each other", {
            asking(shapes().into(), &[], independent)
        }),
        named("blocks_chain", "blocks along a tree: every outcome is tried", chain),
        named("blocks_combined", "two questions as one symbol of six, beside each alone", combined),
        named("blocks_binary_tree", "a leaf of 40 symbols that is hashed", binary),
        named("blocks_subset_leaf", "a leaf of 40 symbols as subsets: a bound", subset_leaf),
        named("blocks_pairwise", "a secret with three values: a bound", pairwise),
        named("blocks_repeated", "kept blocks, and fresh reports of their numbers", repeated),
    ]
}
