INSERT INTO outbox_tombstones BY NAME
    SELECT s.url, s.first_at AS observed_at, c.confirmed_at, s.visit, s.status, k.content_sha256 AS last_sha256
    FROM suspects_now s JOIN confirmations c USING (url) JOIN known_urls k USING (url)
    WHERE s.visit = $visit AND s.state = 'gone' AND k.held AND k.gone_since IS NULL;
INSERT INTO pending_events BY NAME
    SELECT s.visit, s.url, NULL::VARCHAR AS item_key, k.page_type, 'gone' AS kind, c.confirmed_at AS observed_at,
        k.content_sha256 AS old_sha256, NULL::VARCHAR AS new_sha256, h.record AS old_record, NULL::VARCHAR AS new_record,
        k.version_lastmod AS old_lastmod, k.lastmod AS new_lastmod, NULL::VARCHAR AS moved_to,
        s.status::VARCHAR AS evidence, k.extractor_version
    FROM suspects_now s JOIN confirmations c USING (url) JOIN known_urls k USING (url)
    LEFT JOIN held_records h ON h.url = s.url AND h.item_key IS NULL
    WHERE s.visit = $visit AND s.state = 'gone' AND k.held AND k.gone_since IS NULL;
