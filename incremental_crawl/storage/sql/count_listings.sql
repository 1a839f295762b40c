-- How the listings compare with the known URLs: listed before, still listed, with lastmod on both sides, moved, new.
WITH l AS (SELECT url, max(lastmod) AS lastmod FROM listings GROUP BY url)
SELECT
    (SELECT count(*) FROM known_urls WHERE listed) AS before,
    (SELECT count(*) FROM known_urls k SEMI JOIN l USING (url) WHERE k.listed) AS kept,
    (SELECT count(*) FROM known_urls k JOIN l USING (url) WHERE k.lastmod IS NOT NULL AND l.lastmod IS NOT NULL) AS both,
    (SELECT count(*) FROM known_urls k JOIN l USING (url) WHERE k.lastmod <> l.lastmod) AS moved,
    (SELECT count(*) FROM l ANTI JOIN known_urls USING (url)) AS new
