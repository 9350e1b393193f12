select count(*) from hits where adv_engine_id <> 0
