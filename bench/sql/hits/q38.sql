select url, count(*) as page_views
from hits
where counter_id = 62 and event_date >= '2024-07-01' and event_date <= '2024-07-31' and is_refresh = 0
  and is_link <> 0 and is_download = 0
group by url order by page_views desc, url limit 10 offset 100
