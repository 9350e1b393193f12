select url, count(*) as c from hits group by url order by c desc, url limit 10
