-- How the listings compare with the known URLs, in one pass. Whatever follows tells rows by their numbers: a join of a
-- million addresses costs more than all else, and more memory.
-- URLs that are listed more than once (or share a hash, which does no harm): of each row the first row of its URL, and
-- whether it is the one that speaks for its root.
CREATE OR REPLACE TEMP TABLE listed_twice AS
    SELECT l.rowid AS place, min(l.rowid) OVER (PARTITION BY l.url) AS first_place,
        row_number() OVER (PARTITION BY l.url, coalesce(s.root, s.url) ORDER BY l.lastmod DESC NULLS LAST, l.rowid) = 1 AS speaks
    FROM listings l JOIN sources s ON s.url = l.source
    WHERE hash(l.url) IN (SELECT hash(url) FROM listings GROUP BY hash(url) HAVING count(*) > 1);

-- A row of the listings each: `known` is the row of the known URL. `differs` where a hint is another than the known one.
CREATE OR REPLACE TEMP TABLE compared AS
    SELECT l.rowid AS place, coalesce(t.first_place, l.rowid) AS first_place, t.place IS NOT NULL AS twice,
        coalesce(t.speaks, true) AS speaks, k.rowid AS known, k.listed AS was_listed,
        k.lastmod IS NOT NULL AND l.lastmod IS NOT NULL AS both_dated, coalesce(k.lastmod <> l.lastmod, false) AS moved,
        coalesce(l.lastmod <> k.lastmod OR l.changefreq <> k.changefreq OR l.priority <> k.sitemap_priority, false)
            OR (k.lastmod IS NULL AND l.lastmod IS NOT NULL) OR (k.changefreq IS NULL AND l.changefreq IS NOT NULL)
            OR (k.sitemap_priority IS NULL AND l.priority IS NOT NULL) AS differs
    FROM listings l LEFT JOIN known_urls k ON k.url = l.url LEFT JOIN listed_twice t ON t.place = l.rowid;

-- Listed pages that no source lists any more.
CREATE OR REPLACE TEMP TABLE unlisted_now AS
    SELECT k.rowid AS known, k.url FROM known_urls k
    WHERE k.listed AND NOT EXISTS (SELECT 1 FROM compared c WHERE c.known = k.rowid);
