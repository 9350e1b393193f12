select regexp_replace(referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') as k, avg(length(referer)) as l,
       count(*) as c, min(referer)
from hits where referer <> '' group by k having count(*) > 1000 order by l desc, k limit 25
