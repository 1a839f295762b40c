-- Adds a visit's answers to the hosts' counts; run once, in the transaction that publishes the visit. The mode follows
-- the recent answers, so that a host which mends its ways is believed again.
CREATE OR REPLACE TEMP TABLE counted AS
    SELECT regexp_extract(url, '^[^/]*//([^/?#]*)', 1) AS host,
        count(*) FILTER (conditional AND purpose IN ('sweep', 'redirect')) AS conditional_requests,
        count(*) FILTER (outcome = 'not_modified') AS not_modified,
        count(*) FILTER (outcome = 'same_hash' AND conditional) AS same_hash,
        count(*) FILTER (purpose = 'audit') AS audits
    FROM outbox_observations WHERE visit = $visit AND purpose NOT IN ('robots', 'sitemap') GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE rolled AS
    SELECT coalesce(h.host, c.host) AS host,
        coalesce(h.conditional_requests, 0) + coalesce(c.conditional_requests, 0) AS conditional_requests,
        coalesce(h.not_modified, 0) + coalesce(c.not_modified, 0) AS not_modified,
        coalesce(h.same_hash, 0) + coalesce(c.same_hash, 0) AS same_hash,
        coalesce(h.audits, 0) + coalesce(c.audits, 0) AS audits,
        coalesce(h.etag_trusted, true) AS etag_trusted, coalesce(h.last_modified_trusted, true) AS last_modified_trusted,
        coalesce(h.head_trusted, false) AS head_trusted, h.blocked_since, h.not_before,
        coalesce(h.recent_not_modified, 0) / CASE WHEN c.host IS NULL THEN 1 ELSE 2 END + coalesce(c.not_modified, 0)
            AS recent_not_modified,
        coalesce(h.recent_same_hash, 0) / CASE WHEN c.host IS NULL THEN 1 ELSE 2 END + coalesce(c.same_hash, 0)
            AS recent_same_hash,
        coalesce(h.mode, 'both') AS mode_before
    FROM hosts h FULL JOIN counted c USING (host);

DELETE FROM hosts;
INSERT INTO hosts BY NAME
    SELECT * EXCLUDE (judged, useless),
        CASE WHEN useless THEN 'hash_only' ELSE 'both' END AS mode,
        CASE WHEN not_modified + same_hash = 0 THEN 'no conditional request about an unchanged page has been answered yet'
             WHEN useless
             THEN format('validators are not useful: {} of {} answers about unchanged pages were 304; pages are compared by hash',
                         not_modified, not_modified + same_hash)
             WHEN judged < 20
             THEN format('{} of {} answers about unchanged pages were 304; too few of late to judge',
                         not_modified, not_modified + same_hash)
             ELSE format('conditional requests are honoured: {} of {} answers about unchanged pages were 304',
                         not_modified, not_modified + same_hash)
        END AS verdict
    FROM (SELECT * EXCLUDE (mode_before), recent_not_modified + recent_same_hash AS judged,
                 -- Few answers condemn no host, and acquit none either unless a 304 is among them.
                 recent_not_modified < $min_304_ratio * judged AND (judged >= 20 OR mode_before = 'hash_only') AS useless
          FROM rolled);
DROP TABLE counted;
DROP TABLE rolled;
