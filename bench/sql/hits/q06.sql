select min(event_date), max(event_date) from hits
