select counter_id, avg(length(url)) as l, count(*) as c
from hits where url <> '' group by counter_id having count(*) > 1000 order by l desc, counter_id limit 25
