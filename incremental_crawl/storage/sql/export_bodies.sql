SELECT p.url, p.fetched_at, p.status, p.headers, d.charset, p.body_sha256, p.spool_file, p.spool_offset, p.spool_row
FROM plan p
JOIN (SELECT url, arg_max(keep_body, seq) AS keep_body, arg_max(charset, seq) AS charset, max(seq) AS seq
      FROM proposals WHERE visit = $visit GROUP BY url) d USING (url)
WHERE p.visit = $visit AND p.state = 'fetched' AND d.keep_body
QUALIFY row_number() OVER (PARTITION BY p.url ORDER BY p.seq DESC) = 1
ORDER BY p.spool_file, p.spool_offset, p.spool_row
