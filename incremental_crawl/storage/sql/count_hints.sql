-- By root, what the visit's checks of listed pages say about its dates. A page that several roots list counts for the
-- first of them by name, like the date that was kept of it.
WITH decided AS (
    SELECT url, bool_or(outcome = 'changed') AS changed FROM outbox_observations
    WHERE visit = $visit AND purpose IN ('sweep', 'fetch', 'retry', 'audit', 'redirect')
      AND outcome IN ('not_modified', 'same_hash', 'changed')
    GROUP BY url
), listed AS (
    SELECT l.url, min(coalesce(s.root, s.url)) AS root FROM listings l JOIN sources s ON s.url = l.source GROUP BY l.url
)
SELECT l.root, count(*) AS checked, count(*) FILTER (k.lastmod_moved) AS moved, count(*) FILTER (d.changed) AS changed,
    count(*) FILTER (k.lastmod_moved AND d.changed) AS moved_changed
FROM decided d JOIN listed l USING (url) JOIN known_urls k USING (url)
WHERE k.last_visit = $visit GROUP BY l.root ORDER BY l.root
