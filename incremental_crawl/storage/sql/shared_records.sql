-- Like shared_bodies, of decided pages whose record and metadata are the same, whatever else their bodies hold.
WITH decided AS (
    SELECT * FROM proposals WHERE visit = $visit QUALIFY row_number() OVER (PARTITION BY url ORDER BY seq DESC) = 1
), fetched AS (
    SELECT d.url, host_of(d.url) AS host, d.content_sha256 AS record, d.meta_sha256 AS meta, k.content_sha256 AS held,
        k.held IS TRUE AND d.outcome IN ('changed', 'restored', 'rebaselined')
            AND k.content_sha256 IS DISTINCT FROM d.content_sha256 AS differs,
        d.outcome = 'new' AS unknown
    FROM decided d LEFT JOIN known_urls k ON k.url = d.url
), shared AS (
    SELECT f.host, f.record, f.meta, count(*) AS pages FROM fetched f
    WHERE f.differs
    GROUP BY f.host, f.record, f.meta
    HAVING count(DISTINCT f.held) >= $least
       AND count(*) > $share * (SELECT count(*) FROM fetched a WHERE a.host = f.host)
)
SELECT f.url, s.host, s.record AS digest, s.pages
FROM fetched f JOIN shared s ON s.host = f.host AND s.record = f.record AND s.meta IS NOT DISTINCT FROM f.meta
WHERE f.differs OR f.unknown ORDER BY f.url
