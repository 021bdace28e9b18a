#[test] fn pairs(){ std::fs::write("/tmp/h2_map.svg", undertone_design::relation::map::svg()).unwrap(); }
