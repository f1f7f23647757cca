//! Certificates: one transaction at a time.
//!
//! A worker has one transaction for all certificates. On 2.6 `set ssl cert B` while one for A is open puts B's key into A
//! without an error, so every change begins with `abort`, and the answer must name the file.

use super::super::answers::{Good, last_line, list_lines, other_transaction};
use super::super::{CommandError, Error, Request};
use super::Worker;

impl Worker {
    pub(super) async fn add_certificate(&self, file: &str, pem: &[u8]) -> Result<(), CommandError> {
        let path = self.path(file);
        let payload = set_request(&path, pem)?;
        self.abort(&path).await?;
        let request = Request::worker("new ssl cert").word(&path)?;
        let command = request.command().to_owned();
        let answer = self.ask(request).await?;
        // The second text: a try that was cut off before.
        let good = [
            format!("New empty certificate store '{path}'!"),
            format!("Certificate '{path}' already exists!"),
        ];
        if !good.iter().any(|good| last_line(&answer) == good) {
            return Err(CommandError::Unexpected { command, answer });
        }
        let result = self.transact(&path, payload).await;
        if matches!(result, Err(CommandError::Unexpected { .. })) {
            // An empty certificate is of no use; when it cannot go either, the first error says more.
            let _ = self.delete_certificate(file).await;
        }
        result
    }

    pub(super) async fn set_certificate(&self, file: &str, pem: &[u8]) -> Result<(), CommandError> {
        let path = self.path(file);
        let payload = set_request(&path, pem)?;
        self.abort(&path).await?;
        self.transact(&path, payload).await
    }

    pub(super) async fn delete_certificate(&self, file: &str) -> Result<(), CommandError> {
        let path = self.path(file);
        let request = Request::worker("del ssl cert").word(&path)?;
        self.say(request, &Good::Last(format!("Certificate '{path}' deleted!"))).await
    }

    pub(super) async fn add_to_list(&self, file: &str, filters: &str) -> Result<(), CommandError> {
        let list = self.list();
        let line = format!("{} {filters}", self.path(file));
        let request = Request::worker("add ssl crt-list").word(&list)?.payload(&line)?;
        self.say(request, &Good::Last("Success!".to_owned())).await
    }

    pub(super) async fn remove_from_list(&self, file: &str) -> Result<(), CommandError> {
        let (list, path) = (self.list(), self.path(file));
        let request = Request::worker("del ssl crt-list").word(&list)?.word(&path)?;
        let command = request.command().to_owned();
        let answer = self.ask(request).await?;
        let gone = Good::Last(format!("Entry '{path}' deleted in crtlist '{list}'!"));
        if gone.accepts(&answer) {
            return Ok(());
        }
        // While its filters change, a certificate has two lines: the older one goes.
        let Some(line) = list_lines(&answer).and_then(|lines| lines.into_iter().min()) else {
            return Err(CommandError::Unexpected { command, answer });
        };
        let entry = format!("{path}:{line}");
        self.say(Request::worker("del ssl crt-list").word(&list)?.word(&entry)?, &gone).await
    }

    /// `set` and `commit`; a failure leaves no transaction open.
    async fn transact(&self, path: &str, set: Request) -> Result<(), CommandError> {
        let created = Good::Last(format!("Transaction created for certificate {path}!"));
        let result = match self.say(set, &created).await {
            Ok(()) => {
                let commit = Request::worker("commit ssl cert").word(path)?;
                self.say(commit, &Good::Last("Success!".to_owned())).await
            }
            Err(error) => Err(error),
        };
        if matches!(result, Err(CommandError::Unexpected { .. })) {
            // The first error says more than one about the clean-up.
            let _ = self.abort(path).await;
        }
        result
    }

    /// Ends whatever transaction is open.
    async fn abort(&self, path: &str) -> Result<(), CommandError> {
        let answer = self.ask(Request::worker("abort ssl cert").word(path)?).await?;
        if let Some(other) = other_transaction(&answer) {
            let aborted = Good::Last(format!("Transaction aborted for certificate '{other}'!"));
            return self.say(Request::worker("abort ssl cert").word(other)?, &aborted).await;
        }
        let good =
            ["No ongoing transaction!".to_owned(), format!("Transaction aborted for certificate '{path}'!")];
        if good.iter().any(|good| last_line(&answer) == good) {
            return Ok(());
        }
        Err(CommandError::Unexpected { command: format!("@1 abort ssl cert {path}"), answer })
    }

    fn path(&self, file: &str) -> String {
        self.volumes.certificates().join(file).to_string_lossy().into_owned()
    }

    fn list(&self) -> String {
        self.volumes.crt_list().to_string_lossy().into_owned()
    }
}

fn set_request(path: &str, pem: &[u8]) -> Result<Request, Error> {
    let text = std::str::from_utf8(pem).map_err(|_| Error::Unspeakable(format!("content of {path}")))?;
    let request = Request::worker("set ssl cert").word(path)?.payload(text)?;
    // Before `new`, so that a certificate that is too large leaves no trace.
    request.encode()?;
    Ok(request)
}
