-- Gives pages the type and staleness that the table `assigned` says; rows are replaced, never updated in place.
CREATE OR REPLACE TEMP TABLE retyped AS
    SELECT k.* REPLACE (a.page_type AS page_type, a.stale AS stale) FROM known_urls k JOIN assigned a USING (url);
DELETE FROM known_urls USING retyped r WHERE known_urls.url = r.url;
INSERT INTO known_urls BY NAME SELECT * FROM retyped;

CREATE OR REPLACE TEMP TABLE retyped_records AS
    SELECT h.* REPLACE (r.page_type AS page_type) FROM held_records h JOIN retyped r USING (url)
    WHERE h.page_type <> r.page_type;
DELETE FROM held_records USING retyped_records r WHERE held_records.url = r.url;
INSERT INTO held_records BY NAME SELECT * FROM retyped_records;
DROP TABLE retyped;
DROP TABLE retyped_records;
