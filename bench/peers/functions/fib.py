"""The same function for Salver, as a file that is an API: a comment says where it stands."""


#* @get /f
def f(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a
