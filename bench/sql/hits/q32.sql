select watch_id, client_ip, count(*) as c, sum(is_refresh), avg(resolution_width)
from hits group by watch_id, client_ip order by c desc, 1, 2 limit 10
