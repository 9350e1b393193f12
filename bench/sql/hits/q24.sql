select search_phrase from hits where search_phrase <> '' order by event_time, watch_id limit 10
