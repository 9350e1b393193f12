//! `salver check`: reports every mistake in the settings, then opens every source and every file of functions once, and
//! plans what stands on them.

mod planned;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use salver_config::Checked;
use salver_model::ports::Loader;
use salver_model::spec::AuthSpec;
use salver_model::{Code, Description, Error};
use salver_service::databases::unfit_tables;

use crate::access::entries::RuledEntries;
use crate::access::idle_rules;
use crate::cli::CheckArguments;
use crate::data_dir::DataDir;
use crate::exposure::Exposure;
use crate::failure::CommandFailure;
use crate::sessions::LateSessions;
use crate::settings::Loaded;
use crate::tls::Certificate;
use crate::traces::Traces;
use crate::{
    data_format, databases, functions, grouped_digits, load_progress, logging, output, secrets, settings, streams,
    wiring,
};

/// Runs the checks, and fails when anything is wrong.
pub(crate) fn run(arguments: &CheckArguments) -> Result<(), CommandFailure> {
    let Loaded { checked, sources, .. } = settings::of_check(arguments)?;
    // These settings can only be validated by their users.
    let mut mistakes = streams::mistakes(&checked);
    mistakes.extend(refusals(&checked, sources.file.as_deref()));
    mistakes.iter().for_each(|mistake| output::note(mistake));
    if arguments.no_sources {
        return if mistakes.is_empty() { output::out("the settings are right\n") } else { Err(CommandFailure::Told) };
    }
    logging::start(&checked.server, secrets::secrets(&checked));
    let data_dir = DataDir::open(checked.server.data_dir.as_deref())?;
    let engine = wiring::engine(&checked, data_dir.path())?;
    let runtime = wiring::runtime(checked.server.threads)?;
    let loaders: Vec<Arc<dyn Loader>> = checked.datasets.iter().map(|spec| wiring::loader(spec, &engine)).collect();
    let done = runtime.block_on(async {
        let (unopened, mut entries) = open_all(&checked, &loaders).await?;
        let unreached = read_schemas(&checked, &mut entries).await?;
        let unread = read_keys(&checked).await;
        let unplanned = planned::count_wrong(&checked, &engine).await?;
        Ok::<_, CommandFailure>(unopened + unreached + unread + unplanned + count_idle_rules(&checked, &entries))
    });
    runtime.shutdown_background();
    match done? + mistakes.len() + unreadable_functions(&checked)? {
        0 if is_empty(&checked) => {
            output::out("the settings are right, and declare nothing: a server would not start without an entry\n")
        }
        0 => output::out("the settings are right, and every source can be read\n"),
        _ => Err(CommandFailure::Told),
    }
}

/// Returns whether there is nothing to serve.
fn is_empty(checked: &Checked) -> bool {
    let entries = [checked.datasets.len(), checked.databases.len(), checked.streams.len(), checked.functions.len()];
    entries.iter().sum::<usize>() + checked.views.len() + checked.queries.len() == 0
}

/// Returns why a server with these settings would not start, which it finds out in the same way.
fn refusals(checked: &Checked, file: Option<&Path>) -> Vec<String> {
    let server = &checked.server;
    let exposed = Exposure::planned(server).and_then(|exposure| exposure.check(checked));
    let kept = server.keep_dir(file).map_or(Ok(()), |dir| data_format::check(&dir));
    let traced = Traces::start(server).map(Traces::finish);
    let refused = [exposed, kept, traced].into_iter().filter_map(Result::err);
    refused.map(|error| format!("error: [server]: {}", output::with_hint(&error))).collect()
}

/// Opens every source, and returns the number of failures, with the entries that access rules can be about.
async fn open_all(checked: &Checked, loaders: &[Arc<dyn Loader>]) -> Result<(usize, RuledEntries), CommandFailure> {
    let mut wrong = 0;
    let mut known: BTreeMap<&str, Description> = BTreeMap::new();
    for loader in loaders {
        // Sequentially, and dropped at once: only the description is needed.
        let reading = || format!("reading {}", loader.name());
        match load_progress::during(loader.load(), reading).await {
            Ok(table) => {
                let description = table.describe().clone();
                let rows = description.rows.map(|rows| match rows {
                    1 => "1 row, ".to_owned(),
                    _ => format!("{} rows, ", grouped_digits::thousands(rows)),
                });
                let line = format!("ok  {}: {}{}\n", loader.name(), rows.unwrap_or_default(), description.source);
                output::out(&line)?;
                known.insert(loader.name().as_str(), description);
            }
            Err(error) => {
                wrong += 1;
                output::note(&format!("error: {}: {}", loader.name(), output::with_hint(&error)));
            }
        }
    }
    let mut entries = RuledEntries::declared(checked);
    for entry in &mut entries.all {
        if let Some(description) = known.get(entry.name.as_str()) {
            entry.describe(description);
        }
    }
    wrong += missing_columns(checked, &known);
    Ok((wrong, entries))
}

/// Reads the schema of every database and adds its tables to `entries`. Returns the number of those that cannot be
/// reached or read.
async fn read_schemas(checked: &Checked, entries: &mut RuledEntries) -> Result<usize, CommandFailure> {
    let mut wrong = 0;
    for spec in &checked.databases {
        let read = databases::schema(spec).await;
        match &read {
            // The databases depend on the callers.
            Ok(_) if spec.of_caller.is_some() => output::out(&format!("ok  {}: one for each caller\n", spec.name))?,
            Ok(schema) => {
                output::out(&format!("ok  {}: {} tables and views\n", spec.name, schema.tables().len()))?;
                for table in unfit_tables(&spec.name, schema) {
                    let name = &spec.name;
                    output::note(&format!("note: `{table}` of {name} is served at /api/records alone, for its name"));
                }
            }
            Err(error) => {
                wrong += 1;
                output::note(&format!("error: {}: {}", spec.name, output::with_hint(error)));
            }
        }
        entries.add_database(spec, read.ok());
    }
    Ok(wrong)
}

/// Reads the certificates and the keys of `[auth]`, and counts what cannot be read.
async fn read_keys(checked: &Checked) -> usize {
    let mut wrong = 0;
    if let Some(Err(error)) = checked.server.tls.as_ref().map(Certificate::check) {
        wrong += 1;
        output::note(&format!("error: [server]: {}", output::with_hint(&error)));
    }
    if let Some(spec) = &checked.auth
        && let Err(error) = prove(spec, checked).await
    {
        wrong += 1;
        output::note(&format!("error: [auth]: {}", output::with_hint(&error)));
    }
    wrong
}

/// Reports the rules that are about nothing, and counts them.
fn count_idle_rules(checked: &Checked, entries: &RuledEntries) -> usize {
    let of_policy = checked.access.iter().flat_map(|policy| idle_rules::of_policy(policy, entries));
    let of_databases = checked.databases.iter().flat_map(|spec| idle_rules::of_database(spec, entries));
    let mistakes: Vec<String> = of_policy.chain(of_databases).collect();
    mistakes.iter().for_each(|mistake| output::note(mistake));
    mistakes.len()
}

/// Reads every file of functions, without running it, and counts those that are missing, can't be read or can't be run.
fn unreadable_functions(checked: &Checked) -> Result<usize, CommandFailure> {
    let mut wrong = 0;
    for spec in &checked.functions {
        let file = spec.file.display();
        let read = std::fs::read(&spec.file).map_err(|cause| {
            Error::new(Code::Source, format!("the file `{file}` can't be read: {cause}"))
                .with_hint("check `file` in its [[function]]; a relative path starts at the configuration")
        });
        match read.and_then(|_| functions::check(spec)) {
            Ok(()) => output::out(&format!("ok  {}: {file}, which is not run here\n", spec.name))?,
            Err(error) => {
                wrong += 1;
                output::note(&format!("error: {}: {}", spec.name, output::with_hint(&error)));
            }
        }
    }
    Ok(wrong)
}

/// Reads the keys of `[auth]`, also what an issuer of tokens and an identity provider publish.
async fn prove(spec: &AuthSpec, checked: &Checked) -> Result<(), Error> {
    wiring::auth(spec, checked, &LateSessions::passing(), None)?.fetch_published().await
}

/// Counts columns named by relations and stores that the files turn out to lack.
fn missing_columns(checked: &Checked, known: &BTreeMap<&str, Description>) -> usize {
    let mut named: Vec<(String, &str, &str)> = Vec::new();
    for spec in &checked.datasets {
        for relation in &spec.relations {
            let what = format!("relation `{}` of `{}`", relation.name, spec.name);
            named.extend(relation.columns.iter().map(|c| (what.clone(), spec.name.as_str(), c.as_str())));
            let there = relation.target.as_str();
            named.extend(relation.target_columns.iter().map(|c| (what.clone(), there, c.as_str())));
        }
    }
    for store in &checked.stores {
        let what = format!("store `{}`", store.name);
        named.extend([&store.key, &store.value].map(|c| (what.clone(), store.dataset.as_str(), c.as_str())));
    }
    let mut wrong = 0;
    for (what, dataset, column) in named {
        let Some(description) = known.get(dataset) else { continue };
        let columns = || description.schema.fields().iter().map(|field| field.name().as_str());
        if !columns().any(|name| name == column) {
            wrong += 1;
            let hint = salver_model::suggest::hint(column, columns().collect::<Vec<_>>());
            let hint = hint.map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
            output::note(&format!("error: {what}: no column `{column}` in `{dataset}`{hint}"));
        }
    }
    wrong
}
