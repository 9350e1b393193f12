select search_phrase from hits where search_phrase <> '' order by search_phrase limit 10
