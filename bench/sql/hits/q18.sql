select user_id, extract(minute from event_time) as m, search_phrase, count(*)
from hits group by user_id, m, search_phrase order by count(*) desc, user_id, m, search_phrase limit 10
