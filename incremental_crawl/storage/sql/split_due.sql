-- Why each due page is asked without a condition; NULL means that the sweep asks conditionally.
CREATE OR REPLACE TEMP TABLE due_split AS
    SELECT d.*,
        CASE
            WHEN NOT d.held THEN CASE WHEN d.failures > 0 THEN 'retry' ELSE 'new' END
            WHEN d.gone_since IS NOT NULL THEN 'retry'
            WHEN d.redirect_to IS NOT NULL THEN 'retry'
            WHEN NOT EXISTS (SELECT 1 FROM held_records h WHERE h.url = d.url) THEN 'retry'
            WHEN d.etag IS NULL AND d.last_modified IS NULL AND d.hop_etag IS NULL AND d.hop_last_modified IS NULL
                THEN 'hash_check'
            WHEN d.weak_date THEN 'hash_check'
            WHEN d.representation IS DISTINCT FROM $representation THEN 'hash_check'
            WHEN EXISTS (SELECT 1 FROM hosts h WHERE h.host = regexp_extract(d.url, '^[^/]*//([^/?#]*)', 1) AND h.mode = 'hash_only')
                 AND hash(d.url, $visit) % 20 <> 0  -- one page in twenty tries the host's validators again
                THEN 'hash_check'
        END AS reason
    FROM due_now d;
