//! Stands for the Google Sheets API on loopback, and for the server of its tokens. Every request is checked as the
//! reference of the API and RFC 7523 document it, and refused as Google refuses what is wrong; answers have the fields
//! of the request's mask and no others. One request is served after another, on a thread that ends with the process.

mod field_mask;
mod http;
mod spreadsheet;
mod token;

use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use field_mask::FieldMask;
use http::{HttpRequest, answer, endless};
pub use spreadsheet::{Cell, Sheet};
use token::Tokens;

/// The id of the spreadsheet.
pub const ID: &str = "1aBcD-test_9";
/// The API key that is taken while the spreadsheet is open to everybody with the link.
pub const API_KEY: &str = "AIza-a-key-of-the-test";

/// What a request is answered with, once.
#[derive(Clone, Debug)]
pub enum Fault {
    /// This status with these header lines and this body.
    Answer(u16, String, String),
    /// The head of a success, and a body that ends too early.
    Cut,
    /// A success with a body that never ends.
    Endless,
}

impl Fault {
    /// Returns an error in the form of Google's APIs.
    #[must_use]
    pub fn of_google(status: u16, word: &str, message: &str) -> Self {
        let body = json!({ "error": { "code": status, "message": message, "status": word } });
        Self::Answer(status, String::new(), body.to_string())
    }
}

/// The stand-in.
#[derive(Debug)]
pub struct GoogleSheets {
    address: String,
    state: Arc<Mutex<State>>,
    /// The address of the service account.
    email: String,
}

#[derive(Debug)]
struct State {
    base: String,
    sheets: Vec<Sheet>,
    faults: VecDeque<Fault>,
    token_faults: VecDeque<Fault>,
    seen: Vec<String>,
    tokens: Tokens,
    is_shared: bool,
    is_public: bool,
}

impl GoogleSheets {
    /// Starts a stand-in with a spreadsheet of these sheets, that is shared with a service account.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    #[allow(clippy::expect_used, reason = "a test ends where it can't go on")]
    pub fn start(sheets: Vec<Sheet>) -> Self {
        // The account is another one for each test: tokens are kept by the file that they are for.
        static ACCOUNTS: AtomicU32 = AtomicU32::new(0);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let number = ACCOUNTS.fetch_add(1, Ordering::Relaxed);
        let email = format!("reader-{}-{number}@project.iam.gserviceaccount.com", std::process::id());
        let state = Arc::new(Mutex::new(State {
            base: address.clone(),
            sheets,
            faults: VecDeque::new(),
            token_faults: VecDeque::new(),
            seen: Vec::new(),
            tokens: Tokens::of(&email),
            is_shared: true,
            is_public: false,
        }));
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &served);
            }
        });
        Self { address, state, email }
    }

    /// The address of the API: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The address of the service account.
    #[must_use]
    pub fn email(&self) -> &str {
        &self.email
    }

    /// Writes the file of the service account.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write_account(&self, path: &Path) -> std::io::Result<()> {
        let file = json!({
            "type": "service_account",
            "project_id": "project",
            "private_key_id": "key-1",
            "private_key": token::PRIVATE_KEY,
            "client_email": self.email,
            "token_uri": format!("{}/token", self.address),
        });
        std::fs::write(path, file.to_string())
    }

    /// Changes the sheets.
    pub fn change(&self, change: impl FnOnce(&mut Vec<Sheet>)) {
        change(&mut self.state().sheets);
    }

    /// Shares the spreadsheet with the service account, or with everybody who has the link, or not.
    pub fn share(&self, with_account: bool, with_everybody: bool) {
        let mut state = self.state();
        (state.is_shared, state.is_public) = (with_account, with_everybody);
    }

    /// Answers the next requests to the API with these faults.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state().faults.extend(faults);
    }

    /// Answers the next requests for a token with these faults.
    pub fn fail_tokens(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state().token_faults.extend(faults);
    }

    /// Makes every token that was given out invalid.
    pub fn revoke_tokens(&self) {
        self.state().tokens.revoke();
    }

    /// Sets the life of tokens that are given out from now on, in seconds.
    pub fn let_tokens_live(&self, seconds: u64) {
        self.state().tokens.life_s = seconds;
    }

    /// Returns how many tokens were given out.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.state().tokens.given()
    }

    /// Returns the texts that must stand nowhere: tokens, and the key of the account.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let key = token::PRIVATE_KEY.lines().nth(1).unwrap_or_default().to_owned();
        let mut secrets = self.state().tokens.all();
        secrets.extend([key, API_KEY.to_owned()]);
        secrets
    }

    /// Takes the requests to the API since the last call: `list`, or the range of which the cells were asked for.
    #[must_use]
    pub fn take_seen(&self) -> Vec<String> {
        std::mem::take(&mut self.state().seen)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let Some(request) = HttpRequest::read(&stream) else { return };
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let is_token = request.path == "/token";
    let fault = if is_token { state.token_faults.pop_front() } else { state.faults.pop_front() };
    let (status, headers, body) = match fault {
        Some(Fault::Answer(status, headers, body)) => (status, headers, body),
        Some(Fault::Cut) => return http::cut(&mut stream),
        Some(Fault::Endless) => {
            drop(state);
            return endless(&mut stream);
        }
        None => {
            let audience = format!("{}/token", state.base);
            let answered = match is_token {
                true => state.tokens.give(&request, &audience),
                false => state.get(&request),
            };
            let (Ok((status, body)) | Err((status, body))) = answered;
            (status, String::new(), body.to_string())
        }
    };
    answer(&mut stream, status, &headers, &body);
}

/// Status and body.
type Answered = Result<(u16, serde_json::Value), (u16, serde_json::Value)>;

/// Returns an error as Google's APIs have it.
fn refused(status: u16, word: &str, message: impl Into<String>) -> (u16, serde_json::Value) {
    (status, json!({ "error": { "code": status, "message": message.into(), "status": word } }))
}

impl State {
    /// Answers `spreadsheets.get`.
    fn get(&mut self, request: &HttpRequest) -> Answered {
        let invalid = |message: String| refused(400, "INVALID_ARGUMENT", message);
        if request.method != "GET" || !request.body.is_empty() {
            return Err(refused(405, "METHOD_NOT_ALLOWED", "this is asked with GET and without a body"));
        }
        let id = request.path.strip_prefix("/v4/spreadsheets/").filter(|id| !id.contains('/'));
        let Some(id) = id else { return Err((404, json!("<html>The requested URL was not found</html>"))) };
        self.authorize(request)?;
        if id != ID {
            return Err(refused(404, "NOT_FOUND", "Requested entity was not found."));
        }
        let mut ranges = Vec::new();
        let mut mask = None;
        for (name, value) in &request.query {
            match name.as_str() {
                "ranges" => ranges.push(value.as_str()),
                "fields" => {
                    let message = || invalid(format!("Request contains an invalid argument: fields: {value}"));
                    mask = Some(FieldMask::parse(value).ok_or_else(message)?);
                }
                "includeGridData" | "prettyPrint" if value == "true" || value == "false" => {}
                "key" => {}
                _ => return Err(invalid(format!("Invalid JSON payload received. Unknown name \"{name}\""))),
            }
        }
        // Without a mask, everything is sent: nobody should want that.
        let mask = mask.ok_or_else(|| invalid("the test wants a mask of fields".to_owned()))?;
        if let Some(unknown) = mask.beyond(&FieldMask::parse(spreadsheet::FIELDS).unwrap_or_default()) {
            return Err(invalid(format!(
                "Error expanding 'fields' parameter. Cannot find matching fields for {unknown}"
            )));
        }
        let whole = spreadsheet::answer(&self.sheets, &ranges).map_err(invalid)?;
        self.seen.push(if ranges.is_empty() { "list".to_owned() } else { ranges.join(" ") });
        Ok((200, mask.of(&whole)))
    }

    fn authorize(&self, request: &HttpRequest) -> Result<(), (u16, serde_json::Value)> {
        let denied = || refused(403, "PERMISSION_DENIED", "The caller does not have permission");
        let key = request.header("x-goog-api-key").or_else(|| request.parameter("key"));
        match (request.header("authorization"), key) {
            (Some(header), _) => {
                let token = header.strip_prefix("Bearer ").unwrap_or_default();
                if !self.tokens.is_valid(token) {
                    let message = "Request had invalid authentication credentials. Expected OAuth 2 access token";
                    return Err(refused(401, "UNAUTHENTICATED", message));
                }
                if self.is_shared { Ok(()) } else { Err(denied()) }
            }
            (None, Some(API_KEY)) => {
                if self.is_public {
                    Ok(())
                } else {
                    Err(denied())
                }
            }
            (None, Some(_)) => {
                let mut wrong = refused(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.");
                wrong.1["error"]["details"] = json!([{
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "API_KEY_INVALID",
                    "domain": "googleapis.com",
                }]);
                Err(wrong)
            }
            (None, None) => {
                let message = "Method doesn't allow unregistered callers (callers without established identity).";
                Err(refused(403, "PERMISSION_DENIED", message))
            }
        }
    }
}
