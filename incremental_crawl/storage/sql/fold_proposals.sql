-- Makes a visit's proposals current, in one transaction with the fold of their rows: record, digests, validators and
-- body reference take effect together, and what they replace is left to page_diffs as old and new record.
CREATE OR REPLACE TEMP TABLE decided AS
    SELECT * FROM proposals WHERE visit = $visit QUALIFY row_number() OVER (PARTITION BY url ORDER BY seq DESC) = 1;

CREATE OR REPLACE TEMP TABLE moves AS
    SELECT url, target, observed_at FROM moves_now WHERE visit = $visit AND found;

-- Events of the pages themselves. The target of a move that was unknown is compared with the record of its source.
INSERT INTO pending_events BY NAME
    SELECT $visit::INTEGER AS visit, d.url, NULL::VARCHAR AS item_key, d.page_type,
        CASE d.outcome WHEN 'new' THEN CASE WHEN s.url IS NULL THEN 'new' ELSE 'changed' END ELSE d.outcome END AS kind,
        d.observed_at,
        coalesce(h.content_sha256, s.content_sha256) AS old_sha256, d.content_sha256 AS new_sha256,
        coalesce(d.old_record, h.record, s.record) AS old_record, coalesce(d.record, h.record) AS new_record,
        coalesce(k.version_lastmod, ks.version_lastmod) AS old_lastmod, k.lastmod AS new_lastmod,
        NULL::VARCHAR AS moved_to, d.evidence, d.extractor_version
    FROM decided d
    LEFT JOIN held_records h ON h.url = d.url AND h.item_key IS NULL
    LEFT JOIN known_urls k ON k.url = d.url
    LEFT JOIN held_records s ON s.url = d.moved_from AND s.item_key IS NULL AND h.url IS NULL
    LEFT JOIN known_urls ks ON ks.url = s.url
    WHERE d.outcome IN ('changed', 'restored', 'corrected')
       OR (d.outcome = 'new' AND (s.url IS NULL OR CASE WHEN d.old_record IS NOT NULL THEN d.old_record <> d.record
                                                          ELSE s.content_sha256 <> d.content_sha256 END));

-- Events of the sources of permanent redirects.
INSERT INTO pending_events BY NAME
    SELECT $visit::INTEGER AS visit, m.url, NULL::VARCHAR AS item_key, k.page_type, 'moved' AS kind, m.observed_at,
        k.content_sha256 AS old_sha256, NULL::VARCHAR AS new_sha256, NULL::VARCHAR AS old_record,
        NULL::VARCHAR AS new_record, k.version_lastmod AS old_lastmod, k.lastmod AS new_lastmod, m.target AS moved_to,
        'permanent redirect' AS evidence, k.extractor_version
    FROM moves m JOIN known_urls k USING (url)
    WHERE k.held AND k.redirect_to IS DISTINCT FROM m.target;

INSERT INTO outbox_page_records BY NAME
    SELECT url, NULL::VARCHAR AS item_key, page_type, observed_at, visit, content_sha256, extractor_version, record, main_text
    FROM decided WHERE record IS NOT NULL;

UPDATE outbox_observations SET outcome = d.outcome,
        content_sha256 = CASE WHEN d.outcome IN ('new', 'changed', 'same_hash', 'rebaselined', 'restored') THEN d.content_sha256 END,
        error = CASE WHEN d.outcome IN ('empty', 'error', 'blocked', 'refused', 'retry_later') OR starts_with(d.evidence, 'charset drift')
                     THEN d.evidence ELSE outbox_observations.error END  -- else what was odd about the answer
    FROM decided d
    WHERE outbox_observations.visit = $visit AND outbox_observations.observation = d.observation;

DELETE FROM held_records USING decided d WHERE held_records.url = d.url AND d.record IS NOT NULL;
INSERT INTO held_records BY NAME
    SELECT url, NULL::VARCHAR AS item_key, page_type, record, main_text, lines, paths, content_sha256, extractor_version,
        observed_at, visit
    FROM decided WHERE record IS NOT NULL;

CREATE OR REPLACE TEMP TABLE remade AS
    SELECT d.url FROM decided d JOIN known_urls k USING (url)
    WHERE d.record IS NULL AND (k.page_type, k.extractor_version) IS DISTINCT FROM (d.page_type, d.extractor_version);

-- What discovery and audits noted meanwhile is newer than the proposal's copy; so is a re-parse of a record that stands.
INSERT INTO journal BY NAME
    SELECT d.seq, d.* EXCLUDE (seq, outcome, evidence, moved_from, observation, compared, keep_body, observed_at, record,
        old_record, main_text, lines, paths, visit) REPLACE (
        coalesce(k.listed, d.listed) AS listed, coalesce(k.lastmod, d.lastmod) AS lastmod,
        coalesce(k.first_seen, d.first_seen) AS first_seen,
        CASE WHEN d.record IS NULL THEN coalesce(k.stale, d.stale) ELSE d.stale END AS stale,
        CASE WHEN r.url IS NULL THEN d.page_type ELSE k.page_type END AS page_type,
        CASE WHEN r.url IS NULL THEN d.extractor_version ELSE k.extractor_version END AS extractor_version,
        CASE WHEN r.url IS NULL THEN d.content_sha256 ELSE k.content_sha256 END AS content_sha256,
        CASE WHEN r.url IS NULL THEN d.compare_sha256 ELSE k.compare_sha256 END AS compare_sha256)
    FROM decided d LEFT JOIN known_urls k USING (url)
    LEFT JOIN remade r USING (url);

DROP TABLE remade;
DROP TABLE decided;
DROP TABLE moves;
