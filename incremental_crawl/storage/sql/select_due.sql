-- The visit's work list, in the order that pays: left over from the last visit, new, hinted, longest overdue.
-- URLs that a changed scope leaves out (`outside`) keep what is held of them and are not asked.
-- Pages and suspects of any plan (this visit's or a waiting one's) and pages already asked in this visit stay out.
CREATE OR REPLACE TEMP TABLE due_now AS
    SELECT row_number() OVER (ORDER BY d.priority DESC, d.held, d.next_due, d.url) AS position, d.*
    FROM current_urls d
    WHERE d.last_visit < $visit
      AND ($every_page OR d.next_due IS NULL OR d.next_due <= $now OR len($only_urls) > 0)
      AND (len($only_urls) = 0 OR list_contains($only_urls, d.url))
      AND NOT EXISTS (SELECT 1 FROM outside o WHERE o.url = d.url)
      AND NOT EXISTS (
          SELECT 1 FROM plan p JOIN visits v USING (visit)
          WHERE p.url = d.url AND (p.visit = $visit OR v.status = 'waiting'))
      AND NOT EXISTS (
          SELECT 1 FROM suspects s JOIN visits v USING (visit)
          WHERE s.url = d.url AND (s.visit = $visit OR v.status = 'waiting'))
    ORDER BY position
    LIMIT $page_limit;
