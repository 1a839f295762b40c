-- Why each due page is asked without a condition; NULL means that the sweep asks, with the conditions that `mode` says,
-- or by HEAD. One page in twenty tries again what its group's ledger distrusts, except after a false 304.
CREATE OR REPLACE TEMP TABLE due_split AS
    WITH trusted AS (
        SELECT d.*, t.own.cause AS cause,
            CASE WHEN t.own.host IS NULL OR t.own.retry_at <= $now THEN 'both'
                 WHEN t.own.cause <> 'false_304' AND hash(d.url, $visit) % 20 = 0 THEN 'both'
                 ELSE t.own.mode END AS mode,
            t.own.head_agreed >= $head_probes AND t.own.head_disagreed = 0 AS head_trusted,
            -- The fingerprint of the request headers for its origin; after `+` would be that of a gate's cookies.
            list_extract($representations, coalesce(
                nullif(list_position($origins, regexp_extract(coalesce(d.hop_url, d.url), '^[^/]*//[^/?#]*')), 0),
                list_position($origins, ''))) AS wanted
        FROM due_now d LEFT JOIN trust_of_urls t USING (url)
    )
    SELECT * EXCLUDE (cause, head_trusted, wanted),
        CASE
            WHEN NOT held THEN CASE WHEN failures > 0 THEN 'retry' ELSE 'new' END
            WHEN gone_since IS NOT NULL THEN 'retry'
            WHEN redirect_to IS NOT NULL THEN 'retry'
            WHEN NOT EXISTS (SELECT 1 FROM held_records h WHERE h.url = trusted.url) THEN 'retry'
            WHEN etag IS NULL AND last_modified IS NULL AND hop_etag IS NULL AND hop_last_modified IS NULL THEN 'hash_check'
            WHEN mode = 'tag_only' AND etag IS NULL AND hop_url IS NULL THEN 'hash_check'
            WHEN mode = 'date_only' AND last_modified IS NULL AND hop_url IS NULL THEN 'hash_check'
            WHEN weak_date THEN 'hash_check'
            WHEN split_part(representation, '+', 1) IS DISTINCT FROM wanted THEN 'hash_check'
            -- Its links are wanted, and a 304 would not bring them.
            WHEN len($links_rules) > 0 AND depth < $max_depth
                AND (body_day IS NULL OR body_day < (SELECT "value"::DATE FROM meta WHERE "key" = 'first_kept_day'))
                AND NOT EXISTS (SELECT 1 FROM links_read l WHERE l.url = trusted.url AND list_contains($links_rules, l.rule))
                THEN 'hash_check'
            WHEN mode = 'hash_only' AND NOT (
                head_trusted AND cause = 'ignored' AND hop_url IS NULL AND body_bytes >= $head_bytes) THEN 'hash_check'
        END AS reason
    FROM trusted;
