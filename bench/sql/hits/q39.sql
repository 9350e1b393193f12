select trafic_source_id, search_engine_id, adv_engine_id,
       case when search_engine_id = 0 and adv_engine_id = 0 then referer else '' end as src, url as dst,
       count(*) as page_views
from hits
where counter_id = 62 and event_date >= '2024-07-01' and event_date <= '2024-07-31' and is_refresh = 0
group by trafic_source_id, search_engine_id, adv_engine_id, src, dst
order by page_views desc, 1, 2, 3, 4, 5 limit 10 offset 100
