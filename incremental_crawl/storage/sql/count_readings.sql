-- By root, how its listing's dates look beside what is known of the same pages.
SELECT coalesce(s.root, s.url) AS root, count(*) AS entries, count(l.lastmod) AS dated,
    count(DISTINCT l.lastmod) AS different,
    count(*) FILTER (TRY_CAST(left(l.lastmod, 10) AS DATE) > ($now::TIMESTAMPTZ + INTERVAL 1 DAY)::DATE) AS future,
    count(*) FILTER (c.both_dated) AS compared, count(*) FILTER (c.moved) AS moved
FROM listings l JOIN sources s ON s.url = l.source JOIN compared c ON c.place = l.rowid
WHERE c.speaks GROUP BY ALL ORDER BY root
