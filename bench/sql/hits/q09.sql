select region_id, sum(adv_engine_id), count(*) as c, avg(resolution_width), count(distinct user_id)
from hits group by region_id order by c desc, region_id limit 10
