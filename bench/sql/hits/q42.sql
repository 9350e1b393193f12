select date_trunc('minute', event_time) as m, count(*) as page_views
from hits
where counter_id = 62 and event_date >= '2024-07-14' and event_date <= '2024-07-15' and is_refresh = 0
  and dont_count_hits = 0
group by date_trunc('minute', event_time) order by date_trunc('minute', event_time) limit 10 offset 100
