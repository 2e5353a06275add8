//! No network: every request is denied before anything is resolved or opened.

use wasmtime_wasi_http::{RequestOptions, Result, WasiBody, WasiHttpHooks};

/// Denies every HTTP request.
pub(super) struct Denied;

type Pending<T> = Box<dyn Future<Output = Result<T>> + Send>;

impl WasiHttpHooks for Denied {
    fn send_request(
        &mut self,
        _: http::Request<WasiBody>,
        _: Option<RequestOptions>,
        _: Pending<()>,
    ) -> Pending<(http::Response<WasiBody>, Pending<()>)> {
        Box::new(async { Err(wasmtime_wasi_http::Error::HttpRequestDenied) })
    }
}
