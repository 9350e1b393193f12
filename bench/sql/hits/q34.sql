select 1, url, count(*) as c from hits group by 1, url order by c desc, url limit 10
