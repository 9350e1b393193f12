select search_phrase, count(*) as c
from hits where search_phrase <> '' group by search_phrase order by c desc, search_phrase limit 10
