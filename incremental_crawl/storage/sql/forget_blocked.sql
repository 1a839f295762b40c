-- Forgets what stood in the place of pages that are well again, and says of each host whether it is blocked.
DELETE FROM blocked_pages USING known_urls k WHERE k.url = blocked_pages.url AND k.last_checked > blocked_pages.seen_at;
DELETE FROM blocked_pages WHERE NOT EXISTS (SELECT 1 FROM known_urls k WHERE k.url = blocked_pages.url);
DELETE FROM blocked_bodies WHERE NOT EXISTS (
    SELECT 1 FROM blocked_pages p
    WHERE p.host = blocked_bodies.host AND blocked_bodies.digest IN (p.body_sha256, p.content_sha256));
UPDATE hosts SET blocked_since = (
    SELECT min(b.since) FROM host_blocks b
    WHERE b.host = hosts.host AND (b.next_try IS NOT NULL OR (b.blocks > 0 AND b.answered_in < b.visit)));
