-- The state of one site. No primary keys: a keyed upsert rewrites every row group it touches; uniqueness of
-- known_urls.url is kept by the fold (delete + insert in one transaction). All instants are TIMESTAMPTZ.

CREATE TABLE meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL);

-- `host:port` of a URL, and the first segment of its path: different back ends answer under one host name.
CREATE MACRO host_of(url) AS regexp_extract(url, '^[^/]*//([^/?#]*)', 1);
CREATE MACRO path_group_of(url) AS
    coalesce(nullif(regexp_extract(url, '^[^/]*//[^/?#]*(/[^/?#]+/)', 1), ''), '/');
-- Entity tags for comparison: without W/, without the suffix of a content coding (semantics.trust), without both.
CREATE MACRO weak_free(tag) AS regexp_replace(tag, '^W/', '');
CREATE MACRO has_suffix(tag) AS regexp_matches(tag, '[-;.](gzip|gz|br|zstd|deflate|df)"$');
CREATE MACRO bare_tag(tag) AS regexp_replace(weak_free(tag), '[-;.](gzip|gz|br|zstd|deflate|df)"$', '"');

CREATE TABLE visits (
    visit INTEGER NOT NULL,
    day DATE NOT NULL,
    opened_at TIMESTAMPTZ NOT NULL,
    status VARCHAR NOT NULL,              -- open, waiting, publishing, closed, rejected
    every_page BOOLEAN NOT NULL,
    only_urls VARCHAR[] NOT NULL,
    page_limit INTEGER,
    due INTEGER,                          -- pages due when the sweep began
    gate_stage VARCHAR,                   -- revalidation_sweep, page_records or tombstones: which gate closed
    gate_reason VARCHAR,
    gate_incomplete BOOLEAN NOT NULL DEFAULT false,
    approved_at TIMESTAMPTZ,
    published_at TIMESTAMPTZ,
    run_id VARCHAR,
    busy_s DOUBLE NOT NULL DEFAULT 0,     -- seconds spent asking, over all runs that worked on the visit
    summary VARCHAR                       -- JSON of the visit's numbers, once published
);

CREATE TABLE visit_stages (visit INTEGER NOT NULL, stage VARCHAR NOT NULL, done_at TIMESTAMPTZ NOT NULL);

CREATE TABLE known_urls (
    url VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    depth INTEGER NOT NULL,
    held BOOLEAN NOT NULL,
    listed BOOLEAN NOT NULL,
    lastmod VARCHAR,
    version_lastmod VARCHAR,
    checked_lastmod VARCHAR,              -- lastmod as it was when the page was last really checked
    lastmod_moved BOOLEAN NOT NULL DEFAULT false, -- whether it had moved when its last visit checked the page
    changefreq VARCHAR,                   -- as a sitemap claims it
    sitemap_priority DOUBLE,
    first_seen TIMESTAMPTZ,
    etag VARCHAR,
    last_modified VARCHAR,
    representation VARCHAR,
    weak_date BOOLEAN NOT NULL,
    content_sha256 VARCHAR,
    compare_sha256 VARCHAR,
    body_sha256 VARCHAR,
    meta_sha256 VARCHAR,
    charset VARCHAR,
    charset_source VARCHAR,               -- where the charset was found; with what the page says against its header
    mask VARCHAR,
    page_type VARCHAR,
    extractor_version VARCHAR,
    stale BOOLEAN NOT NULL,
    last_checked TIMESTAMPTZ,
    last_changed TIMESTAMPTZ,
    status INTEGER,
    body_visit INTEGER,
    body_day DATE,
    body_bytes BIGINT NOT NULL,
    next_due TIMESTAMPTZ,
    redirect_to VARCHAR,
    hop_url VARCHAR,
    hop_etag VARCHAR,
    hop_last_modified VARCHAR,
    gone_since TIMESTAMPTZ,
    gone_checks INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    last_visit INTEGER NOT NULL,
    last_audit INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    unpaired_change BOOLEAN NOT NULL
);

-- Successors of known_urls rows, appended while crawling and folded once; the newest row of a URL wins.
CREATE TABLE journal AS SELECT 0::BIGINT AS seq, k.* FROM known_urls k LIMIT 0;

-- What a visit's sweep wants fetched, and what came of it; appended, the newest row of a URL wins.
CREATE TABLE plan (
    visit INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    url VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,              -- new, modified, hash_check, audit, recheck, stale_record, retry
    state VARCHAR NOT NULL,               -- todo, fetched, failed, moved
    depth INTEGER NOT NULL,
    source VARCHAR NOT NULL,
    moved_from VARCHAR,                   -- the source of a permanent redirect that led to this URL
    moved_to VARCHAR,                     -- of the source (state moved): where it led
    observation BIGINT,
    fetched_at TIMESTAMPTZ,
    status INTEGER,
    headers VARCHAR,                      -- JSON list of [name, value]
    length_unverified BOOLEAN NOT NULL DEFAULT false,
    hop_url VARCHAR,
    representation VARCHAR,               -- of the request that brought the body
    body_sha256 VARCHAR,
    body_bytes BIGINT,
    spool_file VARCHAR,
    spool_offset BIGINT,
    spool_row INTEGER
);

-- Extracted records and the row each would make current: proposals until page_records folds them.
CREATE TABLE proposals AS SELECT
    0::BIGINT AS seq, '' AS outcome, '' AS evidence, ''::VARCHAR AS moved_from, 0::BIGINT AS observation,
    false AS compared, false AS keep_body, now()::TIMESTAMPTZ AS observed_at, ''::VARCHAR AS record, ''::VARCHAR AS old_record, ''::VARCHAR AS main_text,
    ['']::VARCHAR[] AS lines, [0]::UBIGINT[] AS paths, 0::INTEGER AS visit, k.*
FROM known_urls k LIMIT 0;

-- The record that is current (or was, for gone and moved pages): what a 304 confirms and a diff starts from.
CREATE TABLE held_records (
    url VARCHAR NOT NULL,
    item_key VARCHAR,
    page_type VARCHAR NOT NULL,
    record VARCHAR NOT NULL,
    main_text VARCHAR,
    lines VARCHAR[],
    paths UBIGINT[],
    content_sha256 VARCHAR NOT NULL,
    extractor_version VARCHAR NOT NULL,
    observed_at TIMESTAMPTZ NOT NULL,
    visit INTEGER NOT NULL
);

CREATE TABLE suspects (
    visit INTEGER NOT NULL,
    seq BIGINT NOT NULL,
    url VARCHAR NOT NULL,
    status INTEGER NOT NULL,
    first_at TIMESTAMPTZ NOT NULL,
    state VARCHAR NOT NULL                -- suspect, certain (410), gone, cleared
);

-- Old and new record of every event that page_diffs still has to write.
CREATE TABLE pending_events (
    visit INTEGER NOT NULL,
    url VARCHAR NOT NULL,
    item_key VARCHAR,
    page_type VARCHAR,
    kind VARCHAR NOT NULL,
    observed_at TIMESTAMPTZ NOT NULL,
    old_sha256 VARCHAR,
    new_sha256 VARCHAR,
    old_record VARCHAR,
    new_record VARCHAR,
    old_lastmod VARCHAR,
    new_lastmod VARCHAR,
    moved_to VARCHAR,
    evidence VARCHAR NOT NULL,
    extractor_version VARCHAR
);

-- The outbox: rows of the visit's Parquet files until these are published.
CREATE TABLE outbox_observations (
    observation BIGINT NOT NULL,
    url VARCHAR NOT NULL,
    visit INTEGER NOT NULL,
    observed_at TIMESTAMPTZ NOT NULL,
    purpose VARCHAR NOT NULL,
    method VARCHAR NOT NULL,
    conditional BOOLEAN NOT NULL,
    etag_sent VARCHAR,
    last_modified_sent VARCHAR,
    status INTEGER,
    etag VARCHAR,
    last_modified VARCHAR,
    outcome VARCHAR NOT NULL,
    bytes BIGINT NOT NULL,
    elapsed_ms DOUBLE NOT NULL,
    body_sha256 VARCHAR,
    content_sha256 VARCHAR,
    error VARCHAR
);

CREATE TABLE outbox_page_records (
    url VARCHAR NOT NULL,
    item_key VARCHAR,
    page_type VARCHAR NOT NULL,
    observed_at TIMESTAMPTZ NOT NULL,
    visit INTEGER NOT NULL,
    content_sha256 VARCHAR NOT NULL,
    extractor_version VARCHAR NOT NULL,
    record VARCHAR NOT NULL,
    main_text VARCHAR
);

CREATE TABLE outbox_tombstones (
    url VARCHAR NOT NULL,
    observed_at TIMESTAMPTZ NOT NULL,
    confirmed_at TIMESTAMPTZ NOT NULL,
    visit INTEGER NOT NULL,
    status INTEGER NOT NULL,
    last_sha256 VARCHAR
);

CREATE TABLE outbox_page_diffs (
    event_id VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    item_key VARCHAR,
    page_type VARCHAR,
    kind VARCHAR NOT NULL,
    observed_at TIMESTAMPTZ NOT NULL,
    published_at TIMESTAMPTZ,
    visit INTEGER NOT NULL,
    run_id VARCHAR,
    old_sha256 VARCHAR,
    new_sha256 VARCHAR,
    old_lastmod VARCHAR,
    new_lastmod VARCHAR,
    moved_to VARCHAR,
    evidence VARCHAR NOT NULL,
    extractor_version VARCHAR,
    diff VARCHAR NOT NULL,
    fields STRUCT(
        "name" VARCHAR, kind VARCHAR, "old" VARCHAR, "new" VARCHAR, delta DOUBLE, "percent" DOUBLE,
        added VARCHAR[], removed VARCHAR[]
    )[] NOT NULL
);

CREATE TABLE hosts (
    host VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    conditional_requests BIGINT NOT NULL,
    not_modified BIGINT NOT NULL,
    same_hash BIGINT NOT NULL,
    audits BIGINT NOT NULL,
    etag_trusted BOOLEAN NOT NULL,
    last_modified_trusted BOOLEAN NOT NULL,
    head_trusted BOOLEAN NOT NULL,
    blocked_since TIMESTAMPTZ,
    verdict VARCHAR NOT NULL
);

-- What is known of a host's validators, by path group; `hosts` rolls it up. The group `*` takes in those beyond the
-- most that are kept apart. Columns: semantics.trust.Ledger.
CREATE TABLE ledger (
    host VARCHAR NOT NULL,
    path_group VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    cause VARCHAR NOT NULL,
    suspected VARCHAR NOT NULL,
    suspected_visits INTEGER NOT NULL,
    conditional BIGINT NOT NULL,
    not_modified BIGINT NOT NULL,
    same_record BIGINT NOT NULL,
    recent_not_modified DOUBLE NOT NULL,
    recent_same_record DOUBLE NOT NULL,
    flips BIGINT NOT NULL,
    unasked BIGINT NOT NULL,
    bodies BIGINT NOT NULL,
    bare BIGINT NOT NULL,
    audits BIGINT NOT NULL,
    clean_audits BIGINT NOT NULL,
    false_304 BIGINT NOT NULL,
    distrusted INTEGER NOT NULL,
    retry_at TIMESTAMPTZ,
    head_agreed BIGINT NOT NULL,
    head_disagreed BIGINT NOT NULL
);

-- How strained hosts are, kept across runs: Retry-After or back-off, and what the interval between requests grew to.
CREATE TABLE host_pauses (
    host VARCHAR NOT NULL, not_before TIMESTAMPTZ, incidents INTEGER NOT NULL, interval_s DOUBLE NOT NULL
);

-- Hosts that stood something else in their pages' place: how often in a row, by what, and until when they rest.
-- Columns: semantics.host_rest.HostBlocks.
CREATE TABLE host_blocks (
    host VARCHAR NOT NULL,
    since TIMESTAMPTZ,
    blocks INTEGER NOT NULL,
    signs INTEGER NOT NULL,
    rests INTEGER NOT NULL,
    next_try TIMESTAMPTZ,
    kind VARCHAR,
    reason VARCHAR,
    answered_in INTEGER NOT NULL,
    visit INTEGER NOT NULL
);

-- Pages whose last check was blocked, and by which body; the digests are those of the answer, not of the record.
CREATE TABLE blocked_pages (
    url VARCHAR NOT NULL,
    host VARCHAR NOT NULL,
    visit INTEGER NOT NULL,
    seen_at TIMESTAMPTZ NOT NULL,
    kind VARCHAR NOT NULL,
    sentence VARCHAR NOT NULL,
    strong BOOLEAN NOT NULL,
    body_sha256 VARCHAR,
    content_sha256 VARCHAR
);

-- In how many visits a host showed the same body in its pages' place: what stays is the page, in the end.
CREATE TABLE blocked_bodies (
    host VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    first_at TIMESTAMPTZ NOT NULL,
    visits INTEGER NOT NULL,
    visit INTEGER NOT NULL
);

-- A few of these bodies for a person to look at.
CREATE TABLE blocked_samples (
    host VARCHAR NOT NULL,
    url VARCHAR NOT NULL,
    seen_at TIMESTAMPTZ NOT NULL,
    status INTEGER,
    kind VARCHAR NOT NULL,
    sentence VARCHAR NOT NULL,
    headers VARCHAR NOT NULL,             -- JSON list of [name, value]
    body BLOB NOT NULL
);

-- By which rules the links of a page's present body were taken in; what a limit cut has the limits in its rule.
CREATE TABLE links_read (url VARCHAR NOT NULL, rule VARCHAR NOT NULL);

-- When a page that does not answer was last named: by a link that was read, or by the listing that dropped it.
CREATE TABLE last_named (url VARCHAR NOT NULL, named_at TIMESTAMPTZ NOT NULL);

-- What a visit found and did not take in: by where it was found (links, listings), why, how many, and one of them.
CREATE TABLE left_out (
    visit INTEGER NOT NULL, found_in VARCHAR NOT NULL, reason VARCHAR NOT NULL, left_count BIGINT NOT NULL, example VARCHAR
);

CREATE TABLE robots (
    origin VARCHAR NOT NULL,
    visit INTEGER NOT NULL,
    body BLOB NOT NULL,
    etag VARCHAR,
    last_modified VARCHAR,
    read_at TIMESTAMPTZ,                  -- when it was last read or revalidated
    representation VARCHAR                -- fingerprint of the request headers that it answered
);

-- Sitemaps and feeds as they were last read; a hint's file, never a page.
CREATE TABLE sources (
    url VARCHAR NOT NULL,
    visit INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    status INTEGER,
    etag VARCHAR,
    last_modified VARCHAR,
    sha256 VARCHAR,
    entries INTEGER NOT NULL,
    children VARCHAR[] NOT NULL,
    problem VARCHAR,                      -- why this reading failed; what the last good one listed stays listed
    scope VARCHAR,                        -- fingerprint of the scope by which the listing was sifted
    root VARCHAR,                         -- the source with which reading began: itself, or the topmost index above it
    found_by VARCHAR,                     -- site file, robots.txt, usual place, index
    hop_url VARCHAR,                      -- where redirects led at the last good reading: the validators belong to it
    warnings VARCHAR,                     -- what was wrong in the content that is held
    complete BOOLEAN NOT NULL DEFAULT true -- whether the content that is held could be read to its end
);

-- Roots ('' = found by links, '*' = the whole site) that shrank suddenly: nothing of theirs is unlisted until believed.
CREATE TABLE shrunk_listings (
    root VARCHAR NOT NULL, before INTEGER NOT NULL, now INTEGER NOT NULL, since TIMESTAMPTZ NOT NULL, visits INTEGER NOT NULL
);

-- What each source lists now; replaced source by source when one was read.
CREATE TABLE listings (source VARCHAR NOT NULL, url VARCHAR NOT NULL, lastmod VARCHAR, changefreq VARCHAR, priority DOUBLE);

-- How far the dates of each root source can be believed (semantics/hints.py).
CREATE TABLE hint_ledger (
    root VARCHAR NOT NULL, reading VARCHAR NOT NULL, entries INTEGER NOT NULL, dated INTEGER NOT NULL, moved DOUBLE NOT NULL,
    changed DOUBLE NOT NULL, moved_changed DOUBLE NOT NULL, checked DOUBLE NOT NULL
);

-- What further loads taught about a page type: on how many pages an element path stood still, or moved.
CREATE TABLE noise_evidence (page_type VARCHAR NOT NULL, path UBIGINT NOT NULL, stable INTEGER NOT NULL, moved INTEGER NOT NULL);

CREATE VIEW hosts_now AS
    SELECT h.*, p.not_before, coalesce(p.incidents, 0) AS incidents, p.interval_s
    FROM hosts h LEFT JOIN host_pauses p USING (host);

CREATE VIEW schema_version AS SELECT "value"::INTEGER AS "version" FROM meta WHERE "key" = 'schema_version';

CREATE VIEW current_urls AS
    SELECT j.* EXCLUDE (seq) FROM journal j QUALIFY row_number() OVER (PARTITION BY url ORDER BY seq DESC) = 1
    UNION ALL BY NAME
    SELECT k.* FROM known_urls k ANTI JOIN journal j USING (url);

CREATE VIEW pages AS
    SELECT
        url, etag, last_modified, representation, content_sha256, body_sha256, meta_sha256, last_checked, last_changed,
        status,
        CASE WHEN body_visit IS NOT NULL AND body_day >= (SELECT max("value")::DATE FROM meta WHERE "key" = 'first_kept_day')
             THEN format('body_snapshots/site={}/day={}/visit-{}.parquet',
                         (SELECT max("value") FROM meta WHERE "key" = 'site'), body_day::VARCHAR, body_visit) END AS body_path,
        next_due, redirect_to, gone_since, failures, lastmod, page_type, extractor_version, stale,
        source, listed, first_seen, charset, charset_source, mask, body_bytes, weak_date
    FROM current_urls WHERE held;

CREATE VIEW frontier AS
    SELECT url, source, failures, next_due, depth, listed, lastmod, first_seen, status, redirect_to
    FROM current_urls WHERE NOT held;

CREATE VIEW redirect_hops AS
    SELECT url, hop_url, hop_etag AS etag, hop_last_modified AS last_modified, representation
    FROM current_urls WHERE hop_url IS NOT NULL;

-- The ledger that speaks for a known URL: that of its path group, else that of its host's other groups.
CREATE VIEW trust_of_urls AS
    SELECT k.url, CASE WHEN l.host IS NULL THEN o ELSE l END AS own
    FROM current_urls k
    LEFT JOIN ledger l ON l.host = host_of(k.url) AND l.path_group = path_group_of(k.url)
    LEFT JOIN ledger o ON o.host = host_of(k.url) AND o.path_group = '*'
    WHERE l.host IS NOT NULL OR o.host IS NOT NULL;

CREATE VIEW plan_now AS
    SELECT * FROM plan QUALIFY row_number() OVER (PARTITION BY visit, url ORDER BY seq DESC) = 1;

-- Sources of permanent redirects; `found` once the target's record was made.
CREATE VIEW moves_now AS
    SELECT m.visit, m.url, m.moved_to AS target, m.status, m.fetched_at AS observed_at,
        p.outcome IN ('new', 'changed', 'same_hash', 'rebaselined', 'restored') AS found
    FROM plan_now m
    JOIN (SELECT visit, url, arg_max(outcome, seq) AS outcome FROM proposals GROUP BY ALL) p
        ON p.visit = m.visit AND p.url = m.moved_to
    WHERE m.state = 'moved';

CREATE VIEW suspects_now AS
    SELECT * FROM suspects QUALIFY row_number() OVER (PARTITION BY visit, url ORDER BY seq DESC) = 1;
