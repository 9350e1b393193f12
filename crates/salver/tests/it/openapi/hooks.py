"""How Schemathesis writes bodies of media types that it does not know."""

import schemathesis


@schemathesis.serializer("application/graphql")
def graphql(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")
