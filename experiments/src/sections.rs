//! Where the papers have the figures and tables that are rerun.

/// Keys of experiments and the sections of their figures.
const SECTIONS: [(&str, &str); 32] = [
    ("jstl21-fig-2", "Section II-C"),
    ("jstl21-fig-3", "Section II-C"),
    ("jstl21-fig-4", "Section II-C"),
    ("jstl21-fig-5", "Section III-B"),
    ("jstl21-fig-6", "Section III-C"),
    ("jstl21-fig-7", "Section IV-C"),
    ("jstl21-fig-8", "Section IV-C"),
    ("jstl21-fig-9", "Section IV-C"),
    ("jstl21-fig-10", "Section IV-C"),
    ("jstl21-fig-11", "Section V-A"),
    ("jstl21-fig-12", "Section V-B"),
    ("jlt18-fig-2", "Section I"),
    ("jlt18-fig-5", "Section V-A"),
    ("jlt18-fig-6", "Section V-A"),
    ("jlt18-fig-7", "Section V-A"),
    ("jlt18-fig-8", "Section V-B"),
    ("jlt18-fig-9", "Appendix A"),
    ("stl19-fig-3", "Section IV"),
    ("st20-fig-2", "Section III"),
    ("st20-fig-5", "Section VI-A"),
    ("st20-fig-6", "Section VI-A"),
    ("st20-fig-7", "Section VI-A"),
    ("st20-fig-8", "supplement, simulation results"),
    ("st20-fig-9", "supplement, simulation results"),
    ("st20-table-1", "Section VI-B"),
    ("st20-table-2", "Section VI-B"),
    ("zds22-fig-1", "Section II-A"),
    ("zds22-fig-2", "Section III-A"),
    ("zds22-fig-3", "Section III-B"),
    ("zds22-fig-4", "Section III-B"),
    ("zds22-split", "Section III-B"),
    ("zds22-methods", "Section III-B"),
];

/// The section of an experiment's figure.
pub fn of(key: &str) -> Option<&'static str> {
    SECTIONS.iter().find(|(known, _)| *known == key).map(|(_, section)| *section)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Paper, registry};

    #[test]
    fn every_figure_of_a_paper_has_its_section() {
        let all = registry::all();
        let papers = all.iter().filter(|experiment| experiment.paper != Paper::Ours);
        papers.for_each(|experiment| assert!(of(experiment.key).is_some(), "{}", experiment.key));
        for (key, _) in SECTIONS {
            assert!(registry::find(key).is_ok(), "{key}");
        }
    }
}
