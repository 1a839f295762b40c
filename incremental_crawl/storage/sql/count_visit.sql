-- A visit's summary. Final decisions are in the proposals until they are folded, then in the observations.
WITH o AS (SELECT * FROM outbox_observations WHERE visit = $visit),
     d AS (SELECT * FROM proposals WHERE visit = $visit QUALIFY row_number() OVER (PARTITION BY url ORDER BY seq DESC) = 1),
     last_word AS (
        SELECT url, arg_max(outcome, observation) AS outcome FROM o
        WHERE purpose IN ('sweep', 'fetch', 'retry', 'redirect') GROUP BY url)
SELECT
    (SELECT count(*) FROM known_urls) AS known,
    (SELECT count(*) FROM known_urls WHERE held AND gone_since IS NULL AND redirect_to IS NULL) AS live,
    -- What was due when the sweep began, and what was found on the way.
    (SELECT coalesce(max(v.due), 0) + count(k.url) FROM visits v LEFT JOIN known_urls k ON k.first_seen > v.opened_at
     WHERE v.visit = $visit) AS due,
    (SELECT count(DISTINCT url) FROM o WHERE purpose IN ('sweep', 'fetch')) AS asked,
    (SELECT count(*) FROM o WHERE status IS NOT NULL OR elapsed_ms > 0) AS requests,  -- else refused by robots.txt
    (SELECT count(*) FROM o WHERE outcome = 'not_modified' AND purpose IN ('sweep', 'redirect')) AS not_modified,
    (SELECT count(*) FROM d WHERE outcome = 'same_hash' AND evidence <> 'audit') AS same_hash,
    (SELECT count(*) FROM d WHERE outcome = 'changed') AS changed,
    (SELECT count(*) FROM d WHERE outcome = 'new' AND moved_from IS NULL) AS new,
    (SELECT count(*) FROM d WHERE outcome = 'rebaselined') AS rebaselined,
    (SELECT count(*) FROM d WHERE outcome = 'restored') AS restored,
    (SELECT count(*) FROM outbox_page_diffs WHERE visit = $visit AND kind = 'moved') AS moved,
    (SELECT count(*) FROM outbox_tombstones WHERE visit = $visit) AS gone,
    (SELECT count(*) FROM last_word
     WHERE outcome IN ('incomplete', 'empty', 'blocked', 'refused', 'retry_later', 'error')) AS failed,
    (SELECT count(*) FROM o WHERE purpose = 'audit') AS audits,
    -- A condition that was answered 304 once more although the page had changed.
    (SELECT count(*) FROM o WHERE purpose = 'confirm' AND outcome = 'not_modified') AS false_304,
    (SELECT coalesce(sum(bytes), 0) FROM o) AS bytes_received,
    (SELECT coalesce(sum(body_bytes), 0) FROM known_urls WHERE held AND gone_since IS NULL AND redirect_to IS NULL) AS bytes_full,
    (SELECT min(next_due) FROM known_urls) AS next_due
