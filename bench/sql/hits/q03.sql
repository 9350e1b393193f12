select avg(user_id) from hits
