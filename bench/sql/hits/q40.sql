select url_hash, event_date, count(*) as page_views
from hits
where counter_id = 62 and event_date >= '2024-07-01' and event_date <= '2024-07-31' and is_refresh = 0
  and trafic_source_id in (-1, 6) and referer_hash = 8147104208329303767
group by url_hash, event_date order by page_views desc, 1, 2 limit 10
