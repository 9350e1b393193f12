select mobile_phone, mobile_phone_model, count(distinct user_id) as u
from hits where mobile_phone_model <> '' group by mobile_phone, mobile_phone_model order by u desc, 1, 2 limit 10
