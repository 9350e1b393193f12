select * from hits where url like '%google%' order by event_time, watch_id limit 10
