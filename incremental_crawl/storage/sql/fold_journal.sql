-- Newest successor per URL replaces the row; folding twice changes nothing.
CREATE OR REPLACE TEMP TABLE folded AS
    SELECT * EXCLUDE (seq) FROM journal QUALIFY row_number() OVER (PARTITION BY url ORDER BY seq DESC) = 1;
DELETE FROM known_urls USING folded WHERE known_urls.url = folded.url;
INSERT INTO known_urls BY NAME SELECT * FROM folded;
DELETE FROM journal;
DROP TABLE folded;
