select search_phrase from hits where search_phrase <> '' order by event_time, search_phrase limit 10
