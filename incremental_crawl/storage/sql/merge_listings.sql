CREATE OR REPLACE TEMP TABLE listed_now AS
    SELECT l.url, arg_min(s.kind || ':' || l.source, l.source) AS source, max(l.lastmod) AS lastmod, min(l.rowid) AS place
    FROM listings l JOIN sources s ON s.url = l.source GROUP BY l.url;

CREATE OR REPLACE TEMP TABLE relisted AS
    SELECT k.* REPLACE (
        l.url IS NOT NULL AS listed,
        coalesce(l.lastmod, k.lastmod) AS lastmod,
        CASE WHEN l.url IS NOT NULL AND NOT k.listed AND k.gone_since IS NOT NULL THEN $now::TIMESTAMPTZ
             WHEN $hints AND k.lastmod <> l.lastmod AND k.gone_since IS NULL
             THEN least(k.next_due, greatest($now::TIMESTAMPTZ, coalesce(k.last_checked + $minimum::INTERVAL, $now::TIMESTAMPTZ)))
             ELSE k.next_due END AS next_due,
        CASE WHEN $hints AND k.lastmod <> l.lastmod THEN greatest(k.priority, 1) ELSE k.priority END AS priority)
    FROM known_urls k LEFT JOIN listed_now l USING (url)
    WHERE (l.url IS NULL AND k.listed AND NOT $keep_listed)
       OR (l.url IS NOT NULL AND (NOT k.listed OR (l.lastmod IS NOT NULL AND l.lastmod IS DISTINCT FROM k.lastmod)));
DELETE FROM known_urls USING relisted WHERE known_urls.url = relisted.url;
INSERT INTO known_urls BY NAME SELECT * FROM relisted;

INSERT INTO known_urls BY NAME
    SELECT url, source, 0 AS depth, false AS held, true AS listed, lastmod, $now::TIMESTAMPTZ AS first_seen, false AS weak_date,
        false AS stale, 0 AS body_bytes, 0 AS gone_checks, 0 AS failures, 0 AS last_visit, 0 AS last_audit, 0 AS priority, false AS unpaired_change
    FROM listed_now ANTI JOIN known_urls USING (url)
    ORDER BY place LIMIT $room;
DROP TABLE listed_now;
DROP TABLE relisted;
