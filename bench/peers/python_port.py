"""The Python port of PHP-CRUD-API's core by Maurits van der Schee, as its text gives it (12 Nov 2017, "Porting
PHP-CRUD-API to Python"). Five things are mended, each marked with "Mended":

- It closed its only connection at the end of the first request, so the second one failed.
- It gave bjoern text, which bjoern takes in Python 2 only.
- Its ports were fixed. They are arguments here.
- bjoern writes an answer in pieces; on a connection that is kept, Nagle's algorithm held each answer up for 40 ms.
- Several processes of it may share one port (SO_REUSEPORT: the kernel spreads the connections).
"""

import bjoern, os
import re
import json
import socket
import sys
import mysql.connector

# connect to the mysql database
link = mysql.connector.connect(host='127.0.0.1', port=int(sys.argv[2]), user='php-crud-api',  # Mended: the port.
                               password='php-crud-api', db='php-crud-api',
                               charset='utf8', autocommit=True)
cursor = link.cursor(dictionary=True)

def app(environ, start_response):
    # get the HTTP method, path and body of the request
    method = environ['REQUEST_METHOD']
    path = environ.get('PATH_INFO', '').split('/')
    size = int(environ.get('CONTENT_LENGTH', '0'))
    if size > 0:
        data = json.loads(environ['wsgi.input'].read(size))
    else:
        data = {}
    # retrieve the table and key from the path
    table = re.sub(r'[^a-zA-Z0-9_]+', '', path[1] if len(path) > 1 else '')
    key = int(path[2] if len(path) > 2 else '0')
    # escape the columns and values from the input object
    columns = list(re.sub(r'[^a-zA-Z0-9_]+', '', k) for k in data.keys())
    values = list(link.escape_string(str(v)) for v in data.values())
    # build the SET part of the SQL command
    sql = ''
    for i in range(0, len(columns)):
        sql += (',' if i > 0 else '')+'`'+columns[i]+'`="'+values[i]+'"'
    # create SQL based on HTTP method
    if method == 'GET':
        sql = 'select * from `'+table+'`'
        if key > 0:
            sql += ' WHERE id='+str(key)
    elif method == 'PUT':
        sql = 'update `'+table+'` set '+sql+' where id='+str(key)
    elif method == 'POST':
        sql = 'insert into `'+table+'` set '+sql
    elif method == 'DELETE':
        sql = 'delete from `'+table+'` where id='+str(key)
    # execute SQL statement
    try:
        cursor.execute(sql)
        # print results, insert id or affected row count
        start_response('200 OK', [('Content-Type', 'text/html')])
        if method == 'GET':
            if key == 0:
                yield str('[').encode()  # Mended, here and below: bytes.
            i = 0
            for row in cursor:
                yield str((',' if i > 0 else '')+json.dumps(row)).encode()
                i += 1
            if key == 0:
                yield str(']').encode()
        elif method == 'POST':
            yield str(cursor.lastrowid).encode()
        else:
            yield str(cursor.rowcount).encode()
    except (mysql.connector.errors.DatabaseError) as err:
        # die if SQL statement failed
        start_response('404 Not Found', [('Content-Type', 'text/html')])
        yield str(err.args[1]).encode()
    # close mysql connection
    # Mended: link.close() stood here.

if __name__ == "__main__":
    # Mended: the port, that it can be shared, and no waiting to send (accepted connections inherit it).
    listener = bjoern.listen(app, '127.0.0.1', int(sys.argv[1]), reuse_port=True)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    bjoern.run()
