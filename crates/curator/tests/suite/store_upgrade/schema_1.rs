//! The tables of schema 1, as the program before schema 2 made them.

pub(crate) const SQLITE: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE survey (id TEXT PRIMARY KEY, version INTEGER NOT NULL, document TEXT NOT NULL);
CREATE TABLE event (survey TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL,
    detail TEXT NOT NULL, previous BLOB NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (survey, seq)) WITHOUT ROWID;
CREATE TABLE policy (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, outputs INTEGER NOT NULL,
    bits INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE round (id INTEGER PRIMARY KEY, survey TEXT NOT NULL, number INTEGER NOT NULL,
    state INTEGER NOT NULL, opened INTEGER NOT NULL, sealed INTEGER, released INTEGER,
    swept INTEGER NOT NULL DEFAULT 0, UNIQUE (survey, number));
CREATE INDEX round_to_sweep ON round (id) WHERE state <> 0 AND swept = 0;
CREATE TABLE tally (round INTEGER NOT NULL, policy INTEGER NOT NULL, position INTEGER NOT NULL,
    reports INTEGER NOT NULL, duplicates INTEGER NOT NULL, counts BLOB NOT NULL,
    PRIMARY KEY (round, policy));
CREATE TABLE batch (seq INTEGER PRIMARY KEY, round INTEGER NOT NULL, policy INTEGER NOT NULL,
    reports INTEGER NOT NULL, rows BLOB NOT NULL);
CREATE TABLE run (id INTEGER PRIMARY KEY AUTOINCREMENT, round INTEGER NOT NULL, ids INTEGER NOT NULL,
    target INTEGER);
CREATE INDEX run_of_round ON run (round);
CREATE INDEX run_in_merge ON run (target) WHERE target IS NOT NULL;
CREATE TABLE chunk (run INTEGER NOT NULL, first BLOB NOT NULL, ids BLOB NOT NULL);
CREATE UNIQUE INDEX chunk_of_run ON chunk (run, first);
INSERT INTO meta VALUES ('schema', 1), ('fold', 0);
";

pub(crate) const POSTGRESQL: &str = "
CREATE TABLE undertone.meta (name text PRIMARY KEY, value bigint NOT NULL);
CREATE TABLE undertone.survey (id text PRIMARY KEY, version bigint NOT NULL, document text NOT NULL);
CREATE TABLE undertone.event (survey text NOT NULL, seq bigint NOT NULL, at bigint NOT NULL,
    kind text NOT NULL, detail text NOT NULL, previous bytea NOT NULL, hash bytea NOT NULL,
    PRIMARY KEY (survey, seq));
CREATE TABLE undertone.policy (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name bytea NOT NULL UNIQUE, outputs bigint NOT NULL, bits boolean NOT NULL, bytes bytea NOT NULL);
CREATE TABLE undertone.round (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, survey text NOT NULL,
    number bigint NOT NULL, state bigint NOT NULL, opened bigint NOT NULL, sealed bigint, released bigint,
    swept boolean NOT NULL DEFAULT false, UNIQUE (survey, number));
CREATE INDEX round_to_sweep ON undertone.round (id) WHERE state <> 0 AND NOT swept;
CREATE TABLE undertone.tally (round bigint NOT NULL, policy bigint NOT NULL, position bigint NOT NULL,
    reports bigint NOT NULL, duplicates bigint NOT NULL, counts bytea NOT NULL, PRIMARY KEY (round, policy));
CREATE TABLE undertone.batch (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, round bigint NOT NULL,
    policy bigint NOT NULL, reports bigint NOT NULL, rows bytea NOT NULL)
    WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE TABLE undertone.run (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, round bigint NOT NULL,
    ids bigint NOT NULL, target bigint);
CREATE INDEX run_of_round ON undertone.run (round);
CREATE INDEX run_in_merge ON undertone.run (target) WHERE target IS NOT NULL;
CREATE TABLE undertone.chunk (run bigint NOT NULL, first bytea NOT NULL, ids bytea NOT NULL,
    PRIMARY KEY (run, first)) WITH (toast_tuple_target = 8160);
ALTER TABLE undertone.batch ALTER COLUMN rows SET STORAGE EXTERNAL;
ALTER TABLE undertone.chunk ALTER COLUMN ids SET STORAGE EXTERNAL;
INSERT INTO undertone.meta VALUES ('schema', 1);
";
