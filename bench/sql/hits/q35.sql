select client_ip, client_ip - 1, client_ip - 2, client_ip - 3, count(*) as c
from hits group by client_ip, client_ip - 1, client_ip - 2, client_ip - 3 order by c desc, client_ip limit 10
