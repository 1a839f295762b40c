-- Of the comparison: URLs that no one knew, and pages that are listed no more.
SELECT count(*) FILTER (known IS NULL AND place = first_place) AS new, (SELECT count(*) FROM unlisted_now) AS unlisted
FROM compared
