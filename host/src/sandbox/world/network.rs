//! No network: whatever a guest asks for is denied before anything is resolved or opened.
//!
//! wasmtime-wasi denies sockets by itself. It answers a look-up of a name as if there were no such name, and
//! leaves requests of HTTP to its embedder: both are denied here.

use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{
    self, HostResolveAddressStream, IpAddress, ResolveAddressStream,
};
use wasmtime_wasi::p2::bindings::sockets::network::{self, ErrorCode, HostNetwork, Network};
use wasmtime_wasi::p2::{DynPollable, SocketError};
use wasmtime_wasi::sockets::{WasiSocketsCtxView, WasiSocketsView as _};
use wasmtime_wasi_http::{RequestOptions, Result, WasiBody, WasiHttpHooks};

use super::World;
use crate::sandbox::call::CallState;

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

/// Denies every look-up of a name.
struct Names<'a>(WasiSocketsCtxView<'a>);

struct HasNames;

impl HasData for HasNames {
    type Data<'a> = Names<'a>;
}

/// Takes the place of wasmtime-wasi's own look-up of names.
pub(super) fn add_to_linker(linker: &mut Linker<CallState<World>>) -> wasmtime::Result<()> {
    ip_name_lookup::add_to_linker::<_, HasNames>(linker, |state| Names(state.sockets()))
}

impl ip_name_lookup::Host for Names<'_> {
    fn resolve_addresses(
        &mut self,
        _: Resource<Network>,
        _: String,
    ) -> Result<Resource<ResolveAddressStream>, SocketError> {
        Err(ErrorCode::AccessDenied.into())
    }
}

impl network::Host for Names<'_> {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        self.0.convert_error_code(error)
    }

    fn network_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.0.network_error_code(error)
    }
}

impl HostNetwork for Names<'_> {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        HostNetwork::drop(&mut self.0, network)
    }
}

/// Of which there are none.
impl HostResolveAddressStream for Names<'_> {
    fn resolve_next_address(
        &mut self,
        stream: Resource<ResolveAddressStream>,
    ) -> Result<Option<IpAddress>, SocketError> {
        self.0.resolve_next_address(stream)
    }

    fn subscribe(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<Resource<DynPollable>> {
        self.0.subscribe(stream)
    }

    fn drop(&mut self, stream: Resource<ResolveAddressStream>) -> wasmtime::Result<()> {
        HostResolveAddressStream::drop(&mut self.0, stream)
    }
}
