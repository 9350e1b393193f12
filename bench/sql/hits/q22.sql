select search_phrase, min(url), min(title), count(*) as c, count(distinct user_id)
from hits where title like '%google%' and url not like '%.google.%' and search_phrase <> ''
group by search_phrase order by c desc, search_phrase limit 10
