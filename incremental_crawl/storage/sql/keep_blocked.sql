-- Takes in the pages that were found blocked (table `blocked_now`), and counts each body once a visit.
DELETE FROM blocked_pages USING blocked_now n WHERE blocked_pages.url = n.url;
INSERT INTO blocked_pages BY NAME
    SELECT * FROM blocked_now QUALIFY row_number() OVER (PARTITION BY url ORDER BY seen_at DESC) = 1;

CREATE OR REPLACE TEMP TABLE seen_bodies AS
    SELECT host, digest, min(seen_at) AS first_at, max(visit) AS visit FROM (
        SELECT host, seen_at, visit, unnest([body_sha256, content_sha256]) AS digest FROM blocked_now)
    WHERE digest IS NOT NULL GROUP BY host, digest;
UPDATE blocked_bodies SET visits = blocked_bodies.visits + 1, visit = s.visit
    FROM seen_bodies s
    WHERE s.host = blocked_bodies.host AND s.digest = blocked_bodies.digest AND s.visit > blocked_bodies.visit;
INSERT INTO blocked_bodies BY NAME
    SELECT s.host, s.digest, s.first_at, 1 AS visits, s.visit FROM seen_bodies s ANTI JOIN blocked_bodies b USING (host, digest);
DROP TABLE seen_bodies;
