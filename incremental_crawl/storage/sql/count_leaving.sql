-- By root, and for the whole site (`*`): how many pages were listed, how many of these are leaving, how many are listed.
WITH listed_by AS (
    SELECT coalesce(s.root, s.url) AS root, c.first_place
    FROM listings l JOIN sources s ON s.url = l.source JOIN compared c ON c.place = l.rowid
    WHERE s.kind <> 'feed' AND c.speaks
), now AS (
    SELECT root, count(*) AS now FROM listed_by GROUP BY root
    UNION ALL SELECT '*', count(DISTINCT first_place) FROM listed_by
), listed_before AS (
    SELECT root, true AS leaving FROM leaving
    UNION ALL
    SELECT root, false FROM roots_of_listed ANTI JOIN unlisted_now USING (known)
    WHERE NOT (coalesce(found_by, '') = 'site file' AND visit <> $visit)
), before AS (
    SELECT CASE WHEN grouping(root) = 1 THEN '*' ELSE root END AS root, count(*) AS before,
        count(*) FILTER (leaving) AS leaving
    FROM listed_before GROUP BY GROUPING SETS ((root), ())
)
SELECT b.root, b.before, b.leaving, coalesce(n.now, 0) AS now FROM before b LEFT JOIN now n USING (root)
WHERE b.leaving > 0 ORDER BY b.root
