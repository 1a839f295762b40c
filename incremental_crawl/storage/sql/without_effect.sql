-- Each page with parameters, once for each of them, beside the pages that have all the others: where a parameter made
-- at least twenty second copies and another record in no more than one case in twenty, it says nothing about a page.
WITH pages_with AS (
    SELECT host_of(url) AS host, content_sha256, split_part(split_part(url, '?', 1), ';', 1) AS stem,
        [p for p in string_split_regex(url, '[;?&]')[2:] if p <> ''] AS parameters
    FROM known_urls
    WHERE held AND gone_since IS NULL AND redirect_to IS NULL AND (contains(url, '?') OR contains(url, ';'))
    ORDER BY first_seen DESC LIMIT 50000  -- a flood is young
), each_parameter AS (
    SELECT host, stem, content_sha256, parameters, unnest(parameters) AS parameter FROM pages_with
), copies AS (
    SELECT host, split_part(parameter, '=', 1) AS name, count(*) AS pages, count(DISTINCT content_sha256) AS records
    FROM each_parameter
    GROUP BY host, name, stem, list_sort([p for p in parameters if p <> parameter])
    HAVING pages > 1
)
SELECT host, name FROM copies GROUP BY host, name
HAVING sum(pages) - count(*) >= 20 AND count(*) FILTER (records > 1) <= count(*) / 20
