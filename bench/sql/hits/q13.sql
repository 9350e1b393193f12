select search_phrase, count(distinct user_id) as u
from hits where search_phrase <> '' group by search_phrase order by u desc, search_phrase limit 10
