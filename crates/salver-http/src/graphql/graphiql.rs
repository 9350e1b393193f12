//! GraphiQL, embedded in the binary: the page and the files it loads. Nothing is fetched from other servers.

/// Returns a file by its name below `/api/graphql/`, the page by the empty name: bytes, media type, content coding.
pub(crate) fn asset(path: &str) -> Option<(&'static [u8], &'static str, Option<&'static str>)> {
    macro_rules! file {
        ($name:literal) => {
            include_bytes!(concat!("../../assets/graphiql/", $name))
        };
    }
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    const GZIP: Option<&str> = Some("gzip");
    let (bytes, media_type, coding): (&'static [u8], _, _) = match path {
        "" => (file!("index.html"), "text/html; charset=utf-8", None),
        "graphiql.min.js" => (file!("graphiql.min.js.gz"), SCRIPT, GZIP),
        "graphiql.min.css" => (file!("graphiql.min.css.gz"), "text/css; charset=utf-8", GZIP),
        "react.production.min.js" => (file!("react.production.min.js.gz"), SCRIPT, GZIP),
        "react-dom.production.min.js" => (file!("react-dom.production.min.js.gz"), SCRIPT, GZIP),
        "start.js" => (file!("start.js"), SCRIPT, None),
        "LICENSES.txt" => (file!("LICENSES.txt"), "text/plain; charset=utf-8", None),
        _ => return None,
    };
    Some((bytes, media_type, coding))
}
