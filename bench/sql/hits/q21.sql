select search_phrase, min(url), count(*) as c
from hits where url like '%google%' and search_phrase <> '' group by search_phrase order by c desc, 1 limit 10
