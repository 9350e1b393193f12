select window_client_width, window_client_height, count(*) as page_views
from hits
where counter_id = 62 and event_date >= '2024-07-01' and event_date <= '2024-07-31' and is_refresh = 0
  and dont_count_hits = 0 and url_hash = 8147104208329303767
group by window_client_width, window_client_height order by page_views desc, 1, 2 limit 10 offset 10
