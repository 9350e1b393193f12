select mobile_phone_model, count(distinct user_id) as u
from hits where mobile_phone_model <> '' group by mobile_phone_model order by u desc, mobile_phone_model limit 10
