//! An account at the authority, and one order of a certificate (RFC 8555, section 7).

use std::time::Duration;

use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, ChallengeType, Identifier, NewAccount, NewOrder, Order,
    OrderStatus, Problem, RetryPolicy,
};
use rcgen::{CertificateParams, DistinguishedName, KeyPair};
use salver_config::AcmeSpec;
use salver_model::limits::ACME_ORDER_S_MAX;
use salver_model::{Code, Error, Result};

use super::challenges::Challenges;
use super::client::Client;

/// The authority's word for an account that it does not know.
const UNKNOWN_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

/// A certificate as it came, and its key, as PEM.
pub(super) struct Ordered {
    pub(super) chain: String,
    pub(super) key: String,
}

/// Makes an account at the authority.
///
/// # Errors
/// `Source` when the authority can't be reached, or refuses.
pub(super) async fn make_account(client: &Client, spec: &AcmeSpec) -> Result<(Account, AccountCredentials)> {
    let contact = spec.contact.as_ref().map(|address| format!("mailto:{address}"));
    let contact: Vec<&str> = contact.as_deref().into_iter().collect();
    let wanted = NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
    let builder = Account::builder_with_http(Box::new(client.clone()));
    builder.create(&wanted, spec.directory.clone(), None).await.map_err(failed(spec, "makes no account"))
}

/// Opens the account that was made before.
///
/// # Errors
/// `Source` when the authority can't be reached.
pub(super) async fn open_account(client: &Client, spec: &AcmeSpec, kept: AccountCredentials) -> Result<Account> {
    let builder = Account::builder_with_http(Box::new(client.clone()));
    builder.from_credentials(kept).await.map_err(failed(spec, "can't be asked"))
}

/// Returns whether the authority does not know the account.
pub(super) fn is_unknown_account(error: &Error) -> bool {
    error.message.contains(UNKNOWN_ACCOUNT)
}

/// Orders a certificate: proves that the names are the server's, and waits until it is made.
///
/// # Errors
/// `Source` when the authority can't be reached, or refuses, with what it says.
pub(super) async fn certificate(account: &Account, spec: &AcmeSpec, challenges: &Challenges) -> Result<Ordered> {
    let names: Vec<Identifier> = spec.domains.iter().cloned().map(Identifier::Dns).collect();
    let mut order = account.new_order(&NewOrder::new(&names)).await.map_err(failed(spec, "takes no order"))?;
    prove(&mut order, spec, challenges).await?;
    let retries = RetryPolicy::new().timeout(Duration::from_secs(ACME_ORDER_S_MAX));
    match order.poll_ready(&retries).await {
        Ok(OrderStatus::Ready) => {}
        Ok(_) => return Err(unproven(&mut order, spec, None).await),
        Err(instant_acme::Error::Api(problem)) => return Err(unproven(&mut order, spec, Some(problem)).await),
        Err(error) => return Err(failed(spec, "does not check the names")(error)),
    }
    let broken = |error: rcgen::Error| Error::internal("a request for a certificate can't be made").with_source(error);
    let key = KeyPair::generate().map_err(broken)?;
    let mut parameters = CertificateParams::new(spec.domains.clone()).map_err(broken)?;
    parameters.distinguished_name = DistinguishedName::new();
    let request = parameters.serialize_request(&key).map_err(broken)?;
    order.finalize_csr(request.der()).await.map_err(failed(spec, "makes no certificate"))?;
    let chain = order.poll_certificate(&retries).await.map_err(failed(spec, "makes no certificate"))?;
    Ok(Ordered { chain, key: key.serialize_pem() })
}

/// Shows the authority what it expects for each name that it has not checked before, and tells it so.
async fn prove(order: &mut Order, spec: &AcmeSpec, challenges: &Challenges) -> Result<()> {
    let refused = || failed(spec, "does not check the names");
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization.map_err(refused())?;
        if authorization.status != AuthorizationStatus::Pending {
            continue;
        }
        let Some(mut challenge) = authorization.challenge(ChallengeType::TlsAlpn01) else {
            return Err(Error::new(Code::Source, format!("`{}` checks no names by TLS-ALPN-01", spec.directory))
                .with_hint("choose another authority in `server.acme_directory`"));
        };
        let name = challenge.identifier().to_string();
        challenges.put(&name, challenge.key_authorization().digest().as_ref())?;
        challenge.set_ready().await.map_err(refused())?;
    }
    Ok(())
}

/// Returns the error for names that the authority does not take for the server's, with what it says of each.
async fn unproven(order: &mut Order, spec: &AcmeSpec, whole: Option<Problem>) -> Error {
    let mut told = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        // What is known of it is from before the check.
        let _ = authorization.refresh().await;
        let name = authorization.identifier().to_string();
        let problems = authorization.challenges.iter().filter_map(|challenge| challenge.error.as_ref());
        told.extend(problems.map(|problem| format!("{name}: {}", shown(&problem.to_string()))));
    }
    if told.is_empty() {
        told.push(whole.map_or_else(|| "it does not say why".to_owned(), |problem| shown(&problem.to_string())));
    }
    let told = told.join("; ");
    let message = format!("`{}` does not take the names for this server's: {told}", spec.directory);
    Error::new(Code::Source, message)
        .with_hint("each name in `server.acme_domains` must lead to this server, at port 443, from the internet")
}

/// Returns what makes an error of what the library says.
fn failed(spec: &AcmeSpec, what: &str) -> impl FnOnce(instant_acme::Error) -> Error {
    let (directory, what) = (spec.directory.clone(), what.to_owned());
    move |error| {
        let why = match &error {
            instant_acme::Error::Api(problem) => {
                format!("{} ({})", shown(&problem.to_string()), problem.r#type.as_deref().unwrap_or("no type"))
            }
            other => shown(&other.to_string()),
        };
        Error::new(Code::Source, format!("`{directory}` {what}: {why}"))
            .with_hint("check `server.acme_directory`, and that this machine reaches it")
            .with_source(error)
    }
}

/// Returns what an authority says, fit for the log.
fn shown(told: &str) -> String {
    told.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(500).collect()
}
