-- Swaps in what the ledger says of each host (`host_rows`); what else is noted about a host stays.
CREATE OR REPLACE TEMP TABLE rolled AS
    SELECT r.*, h.blocked_since FROM host_rows r LEFT JOIN hosts h USING (host);
DELETE FROM hosts USING rolled r WHERE hosts.host = r.host;
INSERT INTO hosts BY NAME SELECT * FROM rolled;
DROP TABLE rolled;
