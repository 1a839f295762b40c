-- A visit's summary. Final decisions are in the proposals until they are folded, then in the observations.
WITH urls AS (
    SELECT count(*) AS known, count(*) FILTER (alive) AS live,
        coalesce(sum(body_bytes) FILTER (alive), 0) AS bytes_full, min(next_due) AS next_due,
        -- What was due when the sweep began, and what was found on the way.
        count(*) FILTER (first_seen > (SELECT opened_at FROM visits WHERE visit = $visit)) AS found
    FROM (SELECT *, held AND gone_since IS NULL AND redirect_to IS NULL AS alive FROM known_urls)
), observed AS (
    SELECT count(DISTINCT url) FILTER (purpose IN ('sweep', 'fetch')) AS asked,
        count(*) FILTER (status IS NOT NULL OR elapsed_ms > 0) AS requests,  -- else refused by robots.txt
        count(*) FILTER (outcome = 'not_modified' AND purpose IN ('sweep', 'redirect')) AS not_modified,
        count(*) FILTER (purpose = 'audit') AS audits,
        -- A condition that was answered 304 once more although the page had changed.
        count(*) FILTER (purpose = 'confirm' AND outcome = 'not_modified') AS false_304,
        coalesce(sum(bytes), 0) AS bytes_received
    FROM outbox_observations WHERE visit = $visit
), decided AS (
    SELECT count(*) FILTER (outcome = 'same_hash' AND evidence <> 'audit') AS same_hash,
        count(*) FILTER (outcome = 'changed') AS changed,
        count(*) FILTER (outcome = 'new' AND moved_from IS NULL) AS new,
        count(*) FILTER (outcome = 'rebaselined') AS rebaselined,
        count(*) FILTER (outcome = 'restored') AS restored
    FROM (SELECT * FROM proposals WHERE visit = $visit
          QUALIFY row_number() OVER (PARTITION BY url ORDER BY seq DESC) = 1)
), failures AS (
    SELECT count(*) FILTER (outcome IN ('incomplete', 'empty', 'blocked', 'refused', 'retry_later', 'error')) AS failed
    FROM (SELECT arg_max(outcome, observation) AS outcome FROM outbox_observations
          WHERE visit = $visit AND purpose IN ('sweep', 'fetch', 'retry', 'redirect') GROUP BY url)
)
SELECT known, live, coalesce((SELECT due FROM visits WHERE visit = $visit), 0) + found AS due,
    asked, requests, not_modified, same_hash, changed, new, rebaselined, restored,
    (SELECT count(*) FROM outbox_page_diffs WHERE visit = $visit AND kind = 'moved') AS moved,
    (SELECT count(*) FROM outbox_tombstones WHERE visit = $visit) AS gone,
    failed, audits, false_304, bytes_received, bytes_full, next_due
FROM urls, observed, decided, failures
