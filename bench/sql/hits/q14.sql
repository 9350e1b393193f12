select search_engine_id, search_phrase, count(*) as c
from hits where search_phrase <> '' group by search_engine_id, search_phrase order by c desc, 1, 2 limit 10
