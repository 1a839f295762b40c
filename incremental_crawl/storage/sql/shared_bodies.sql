-- Pages of this visit that were different from one another and now share one body: at least `least` of a host, and more
-- than `share` of what was fetched of it. Whatever else shares that body and did not before is among them.
WITH fetched AS (
    SELECT p.url, host_of(p.url) AS host, p.body_sha256, k.content_sha256 AS held,
        k.held IS TRUE AND k.body_sha256 IS DISTINCT FROM p.body_sha256 AS differs,
        k.held IS NOT TRUE AS unknown
    FROM plan_now p LEFT JOIN current_urls k ON k.url = p.url
    WHERE p.visit = $visit AND p.state = 'fetched' AND p.body_sha256 IS NOT NULL
), shared AS (
    SELECT f.host, f.body_sha256, count(*) AS pages FROM fetched f
    WHERE f.differs
    GROUP BY f.host, f.body_sha256
    HAVING count(DISTINCT f.held) >= $least
       AND count(*) > $share * (SELECT count(*) FROM fetched a WHERE a.host = f.host)
)
SELECT f.url, s.host, s.body_sha256 AS digest, s.pages
FROM fetched f JOIN shared s USING (host, body_sha256) WHERE f.differs OR f.unknown ORDER BY f.url
