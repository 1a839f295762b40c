-- The table `listed` becomes what the source lists; rows that stay as they are are not written again.
DELETE FROM listings l
    WHERE l.source = $source
      AND ($complete OR EXISTS (SELECT 1 FROM listed n WHERE n.url = l.url))
      AND NOT EXISTS (
          SELECT 1 FROM listed n
          WHERE n.url = l.url AND n.lastmod IS NOT DISTINCT FROM l.lastmod
            AND n.changefreq IS NOT DISTINCT FROM l.changefreq AND n.priority IS NOT DISTINCT FROM l.priority);
INSERT INTO listings BY NAME
    SELECT $source AS source, n.* FROM listed n
    WHERE NOT EXISTS (SELECT 1 FROM listings l WHERE l.source = $source AND l.url = n.url);
