select sum(adv_engine_id), count(*), avg(resolution_width) from hits
