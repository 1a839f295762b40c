-- Which listed pages no source lists any more, with the root that found them ('' = a link or the site file found them).
-- Left out: pages that are gone or moved, whose leaving is no news; entries of feeds, which come and go; and what a root
-- listed that the site file names no more.
CREATE OR REPLACE TEMP VIEW roots_of_listed AS
    SELECT k.rowid AS known, k.url, coalesce(s.root, s.url, '') AS root, r.found_by, r.visit
    FROM known_urls k
    LEFT JOIN sources s ON k.source = 'sitemap:' || s.url
    LEFT JOIN sources r ON r.url = s.root
    WHERE k.listed AND k.gone_since IS NULL AND k.redirect_to IS NULL AND NOT starts_with(k.source, 'feed:');

CREATE OR REPLACE TEMP TABLE leaving AS
    SELECT known, url, root FROM roots_of_listed SEMI JOIN unlisted_now USING (known)
    WHERE NOT (coalesce(found_by, '') = 'site file' AND visit <> $visit);

CREATE OR REPLACE TEMP TABLE kept_listed AS SELECT known FROM leaving LIMIT 0;
