select count(distinct search_phrase) from hits
