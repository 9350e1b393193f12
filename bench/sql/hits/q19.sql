select user_id from hits where user_id = 2166052499522740388
