-- Draws pages that this visit just had answered 304, without replacement: those never or longest ago audited first.
INSERT INTO plan BY NAME
    WITH confirmed AS (
        SELECT k.url, k.depth, k.source, row_number() OVER (ORDER BY k.last_audit, hash(k.url, $visit)) AS drawn
        FROM known_urls k
        SEMI JOIN (SELECT url FROM outbox_observations
                   WHERE visit = $visit AND outcome = 'not_modified' AND purpose = 'sweep') o USING (url)
        WHERE k.last_visit = $visit AND NOT k.stale
    )
    SELECT $visit::INTEGER AS visit, $seq + drawn AS seq, url, 'audit' AS reason, 'todo' AS state, depth, source
    FROM confirmed WHERE drawn <= ceil($share * (SELECT count(*) FROM confirmed));
