select url, count(*) as page_views
from hits
where counter_id = 62 and event_date >= '2024-07-01' and event_date <= '2024-07-31' and dont_count_hits = 0
  and is_refresh = 0 and url <> ''
group by url order by page_views desc, url limit 10
