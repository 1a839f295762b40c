-- What the listings say of URLs that are new, listed anew or hinted at otherwise; all other rows stay as they are.
CREATE OR REPLACE TEMP VIEW listed_now AS
    SELECT c.known, c.place, l.url, s.kind || ':' || l.source AS source, coalesce(s.root, s.url) AS root,
        l.lastmod, l.changefreq, l.priority
    FROM listings l JOIN compared c ON c.place = l.rowid JOIN sources s ON s.url = l.source
    WHERE NOT c.twice AND (c.known IS NULL OR NOT c.was_listed OR c.differs)
    UNION ALL
    SELECT any_value(c.known), c.first_place, any_value(l.url), arg_min(s.kind || ':' || l.source, l.source),
        min(coalesce(s.root, s.url)), max(l.lastmod), arg_min(l.changefreq, l.source), max(l.priority)
    FROM listings l JOIN compared c ON c.place = l.rowid JOIN sources s ON s.url = l.source
    WHERE c.twice GROUP BY c.first_place;

CREATE OR REPLACE TEMP TABLE relisted AS
    WITH l AS (
        SELECT l.*, w.hints AND l.lastmod IS NOT NULL AS hints, w.useful
        FROM listed_now l JOIN hint_weights w USING (root) WHERE l.known IS NOT NULL
        UNION ALL BY NAME
        SELECT known FROM unlisted_now ANTI JOIN kept_listed USING (known)
    )
    SELECT k.* REPLACE (
        l.url IS NOT NULL AS listed,
        coalesce(l.lastmod, k.lastmod) AS lastmod,
        coalesce(l.changefreq, k.changefreq) AS changefreq,
        coalesce(l.priority, k.sitemap_priority) AS sitemap_priority,
        -- A date that means nothing is no hint, and spoils none that waits for its check.
        CASE WHEN NOT l.hints AND k.lastmod <> l.lastmod AND k.checked_lastmod IS NOT DISTINCT FROM k.lastmod
             THEN l.lastmod ELSE k.checked_lastmod END AS checked_lastmod,
        CASE WHEN l.url IS NOT NULL AND NOT k.listed AND k.gone_since IS NOT NULL THEN $now::TIMESTAMPTZ
             WHEN l.useful AND k.lastmod <> l.lastmod AND k.gone_since IS NULL
             THEN least(k.next_due, greatest($now::TIMESTAMPTZ, coalesce(k.last_checked + $minimum::INTERVAL, $now::TIMESTAMPTZ)))
             ELSE k.next_due END AS next_due)
    FROM known_urls k JOIN l ON l.known = k.rowid
    WHERE l.url IS NULL OR NOT k.listed
       OR coalesce(l.lastmod <> k.lastmod OR l.changefreq <> k.changefreq OR l.priority <> k.sitemap_priority, false)
       OR (k.lastmod IS NULL AND l.lastmod IS NOT NULL) OR (k.changefreq IS NULL AND l.changefreq IS NOT NULL)
       OR (k.sitemap_priority IS NULL AND l.priority IS NOT NULL);
DELETE FROM known_urls USING relisted WHERE known_urls.url = relisted.url;
INSERT INTO known_urls BY NAME SELECT * FROM relisted;
INSERT INTO last_named SELECT url, $now::TIMESTAMPTZ FROM relisted WHERE NOT listed AND NOT held;

INSERT INTO known_urls BY NAME
    SELECT url, source, 0 AS depth, false AS held, true AS listed, lastmod, changefreq, priority AS sitemap_priority,
        $now::TIMESTAMPTZ AS first_seen, false AS weak_date,
        false AS stale, 0 AS body_bytes, 0 AS gone_checks, 0 AS failures, 0 AS last_visit, 0 AS last_audit, 0 AS priority, false AS unpaired_change
    FROM listed_now WHERE known IS NULL AND ($first_left_out::BIGINT IS NULL OR place < $first_left_out::BIGINT);
DROP TABLE relisted;
DROP TABLE compared;
