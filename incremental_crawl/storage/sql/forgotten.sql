-- What was asked, never gave a record, and is named by nothing since $before; see growth.forget.
SELECT k.url FROM known_urls k
LEFT JOIN (SELECT url, max(named_at) AS named_at FROM last_named GROUP BY url) n USING (url)
LEFT JOIN known_urls s ON s.url = substr(k.source, 6) AND starts_with(k.source, 'link:')
WHERE NOT k.held AND NOT k.listed AND k.source NOT IN ('start', 'asked') AND k.redirect_to IS NULL
  AND (k.failures > 0 OR k.gone_since IS NOT NULL)
  AND k.first_seen < $before AND coalesce(n.named_at < $before, true)
  AND NOT coalesce(s.held AND s.gone_since IS NULL AND s.redirect_to IS NULL
                   AND s.last_changed <= coalesce(n.named_at, k.first_seen), false)
  AND k.url NOT IN (SELECT redirect_to FROM known_urls WHERE redirect_to IS NOT NULL)
