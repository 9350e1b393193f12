select adv_engine_id, count(*) from hits where adv_engine_id <> 0 group by adv_engine_id order by 2 desc, 1
