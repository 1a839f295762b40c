-- The visit's work list, in the order that pays. What the last visit left over comes first; then pages whose lastmod
-- moved (where that proved right), new pages, and the longest overdue take turns by shares of 8 (1 where most hints are
-- wrong), 3 and 2, so that none of them starves another. Where it is not known what a moved lastmod is worth, a few of
-- such pages come first, so that it will be.
-- URLs that a changed scope leaves out (`outside`) keep what is held of them and are not asked.
-- Pages and suspects of any plan (this visit's or a waiting one's) and pages already asked in this visit stay out.
CREATE OR REPLACE TEMP TABLE due_now AS
    WITH due AS (
        SELECT d.* FROM current_urls d
        WHERE d.last_visit < $visit
          AND ($every_page OR d.next_due IS NULL OR d.next_due <= $now OR len($only_urls) > 0)
          AND (len($only_urls) = 0 OR list_contains($only_urls, d.url))
          AND NOT EXISTS (SELECT 1 FROM outside o WHERE o.url = d.url)
          AND NOT EXISTS (
              SELECT 1 FROM plan p JOIN visits v USING (visit)
              WHERE p.url = d.url AND (p.visit = $visit OR v.status = 'waiting'))
          AND NOT EXISTS (
              SELECT 1 FROM suspects s JOIN visits v USING (visit)
              WHERE s.url = d.url AND (s.visit = $visit OR v.status = 'waiting'))
    ), hinted AS (
        SELECT url, max(weight) AS weight FROM (
            SELECT d.url, w.weight, w.sample,
                row_number() OVER (PARTITION BY w.root ORDER BY any_value(d.next_due), d.url) AS place
            FROM due d JOIN listings l USING (url) JOIN sources s ON s.url = l.source
            JOIN hint_weights w ON w.root = coalesce(s.root, s.url)
            WHERE d.held AND d.lastmod <> d.checked_lastmod AND w.hints AND (w.weight > 0 OR w.sample > 0)
            GROUP BY d.url, w.root, w.weight, w.sample
        ) WHERE weight > 0 OR place <= sample GROUP BY url
    ), ranked AS (
        SELECT d.*, CASE WHEN d.priority > 0 THEN 0 WHEN h.weight >= 0.5 OR h.weight = 0 THEN 8
                WHEN h.weight > 0 THEN 1 WHEN d.held THEN 2 ELSE 3 END AS share,
            row_number() OVER (PARTITION BY share ORDER BY d.priority DESC, round(h.weight, 1) DESC NULLS LAST, d.next_due,
                CASE WHEN share = 3 THEN coalesce(TRY_CAST(d.lastmod AS TIMESTAMPTZ),
                    try_strptime(d.lastmod, ['%a, %d %b %Y %H:%M:%S %z', '%a, %d %b %Y %H:%M:%S %Z'])) END DESC NULLS LAST,
                d.sitemap_priority DESC NULLS LAST,
                list_position(['always', 'hourly', 'daily', 'weekly', 'monthly', 'yearly', 'never'], d.changefreq) NULLS LAST,
                d.url) AS place
        FROM due d LEFT JOIN hinted h USING (url)
    )
    SELECT row_number() OVER (ORDER BY share > 0, CASE WHEN share = 0 THEN place ELSE place / share END, share DESC, url)
            AS position, * EXCLUDE (share, place)
    FROM ranked ORDER BY position LIMIT $page_limit;
