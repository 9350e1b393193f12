//! What a connection and a request may take.

/// Most iterations of a password that is kept for SCRAM: about two seconds of work for each log-in.
pub const SCRAM_ITERATIONS_MAX: u32 = 10_000_000;

/// Longest request line plus headers, in bytes; a longer one is refused with 431. The request target may have at most
/// 64 KiB, a limit of the `http` crate; this limit is larger, so that a longer target is still read and refused with a
/// status code.
pub const HEAD_BYTES_MAX: usize = 512 * 1024;
/// Longest `X-Request-Id` of a client, in bytes; a longer one is ignored, and the request gets an ID of the server's.
pub const REQUEST_ID_BYTES_MAX: usize = 128;
/// Most requests open at once on one HTTP/2 connection; its client has to wait with others.
pub const STREAMS_PER_CONNECTION_MAX: u32 = 100;
/// Time a client may send nothing of a request body, or read nothing of a response, when its connection is needed for
/// another, in milliseconds.
pub const CONNECTION_YIELD_MS: u64 = 1_000;
/// Most connections beyond `connections_max` that are accepted to be refused with a response; if there are more, the
/// oldest of them is closed without one.
pub const LOBBY_MAX: usize = 32;
/// Longest time one of them may take to send its request, in milliseconds; then it is closed.
pub const LOBBY_MS_MAX: u64 = 2_000;
/// Memory for all request bodies being received, together, in bytes; at least sixteen times the largest body. Further
/// requests are refused with 503.
pub const RECEIVING_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Size up to which a body is not counted, in bytes.
pub const RECEIVING_BYTES_FREE: u64 = 16 * 1024;
/// Bytes of an unneeded request body that are still read after the response, so that the client sees the response; then
/// the connection is closed.
pub const UNREAD_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Longest time spent on that, in milliseconds.
pub const UNREAD_MS_MAX: u64 = 2_000;
/// Most callers whose requests are counted at a time for `[[limit]]`; if there are more, those that sent the least of
/// late are counted anew.
pub const LIMITED_CALLERS_MAX: usize = 65_536;
/// Most addresses, and most users, whose wrong passwords are counted at a time; if there are more, counting starts anew
/// for all.
pub const ATTEMPT_HOLDERS_MAX: usize = 65_536;
/// Time over which the wrong passwords of an address, and of a user, are counted for `auth.attempts_max`, in seconds.
pub const ATTEMPTS_WINDOW_S: u64 = 60;
/// Most passwords that are hashed at the same time, so that other work gets processor time; more wait.
pub const PASSWORDS_MAX: usize = 2;
/// Longest such wait, in seconds; then the request is refused with 503.
pub const PASSWORD_WAIT_S_MAX: u64 = 5;
/// Most sessions of users at a time; further logins are refused with `overloaded`.
pub const SESSIONS_MAX: usize = 100_000;
/// Largest session that outlives the process, in bytes as it is written; a larger one ends with the process.
pub const STORED_SESSION_BYTES_MAX: usize = 16 * 1024;
/// Largest file of sessions, in bytes; a larger one is damaged. When half of it is not enough for all sessions, those
/// that were unused for longest end with the process.
pub const SESSIONS_FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Longest wait of a request until the end of a session is on disk, in milliseconds; then it is refused with 503.
pub const SESSION_END_MS_MAX: u64 = 5_000;
/// Longest password that is checked against a portable hash, in bytes; a longer one is wrong, as in WordPress.
pub const PORTABLE_PASSWORD_BYTES_MAX: usize = 4_096;
/// Longest `Idempotency-Key`, in bytes; a request with a longer one is refused.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// Memory for the responses and keys of requests with an `Idempotency-Key`, in bytes. Beyond it the oldest of the
/// client with the most are evicted, and a repetition of their request runs again.
pub const IDEMPOTENCY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Time for which such a response is kept, in seconds; a later repetition of its request runs again.
pub const IDEMPOTENCY_KEPT_S: u64 = 24 * 60 * 60;
/// Most holders of one kind of resource that the status page lists; those with the most come first, and others are left
/// out.
pub const STATUS_HOLDERS_MAX: usize = 5;
/// Longest header of the PROXY protocol that is read, in bytes; a connection that begins with a longer one is closed.
pub const PROXY_HEADER_BYTES_MAX: usize = 4_096;
/// Most sockets that are taken over from the service manager; with more the server does not start.
pub const ACTIVATED_SOCKETS_MAX: usize = 64;
/// Longest path of a Unix socket, in bytes, a limit of the operating systems; a longer one is a mistake in the
/// configuration.
pub const SOCKET_PATH_BYTES_MAX: usize = 103;
/// Longest name of a client's certificate, in bytes; one with a longer one proves nothing.
pub const CERTIFICATE_NAME_BYTES_MAX: usize = 256;
/// Largest file of certificates or of a key; a larger one is refused.
pub const TLS_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Most names in a certificate that the server gets from an authority, as Let's Encrypt has it.
pub const ACME_DOMAINS_MAX: usize = 100;
/// Longest name in such a certificate, in bytes (RFC 1035, section 2.3.4).
pub const DOMAIN_BYTES_MAX: usize = 253;
/// Longest part of such a name between dots, in bytes (RFC 1035, section 2.3.4).
pub const DOMAIN_LABEL_BYTES_MAX: usize = 63;
/// Largest answer of an authority, in bytes; with a larger one no certificate comes of it.
pub const ACME_ANSWER_BYTES_MAX: u64 = 1024 * 1024;
/// Longest request to an authority, in milliseconds.
pub const ACME_REQUEST_MS_MAX: u64 = 30_000;
/// Longest time in which an authority checks the names, and longest in which it then makes the certificate, in seconds;
/// after that it is asked again later.
pub const ACME_ORDER_S_MAX: u64 = 120;
/// Shortest time after a failure until the authority is asked again, in seconds. It doubles with every further one, and
/// is longer by chance by up to a quarter.
pub const ACME_RETRY_S_MIN: u64 = 120;
/// Longest such time, in seconds.
pub const ACME_RETRY_S_MAX: u64 = 21_600;
/// Largest key set of an issuer of tokens, in bytes; of a larger one the last that was good stays.
pub const JWK_SET_BYTES_MAX: u64 = 1024 * 1024;
/// Most keys of such a set; of a larger one the last that was good stays.
pub const JWK_SET_KEYS_MAX: usize = 100;
/// Shortest time between two requests for the set that tokens with unknown keys cause, in seconds; until then such
/// tokens are refused.
pub const JWK_SET_INTERVAL_S_MIN: u64 = 10;
/// Longest request for the set, in milliseconds.
pub const JWK_SET_MS_MAX: u64 = 10_000;
/// Largest response of an identity provider, in bytes; with a larger one nobody logs in.
pub const OIDC_ANSWER_BYTES_MAX: u64 = 256 * 1024;
/// Longest request to an identity provider, in milliseconds.
pub const OIDC_REQUEST_MS_MAX: u64 = 10_000;
/// Longest wait of a user who logs in for what the provider publishes, and for one of the places for requests to it, in
/// milliseconds; then the request is refused with 503.
pub const OIDC_WAIT_MS_MAX: u64 = 15_000;
/// Most requests to an identity provider at a time; more wait.
pub const OIDC_REQUESTS_MAX: usize = 16;
/// Longest time from the beginning of a log-in at an identity provider to its end, in seconds.
pub const OIDC_LOGIN_S_MAX: u64 = 600;
/// Largest claims of a user of an identity provider, in bytes; a user with larger ones can't log in.
pub const OIDC_CLAIMS_BYTES_MAX: usize = 8 * 1024;
/// Longest name of a user of an identity provider, in bytes.
pub const OIDC_NAME_BYTES_MAX: usize = 255;
/// Longest path to go on at after a log-in, in bytes.
pub const OIDC_PATH_BYTES_MAX: usize = 1_024;
/// Largest file with the secret of a client, in bytes.
pub const OIDC_SECRET_BYTES_MAX: u64 = 4_096;
/// Largest file of API keys, in bytes; a larger one is refused.
pub const API_KEYS_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Most entries, and most groups of a stream, that `/metrics` lists; others are left out.
pub const METRICS_ENTRIES_MAX: usize = 10_000;
/// Largest window of a compressed body in zstd, as a power of two, the limit of browsers (RFC 9659); a body with a
/// larger one is refused.
pub const ZSTD_WINDOW_LOG_MAX: u32 = 23;
