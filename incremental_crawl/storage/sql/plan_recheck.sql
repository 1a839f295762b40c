-- A group that is not kept apart is part of the group `*` of its host. Pages of any plan are fetched anyway, or wait.
INSERT INTO plan BY NAME
    SELECT $visit::INTEGER AS visit, $seq + row_number() OVER (ORDER BY k.url) AS seq, k.url, $reason AS reason,
        'todo' AS state, k.depth, k.source
    FROM current_urls k
    WHERE k.held AND k.gone_since IS NULL AND k.redirect_to IS NULL
      AND EXISTS (
          SELECT 1 FROM distrusted d WHERE d.host = host_of(k.url) AND (d.path_group = path_group_of(k.url)
              OR d.path_group = '*' AND NOT EXISTS (SELECT 1 FROM ledger l
                  WHERE l.host = d.host AND l.path_group = path_group_of(k.url))))
      AND NOT EXISTS (
          SELECT 1 FROM plan p JOIN visits v USING (visit)
          WHERE p.url = k.url AND (p.visit = $visit AND p.reason <> 'audit' OR p.visit = $visit AND p.state <> 'todo' OR v.status = 'waiting'))
      AND NOT EXISTS (SELECT 1 FROM suspects s WHERE s.visit = $visit AND s.url = k.url);
