-- Draws pages that this visit just had answered 304 (or that a HEAD said are unchanged), without replacement: those
-- never or longest ago audited first. Path groups with a share of their own (`raised`) are drawn apart from the others.
INSERT INTO plan BY NAME
    WITH confirmed AS (
        SELECT k.url, k.depth, k.source, r.share, row_number() OVER (
            PARTITION BY coalesce(r.host, ''), coalesce(r.path_group, '') ORDER BY k.last_audit, hash(k.url, $visit)) AS drawn,
            count(*) OVER (PARTITION BY coalesce(r.host, ''), coalesce(r.path_group, '')) AS drawn_from
        FROM known_urls k
        SEMI JOIN (SELECT url FROM outbox_observations
                   WHERE visit = $visit AND outcome = 'not_modified' AND purpose = 'sweep') o USING (url)
        LEFT JOIN trust_of_urls t USING (url)
        LEFT JOIN raised r ON r.host = t.own.host AND r.path_group = t.own.path_group
        WHERE k.last_visit = $visit AND NOT k.stale
    )
    SELECT $visit::INTEGER AS visit, $seq + row_number() OVER (ORDER BY drawn, url) AS seq, url, 'audit' AS reason,
        'todo' AS state, depth, source
    FROM confirmed WHERE drawn <= ceil(coalesce(share, $share) * drawn_from);
