-- Sources of redirects that are new and lead to one address: at least `least` of them, and more than `share` of all the
-- visit's redirects. A source whose record came from that very address before is none.
WITH news AS (
    SELECT m.url AS source, coalesce(t.hop_url, m.moved_to) AS target
    FROM plan_now m
    LEFT JOIN plan_now t ON t.visit = m.visit AND t.url = m.moved_to AND t.state = 'fetched'
    WHERE m.visit = $visit AND m.state = 'moved'
    UNION ALL
    SELECT p.url, p.hop_url FROM plan_now p LEFT JOIN current_urls k ON k.url = p.url
    WHERE p.visit = $visit AND p.state = 'fetched' AND p.moved_from IS NULL
      AND p.hop_url <> p.url AND k.hop_url IS DISTINCT FROM p.hop_url
)
SELECT source AS url, host_of(source) AS host, target AS digest, count(*) OVER (PARTITION BY target) AS pages FROM news
QUALIFY pages >= $least AND pages > $share * (
    SELECT count(DISTINCT url) FROM outbox_observations
    WHERE visit = $visit AND status IN (301, 302, 303, 307, 308) AND purpose IN ('sweep', 'fetch', 'retry'))
ORDER BY source
