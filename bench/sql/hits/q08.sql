select region_id, count(distinct user_id) as u from hits group by region_id order by u desc, region_id limit 10
