-- What a visit's answers say about validators, by host and path group. Only answers about pages whose record did not
-- change tell: a 304, or a 200 with the record that is held. Tags are compared weakly, and without a coding's suffix.
WITH answers AS (
    SELECT o.*, host_of(o.url) AS host, path_group_of(o.url) AS own_group, coalesce(l.mode, s.mode, 'both') AS mode,
        o.method = 'GET' AND o.conditional AND o.outcome = 'same_hash' AS same_record,
        o.method = 'GET' AND o.conditional AND o.outcome = 'not_modified' AND o.purpose IN ('sweep', 'redirect') AS honoured,
        o.etag_sent IS NULL OR coalesce(starts_with(o.etag_sent, o.etag || ', ')
            OR bare_tag(o.etag) = bare_tag(o.etag_sent), false) AS tag_stays,
        o.last_modified_sent IS NULL OR o.last_modified_sent IS NOT DISTINCT FROM o.last_modified AS date_stays,
        coalesce(h.lines, []) = [] AS has_fields
    FROM outbox_observations o
    LEFT JOIN ledger l ON l.host = host_of(o.url) AND l.path_group = path_group_of(o.url)
    LEFT JOIN ledger s ON s.host = host_of(o.url) AND s.path_group = '*'
    LEFT JOIN held_records h ON h.url = o.url AND h.item_key IS NULL AND o.purpose = 'confirm'
    WHERE o.visit = $visit AND o.purpose NOT IN ('robots', 'sitemap')
), told AS (
    SELECT *,
        -- Whether more was sent than the mode says: does the defect last?
        CASE mode WHEN 'both' THEN false
                  WHEN 'hash_only' THEN conditional
                  WHEN 'date_only' THEN etag_sent IS NOT NULL
                  WHEN 'tag_only' THEN last_modified_sent IS NOT NULL
                  ELSE etag_sent IS NOT NULL AND NOT contains(etag_sent, '", ') AND has_suffix(etag_sent) END AS tried,
        -- A retrial that fails says that the defect lasts, not that what the mode sends is useless as well.
        CASE WHEN NOT same_record OR tried AND mode <> 'hash_only' THEN NULL
             WHEN tag_stays AND date_stays AND etag_sent IS NOT NULL AND has_suffix(etag) THEN 'suffixed'
             WHEN tag_stays AND date_stays THEN 'ignored'
             WHEN NOT tag_stays AND last_modified_sent IS NOT NULL AND date_stays THEN 'tag_rotated'
             WHEN etag_sent IS NOT NULL AND tag_stays THEN 'date_moved'
             ELSE 'both_moved' END AS defect
    FROM answers
), grouped AS (
    -- Beyond the most groups that are kept apart, those with the fewest answers share one ledger.
    SELECT host, own_group, count(*) AS answers,
        EXISTS (SELECT 1 FROM ledger l WHERE l.host = told.host AND l.path_group = told.own_group) AS known
    FROM told GROUP BY ALL
), placed AS (
    SELECT host, own_group,
        CASE WHEN known OR row_number() OVER (PARTITION BY host ORDER BY known DESC, answers DESC, own_group)
                <= greatest($most_groups - (SELECT count(*) FROM ledger l WHERE l.host = grouped.host)
                            + (SELECT count(*) FROM grouped g WHERE g.host = grouped.host AND g.known), 0)
             THEN own_group ELSE '*' END AS path_group
    FROM grouped
)
SELECT t.host, p.path_group,
    count(*) FILTER (conditional AND purpose IN ('sweep', 'redirect')) AS conditional,
    count(*) FILTER (honoured) AS not_modified,
    count(*) FILTER (same_record) AS same_record,
    count(*) FILTER (defect = 'tag_rotated') AS tag_rotated,
    count(*) FILTER (defect = 'date_moved') AS date_moved,
    count(*) FILTER (defect = 'both_moved') AS both_moved,
    count(*) FILTER (defect = 'suffixed') AS suffixed,
    count(*) FILTER (defect = 'ignored') AS ignored,
    count(*) FILTER (tried AND (honoured OR same_record)) AS tried,
    count(*) FILTER (tried AND honoured) AS tried_not_modified,
    count(*) FILTER (honoured AND etag IS NOT NULL AND etag <> etag_sent AND weak_free(etag) = weak_free(etag_sent)) AS flips,
    count(*) FILTER (status = 304 AND NOT conditional) AS unasked,
    count(*) FILTER (record AND method = 'GET') AS bodies,
    count(*) FILTER (record AND method = 'GET' AND etag IS NULL AND last_modified IS NULL) AS bare,
    count(*) FILTER (purpose = 'audit' AND outcome IN ('same_hash', 'changed')) AS audits,
    count(*) FILTER (accused AND method = 'GET') AS false_304,
    count(*) FILTER (accused AND method = 'GET' AND has_fields) AS false_on_fields,
    count(*) FILTER (purpose = 'probe' AND outcome = 'same_hash') AS head_agreed,
    count(*) FILTER (purpose = 'probe' AND outcome = 'modified' OR accused AND method = 'HEAD') AS head_disagreed
FROM (SELECT *, purpose = 'confirm' AND outcome = 'not_modified' AS accused,
             outcome IN ('new', 'changed', 'same_hash', 'rebaselined', 'restored') AS record FROM told) t
JOIN placed p USING (host, own_group)
GROUP BY ALL
