SELECT k.url, k.depth, k.charset, k.body_visit, k.body_day
FROM known_urls k
WHERE k.url > $after AND k.held AND k.gone_since IS NULL AND k.redirect_to IS NULL AND k.depth < $max_depth
  AND k.body_visit IS NOT NULL AND k.body_visit < $visit
  AND k.body_day >= (SELECT "value"::DATE FROM meta WHERE "key" = 'first_kept_day')
  AND NOT EXISTS (SELECT 1 FROM links_read r WHERE r.url = k.url AND r.rule = $rule)
ORDER BY k.url LIMIT $chunk
