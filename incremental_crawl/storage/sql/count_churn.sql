-- What the gate judges. Audits and never-held pages do not count; a page whose last word is a failure failed. At the
-- sweep only path groups whose 304s are proved count, and a 200 with the very bytes that are held is no change.
WITH decided AS (
    SELECT url, arg_max(outcome, seq) AS outcome FROM proposals WHERE visit = $visit GROUP BY url
), checks AS (
    SELECT o.url, coalesce(any_value(d.outcome), arg_max(o.outcome, o.observation)) AS outcome
    FROM outbox_observations o JOIN current_urls k ON k.url = o.url LEFT JOIN decided d ON d.url = o.url
    WHERE o.visit = $visit AND o.purpose IN ('sweep', 'fetch', 'retry') AND k.held AND k.redirect_to IS NULL
      AND (k.gone_since IS NULL OR k.last_visit = $visit)
    GROUP BY o.url
), swept AS (
    SELECT o.outcome = 'modified' AND o.body_sha256 IS DISTINCT FROM k.body_sha256 AS changed
    FROM outbox_observations o
    JOIN current_urls k ON k.url = o.url
    JOIN trust_of_urls t ON t.url = o.url
    WHERE o.visit = $visit AND o.purpose = 'sweep' AND o.conditional AND o.outcome IN ('not_modified', 'modified')
      AND NOT k.stale AND t.own.recent_not_modified > t.own.recent_same_record
), judged AS (
    SELECT outcome = 'changed' AS changed FROM proposals WHERE visit = $visit AND compared
    UNION ALL
    SELECT false FROM outbox_observations WHERE visit = $visit AND purpose = 'sweep' AND outcome = 'not_modified'
)
SELECT
    (SELECT count(*) FROM checks) AS checked,
    (SELECT count(*) FROM suspects_now s JOIN current_urls k USING (url)
     WHERE s.visit = $visit AND s.state <> 'cleared' AND k.held AND k.gone_since IS NULL) AS gone,
    (SELECT count(*) FROM checks
     WHERE outcome IN ('incomplete', 'empty', 'blocked', 'refused', 'retry_later', 'error')) AS failed,
    CASE WHEN $at_sweep THEN (SELECT count(*) FROM swept) ELSE (SELECT count(*) FROM judged) END AS compared,
    CASE WHEN $at_sweep THEN (SELECT count(*) FROM swept WHERE changed) ELSE (SELECT count(*) FROM judged WHERE changed) END
        AS changed
