"""Routes of every method below one path, and a module beside the file."""

from pricing import discounted
from salver import HTTPError, Response

STOCK = {"tea": 3, "cup": 0}


#* @get /shop/stock
#* @get /shop
def stock():
    return STOCK


#* @get /shop/stock/<what>
def one(what: str):
    if what not in STOCK:
        raise HTTPError(404, f"there is no {what}")
    return STOCK[what]


#* @put /shop/stock/<what>
def put(what: str, count: int):
    return Response({what: count}, 201 if what not in STOCK else 200)


#* @patch /shop/stock/<what>
def change(what: str, by: int = 1):
    return {what: STOCK[what] + by}


#* @head /shop/stock/<what>
def head(what: str):
    return Response(status=200 if what in STOCK else 404)


#* @any /shop/any
def whatever(request):
    return {"method": request.method, "query": request.query}


#* @get /shop/price/<cents:int>
def price(cents, percent: int = 10):
    return discounted(cents, percent)
