select search_engine_id, client_ip, count(*) as c, sum(is_refresh), avg(resolution_width)
from hits where search_phrase <> '' group by search_engine_id, client_ip order by c desc, 1, 2 limit 10
